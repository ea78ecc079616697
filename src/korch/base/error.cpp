#include "korch/base/error.h"

#include <fmt/format.h>

namespace korch {

void assertion_failed(const char* condition, const char* file, int line, const std::string& what) {
  throw Error(ErrorKind::internal,
              fmt::format("internal error at {}:{}: {} ({})", file, line, what, condition));
}

}  // namespace korch
