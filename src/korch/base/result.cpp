#include "korch/base/result.h"

namespace korch {

const char* name(RefusalReason reason) {
  switch (reason) {
    case RefusalReason::no_kernel_family:
      return "no kernel family";
    case RefusalReason::unsupported_type:
      return "unsupported type";
    case RefusalReason::unsupported_layout:
      return "unsupported layout";
    case RefusalReason::redundant_work:
      return "redundant work";
    case RefusalReason::scratch_too_large:
      return "scratch too large";
    case RefusalReason::compile_failed:
      return "compile failed";
    case RefusalReason::library_refused:
      return "library refused";
    case RefusalReason::run_failed:
      return "run failed";
    case RefusalReason::struck:
      return "struck";
    case RefusalReason::out_of_memory:
      return "out of memory";
  }
  return "?";
}

}  // namespace korch
