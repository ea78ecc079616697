#include "fake_driver.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "korch/base/error.h"

namespace korch::testing::fake {
namespace {

constexpr size_t kPage = 4096, kAlignment = 256;  // what cuMemAlloc promises
constexpr unsigned char kFresh = 0xff;            // floats of such bytes are NaN
constexpr size_t kMostFresh = 64 << 20;           // the rest is zero: it need not be there before it is used
constexpr unsigned char kBeside = 0xa5;

size_t rounded_up(size_t bytes, size_t to) {
  return (bytes + to - 1) / to * to;
}

}  // namespace

// [page] [beside] memory [beside] [page]: a page cannot be touched; what is beside is looked at in the end.
uint64_t Memory::allocate(size_t bytes) {
  const size_t padded = rounded_up(bytes, kAlignment);
  if (padded > most_ - used_) return 0;
  const size_t mapped = rounded_up(padded, kPage) + 2 * kPage;
  void* mapping = ::mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return 0;
  char* begin = static_cast<char*>(mapping) + kPage;
  const size_t usable = mapped - 2 * kPage;
  ::mprotect(begin, usable, PROT_READ | PROT_WRITE);
  char* at = begin + usable - padded;
  std::memset(begin, kBeside, static_cast<size_t>(at - begin));
  std::memset(at, kFresh, std::min(bytes, kMostFresh));
  std::memset(at + bytes, kBeside, padded - bytes);
  used_ += padded;
  blocks_[reinterpret_cast<uint64_t>(at)] = {static_cast<char*>(mapping), bytes, mapped};
  return reinterpret_cast<uint64_t>(at);
}

bool Memory::has(uint64_t at, size_t bytes) const {
  const auto next = blocks_.upper_bound(at);
  if (next == blocks_.begin()) return false;
  const auto& [begin, block] = *std::prev(next);
  return at - begin <= block.bytes && bytes <= block.bytes - (at - begin);
}

bool Memory::release(uint64_t at) {
  const auto found = blocks_.find(at);
  const Block block = found->second;
  const char* begin = block.mapping + kPage;
  const char* memory = reinterpret_cast<const char*>(at);
  const char* end = block.mapping + block.mapped - kPage;
  const auto is_beside = [](char byte) { return static_cast<unsigned char>(byte) == kBeside; };
  const bool intact =
      std::all_of(begin, memory, is_beside) && std::all_of(memory + block.bytes, end, is_beside);
  used_ -= rounded_up(block.bytes, kAlignment);
  blocks_.erase(found);
  ::munmap(block.mapping, block.mapped);
  return intact;
}

void Memory::release_all() {
  while (!blocks_.empty()) release(blocks_.begin()->first);
}

Driver& Driver::get() {
  static Driver* the = new Driver;  // outlives the program's other threads
  return *the;
}

Driver::Driver() {
  read_environment();
}

// KORCH_FAKE_CUDA_LOG names a file that receives what is left when the context ends.
void Driver::write_log() const {
  const char* path = std::getenv("KORCH_FAKE_CUDA_LOG");
  std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "w");
  if (file == nullptr) return;
  std::fprintf(file, "calls %zu\n", calls_.size());
  for (const auto& [kind, number] : counted())
    if (left(kind) != 0) std::fprintf(file, "left %ld %s\n", left(kind), kind.c_str());
  std::fclose(file);
}

Driver::~Driver() = default;

// KORCH_FAKE_CUDA_FAIL=ENTRY:NTH:STATUS or ENTRY:NTH:STATUS:lasting (ENTRY *: any), _MEMORY=BYTES,
// _VERSION=11040, _CAPABILITY=80, _SKIPS=2: the second function that is loaded, by its code, does nothing.
void Driver::read_environment() {
  if (const char* text = std::getenv("KORCH_FAKE_CUDA_FAIL")) {
    char entry[64] = "", lasting[16] = "";
    long nth = 0;
    int status = 0;
    if (std::sscanf(text, "%63[^:]:%ld:%d:%15s", entry, &nth, &status, lasting) >= 3)
      fail(std::strcmp(entry, "*") == 0 ? nullptr : entry, nth, status, lasting[0] != '\0');
  }
  if (const char* text = std::getenv("KORCH_FAKE_CUDA_MEMORY"))
    memory = Memory(std::strtoull(text, nullptr, 10));
  if (const char* text = std::getenv("KORCH_FAKE_CUDA_VERSION")) version = std::atoi(text);
  if (const char* text = std::getenv("KORCH_FAKE_CUDA_SKIPS"))
    skipped_number_ = std::strtoull(text, nullptr, 10);
  if (const char* text = std::getenv("KORCH_FAKE_CUDA_CAPABILITY")) capability = std::atoi(text);
}

int Driver::call(const char* entry, bool in_context, const std::function<int()>& body) {
  const std::lock_guard lock(mutex_);
  calls_.push_back(entry);
  if (failing_in_ > 0 && (failing_.empty() || failing_ == entry) && --failing_in_ == 0) {
    if (failing_lasts_) lasting_ = failing_status_;
    return failing_status_;
  }
  if (!initialized && std::strcmp(entry, "cuInit") != 0 && std::strcmp(entry, "cuDriverGetVersion") != 0)
    return kNotInitialized;
  if (in_context && current().empty()) return kInvalidContext;
  if (in_context && lasting_ != 0) return lasting_;
  return body();
}

