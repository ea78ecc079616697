// The C library has it since 2.36, and LLVM and the C++ library ask for it: with this one korch runs
// from 2.35 on.
#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

extern "C" uint32_t arc4random() noexcept {
  uint32_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) std::abort();  // never of so few bytes
  return number;
}
