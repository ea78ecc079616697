// A context of the driver for measuring: apart from the process's others, so that a kernel that fails on the
// GPU spoils nothing but this.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "korch/base/result.h"
#include "korch/runtime/cuda/driver.h"

namespace korch {

// What the driver reported, thrown by the session's functions. After it the session is of no use, but for a
// shortage of memory.
struct GpuFailure {
  int code = 0;
  std::string what;  // "cuLaunchKernel: CUDA_ERROR_ILLEGAL_ADDRESS"
};
// As a measurement tells it.
Refusal refusal_of(const GpuFailure& failure);

class GpuSession {
 public:
  // What is put into the stream at a time takes some milliseconds, a slow kernel seconds.
  static constexpr double kLongest_s = 30;
  // Of the first GPU. Error{resource} where the driver gives none.
  explicit GpuSession(double longest_s = kLongest_s);
  ~GpuSession();
  GpuSession(const GpuSession&) = delete;
  GpuSession& operator=(const GpuSession&) = delete;

  const rt::cuda::Driver& driver() const { return driver_; }
  void* stream() const { return stream_; }
  void enter();  // CurrentGpu does
  void leave();
  // Throws GpuFailure where the code, of the call of that name, is not 0.
  void check(int code, const char* call) const;
  // Functions of an image, which stays loaded as long as the session.
  std::vector<void*> functions(const std::string& image, const std::vector<std::string>& symbols);
  // For all that is in the stream. Error{resource} where it does not end in time, and GpuFailure as ever.
  void wait();
  // Between two events of which the stream has passed the second.
  double microseconds(void* begin, void* end) const;

 private:
  rt::cuda::Driver driver_{};
  int (*create_context_)(void** context, unsigned flags, int device) = nullptr;
  int (*destroy_context_)(void* context) = nullptr;
  int (*query_)(void* stream) = nullptr;
  const double longest_s_;
  void* context_ = nullptr;
  void* stream_ = nullptr;
  std::map<std::string, void*> modules_;  // by image
  bool is_stuck_ = false;                 // whatever waits for its work would wait for ever
};

// Makes the session's context the thread's own for a while; its other functions need that.
class CurrentGpu {
 public:
  explicit CurrentGpu(GpuSession& session) : session_(session) { session.enter(); }
  ~CurrentGpu() { session_.leave(); }
  CurrentGpu(const CurrentGpu&) = delete;
  CurrentGpu& operator=(const CurrentGpu&) = delete;

 private:
  GpuSession& session_;
};

// Memory of the GPU, in one piece.
class GpuMemory {
 public:
  explicit GpuMemory(GpuSession& session) : session_(session) {}
  ~GpuMemory() { release(); }
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;

  // What was there before is lost where it is too small.
  rt::cuda::Address at_least(uint64_t bytes);
  void release();

 private:
  GpuSession& session_;
  rt::cuda::Address address_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace korch
