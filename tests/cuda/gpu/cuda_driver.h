// The first GPU, through NVIDIA's driver library, loaded where it is installed.
#pragma once

#include <string>
#include <vector>

#include "../device.h"

namespace korch::testing {

class CudaDriver : public Gpu {
 public:
  CudaDriver();  // why_not() tells when there is nothing to run on
  const std::string& why_not() const { return why_not_; }
  const std::string& device() const { return device_; }
  const std::string& architecture() const { return architecture_; }  // of kArchitectures

  // These throw Error{internal} naming the call when the driver reports a failure.
  using Module = void*;
  Module load(const std::string& cubin) const;
  Function function(Module module, const std::string& symbol) const;
  int registers(Function function) const;    // of a thread
  int local_bytes(Function function) const;  // of a thread, in memory
  Pointer allocate(size_t bytes) override;
  void free(Pointer pointer) override;
  void fill(Pointer pointer, unsigned char byte, size_t bytes) override;
  void to_device(Pointer pointer, const void* from, size_t bytes) override;
  void to_host(void* to, Pointer pointer, size_t bytes) override;
  double run(Function function, int64_t blocks, int64_t threads, std::vector<Pointer> arguments) override;

 private:
  void check(int status, const char* call) const;
  bool open();

  std::string why_not_, device_, architecture_;
  void* library_ = nullptr;
  int (*init_)(unsigned) = nullptr;
  int (*get_device_)(int*, int) = nullptr;
  int (*get_name_)(char*, int, int) = nullptr;
  int (*get_attribute_)(int*, int, int) = nullptr;
  int (*retain_)(void**, int) = nullptr;
  int (*set_current_)(void*) = nullptr;
  int (*load_)(void**, const void*) = nullptr;
  int (*get_function_)(void**, void*, const char*) = nullptr;
  int (*allocate_)(Pointer*, size_t) = nullptr;
  int (*free_)(Pointer) = nullptr;
  int (*fill_)(Pointer, unsigned char, size_t) = nullptr;
  int (*to_device_)(Pointer, const void*, size_t) = nullptr;
  int (*to_host_)(void*, Pointer, size_t) = nullptr;
  int (*launch_)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                 void**) = nullptr;
  int (*get_function_attribute_)(int*, int, void*) = nullptr;
  int (*create_event_)(void**, unsigned) = nullptr;
  int (*record_)(void*, void*) = nullptr;
  int (*wait_)(void*) = nullptr;
  int (*elapsed_)(float*, void*, void*) = nullptr;
  int (*error_name_)(int, const char**) = nullptr;
  void* start_ = nullptr;
  void* stop_ = nullptr;
};

}  // namespace korch::testing
