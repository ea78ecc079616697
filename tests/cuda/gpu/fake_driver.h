// What the fake driver (fake_cuda.cpp) knows and decides: which calls fail, what exists, what streams have
// still to do. It is stricter than a GPU where that shows mistakes:
// - work that is put into a stream runs at the last moment: when somebody waits for it;
// - a failure of such work is told by the call that waits, and by every call after it;
// - memory begins with bytes that are no numbers, ends at a page that nobody may touch, and copies are within
// one
//   allocation;
// - calls need a current context, and handles that exist.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "../emulator.h"

namespace korch::testing::fake {

// Of CUresult.
constexpr int kInvalidValue = 1, kOutOfMemory = 2, kNotInitialized = 3, kInvalidDevice = 101,
              kInvalidImage = 200, kInvalidContext = 201, kNoBinaryForGpu = 209, kInvalidHandle = 400,
              kNotFound = 500, kNotReady = 600, kIllegalAddress = 700, kLaunchFailed = 719,
              kCaptureUnsupported = 900;

class Memory {
 public:
  explicit Memory(size_t most) : most_(most) {}
  uint64_t allocate(size_t bytes);  // 0: there is none left
  bool has(uint64_t at, size_t bytes = 0) const;
  bool begins(uint64_t at) const { return blocks_.contains(at); }
  bool release(uint64_t at);  // false: somebody wrote beside it
  void release_all();
  size_t count() const { return blocks_.size(); }
  size_t most() const { return most_; }
  size_t used() const { return used_; }

 private:
  struct Block {
    char* mapping;
    size_t bytes, mapped;
  };
  std::map<uint64_t, Block> blocks_;
  size_t most_, used_ = 0;
};

struct Module {
  std::string image;
  bool is_object = false;
};

struct Function {
  Gpu::Function code = nullptr;
  void* module = nullptr;
};

struct Launch {
  void* function;  // the handle
  int64_t blocks, threads;
  std::vector<Gpu::Pointer> arguments;
  std::vector<size_t> after;  // other nodes of the graph
};
using Graph = std::vector<Launch>;

struct Stream;
struct Moment {  // when so much of a stream's work has been done
  std::shared_ptr<Stream> stream;
  uint64_t done = 0;
};
struct Work {
  std::function<int()> run;
  std::vector<Moment> after;
};
struct Stream {
  std::deque<Work> waiting;
  uint64_t queued = 0, done = 0;
  std::shared_ptr<Graph> captured;
};
struct Event {
  Moment recorded;  // no stream: never
  double ms = 0;
};

// Objects of a kind, by handle.
template <typename T>
class Objects {
 public:
  void* add(std::shared_ptr<T> object) {
    void* handle = object.get();
    all_[handle] = std::move(object);
    return handle;
  }
  std::shared_ptr<T> find(void* handle) const {
    const auto at = all_.find(handle);
    return at == all_.end() ? nullptr : at->second;
  }
  bool drop(void* handle) { return all_.erase(handle) == 1; }
  long count() const { return static_cast<long>(all_.size()); }
  void clear() { all_.clear(); }
  const std::map<void*, std::shared_ptr<T>>& all() const { return all_; }

 private:
  std::map<void*, std::shared_ptr<T>> all_;
};

class Driver {
 public:
  static Driver& get();

  // Every entry point is such a call. Whether it fails is decided first.
  int call(const char* entry, bool in_context, const std::function<int()>& body);

  void fail(const char* entry, long nth, int status, bool lasting);  // null: any
  void reset();                                                      // as if the process began
  const std::vector<const char*>& calls() const { return calls_; }
  void forget_calls() { calls_.clear(); }
  // What exists of a kind, and what a context that ended took along: memory, modules, streams, graphs,
  // executables, events, contexts (how often one is retained), current (in this thread), damaged
  // (allocations, written beside), work (of streams, not done yet).
  long left(const std::string& kind) const;

  int retain();
  int release();
  int destroy();  // and a fault ends with the context
  int put(void* stream, std::function<int()> work, std::vector<Moment> after = {});
  std::shared_ptr<Stream> stream(void* handle) const;  // null: none
  int wait(const Moment& moment);
  int wait_for_all();
  int run(const Launch& launch);
  int run(const Graph& graph);
  // With the values that the parameters point to.
  Launch launch(void* function, unsigned blocks, unsigned threads, void* const* parameters);

  // Of a module, loaded once however often it is asked for; null: there is none of this name.
  Gpu::Function code_of(const Module& module, const char* symbol);

  Memory memory{size_t{4} << 30};
  long damaged = 0;  // allocations that somebody wrote beside
  bool initialized = false;
  int version = 12040, capability = 0;  // 0: the emulated one
  Objects<Module> modules;
  Objects<Function> functions;
  Objects<Stream> streams;
  Objects<Graph> graphs, executables;
  Objects<Event> events;
  std::vector<void*>& current();  // contexts of this thread

 private:
  Driver();
  ~Driver();
  void read_environment();
  void write_log() const;
  std::map<std::string, long> counted() const;

  Emulator emulator_;
  std::map<std::pair<std::string, std::string>, Gpu::Function> code_;
  mutable std::recursive_mutex mutex_;
  std::shared_ptr<Stream> null_stream_ = std::make_shared<Stream>();
  std::minstd_rand random_{20261128};
  std::vector<const char*> calls_;
  std::string failing_;        // the entry; "": any
  long failing_in_ = 0;        // calls; 0: none fails
  size_t skipped_number_ = 0;  // of the functions whose code is loaded, the one that does nothing; 0: none
  Gpu::Function skipped_ = nullptr;
  int failing_status_ = 0;
  bool failing_lasts_ = false;
  int lasting_ = 0;  // what every call gives from now on
  int retained_ = 0;
  std::map<std::string, long> ended_with_context_;
};

}  // namespace korch::testing::fake