void Driver::fail(const char* entry, long nth, int status, bool lasting) {
  const std::lock_guard lock(mutex_);
  failing_ = entry == nullptr ? "" : entry;
  failing_in_ = nth;
  failing_status_ = status;
  failing_lasts_ = lasting;
}

void Driver::reset() {
  const std::lock_guard lock(mutex_);
  while (retained_ > 0) release();
  fail(nullptr, 0, 0, false);
  lasting_ = 0;
  calls_.clear();
  current().clear();
  ended_with_context_.clear();
  damaged = 0;
}

std::map<std::string, long> Driver::counted() const {
  auto work = static_cast<long>(null_stream_->waiting.size());
  for (const auto& [handle, of] : streams.all()) work += static_cast<long>(of->waiting.size());
  return {{"memory", static_cast<long>(memory.count())},
          {"modules", modules.count()},
          {"streams", streams.count()},
          {"graphs", graphs.count()},
          {"executables", executables.count()},
          {"events", events.count()},
          {"contexts", retained_},
          {"current", static_cast<long>(const_cast<Driver*>(this)->current().size())},
          {"damaged", damaged},
          {"work", work}};
}

long Driver::left(const std::string& kind) const {
  const std::lock_guard lock(mutex_);
  const auto ended = ended_with_context_.find(kind);
  return counted().at(kind) + (ended == ended_with_context_.end() ? 0 : ended->second);
}

std::vector<void*>& Driver::current() {
  thread_local std::vector<void*> contexts;
  return contexts;
}

int Driver::retain() {
  ++retained_;
  return 0;
}

// The last one ends everything in it.
int Driver::release() {
  if (retained_ == 0) return kInvalidContext;
  if (--retained_ > 0) return 0;
  wait_for_all();
  for (const char* kind : {"memory", "modules", "streams", "graphs", "executables", "events"})
    ended_with_context_[kind] += counted().at(kind);
  memory.release_all();
  modules.clear();
  functions.clear();
  streams.clear();
  graphs.clear();
  executables.clear();
  events.clear();
  write_log();
  return 0;
}

int Driver::destroy() {
  const int status = release();
  lasting_ = 0;
  return status;
}

std::shared_ptr<Stream> Driver::stream(void* handle) const {
  return handle == nullptr ? null_stream_ : streams.find(handle);
}

// The null stream waits for all others' work so far, and theirs to come waits for its.
int Driver::put(void* handle, std::function<int()> work, std::vector<Moment> after) {
  const std::shared_ptr<Stream> to = stream(handle);
  if (to == nullptr) return kInvalidHandle;
  if (to->captured != nullptr) return kCaptureUnsupported;
  if (to == null_stream_)
    for (const auto& [other, of] : streams.all()) after.push_back({of, of->queued});
  else
    after.push_back({null_stream_, null_stream_->queued});
  to->waiting.push_back({std::move(work), std::move(after)});
  ++to->queued;
  return 0;
}

int Driver::wait(const Moment& moment) {
  while (moment.stream->done < moment.done) {
    const Work work = std::move(moment.stream->waiting.front());
    moment.stream->waiting.pop_front();
    for (const Moment& before : work.after) wait(before);
    if (lasting_ == 0) lasting_ = work.run();
    ++moment.stream->done;
  }
  return lasting_;
}

int Driver::wait_for_all() {
  const auto all = streams.all();  // work may end none, but waiting looks at them
  wait({null_stream_, null_stream_->queued});
  for (const auto& [handle, of] : all) wait({of, of->queued});
  return lasting_;
}

Gpu::Function Driver::code_of(const Module& module, const char* symbol) {
  const auto key = std::make_pair(module.image, std::string(symbol));
  const auto known = code_.find(key);
  if (known != code_.end()) return known->second;
  const auto loaded =
      module.is_object ? emulator_.load_object(module.image, symbol) : emulator_.load(module.image, symbol);
  if (loaded.ok() && code_.size() + 1 == skipped_number_) skipped_ = loaded.value();
  return code_[key] = loaded.ok() ? loaded.value() : nullptr;
}

int Driver::run(const Launch& launch) {
  const std::shared_ptr<Function> function = functions.find(launch.function);
  if (function == nullptr) return kInvalidHandle;
  if (skipped_ != nullptr && function->code == skipped_) return 0;
  try {
    emulator_.run(function->code, launch.blocks, launch.threads, launch.arguments);
    return 0;
  } catch (const Error&) {
    return kLaunchFailed;
  }
}

// In some order that the edges allow, another one each time.
int Driver::run(const Graph& graph) {
  std::vector<bool> done(graph.size());
  for (size_t count = 0; count < graph.size(); ++count) {
    std::vector<size_t> ready;
    for (size_t n = 0; n < graph.size(); ++n)
      if (!done[n] && std::ranges::all_of(graph[n].after, [&](size_t before) { return done[before]; }))
        ready.push_back(n);
    const size_t next = ready[random_() % ready.size()];
    if (const int status = run(graph[next]); status != 0) return status;
    done[next] = true;
  }
  return 0;
}

Launch Driver::launch(void* function, unsigned blocks, unsigned threads, void* const* parameters) {
  Launch launch{function, blocks, threads, {}, {}};
  for (size_t i = 0; i < emulator_.parameters(functions.find(function)->code); ++i)
    launch.arguments.push_back(*static_cast<const uint64_t*>(parameters[i]));
  return launch;
}

}  // namespace korch::testing::fake
