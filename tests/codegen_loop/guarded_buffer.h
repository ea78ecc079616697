// Memory whose end coincides with an unmapped page: reading or writing beyond it kills the test.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstring>

namespace korch::testing {

class GuardedBuffer {
 public:
  explicit GuardedBuffer(size_t bytes) : size_(bytes), mapped_((bytes + kPage - 1) / kPage * kPage + kPage) {
    base_ = static_cast<char*>(
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base_ + mapped_ - kPage, kPage, PROT_NONE);
    std::memset(base_, 0x7f, mapped_ - kPage);  // large finite floats: what is read uninitialized shows
  }
  ~GuardedBuffer() { munmap(base_, mapped_); }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;
  char* data() { return base_ + mapped_ - kPage - size_; }
  size_t size() const { return size_; }

 private:
  static constexpr size_t kPage = 4096;
  size_t size_, mapped_;
  char* base_;
};

}  // namespace korch::testing
