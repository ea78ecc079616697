// A reference that holds a distance instead of an address.
#pragma once

#include <cstdint>

namespace korch::rt {

// The place of a T, or of the first of several, in bytes from the reference itself; 0: none. So tables that
// refer to each other may lie anywhere as long as they lie together: in a section of a file, and wherever
// that is mapped. A copy of the reference refers to the same place.
template <typename T>
class Ref {
 public:
  Ref() = default;
  Ref(const T* target) { *this = target; }
  Ref(const Ref& other) { *this = other.get(); }
  Ref& operator=(const Ref& other) { return *this = other.get(); }
  Ref& operator=(const T* target) {
    distance_ = target == nullptr ? 0 : reinterpret_cast<uint64_t>(target) - reinterpret_cast<uint64_t>(this);
    return *this;
  }

  const T* get() const {
    return distance_ == 0 ? nullptr
                          : reinterpret_cast<const T*>(reinterpret_cast<uint64_t>(this) + distance_);
  }
  operator const T*() const { return get(); }
  const T* operator->() const { return get(); }
  // For who checks it before it is followed.
  uint64_t distance() const { return distance_; }

 private:
  uint64_t distance_ = 0;  // modulo 2^64
};

}  // namespace korch::rt
