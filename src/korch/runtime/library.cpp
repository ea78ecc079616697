#include "korch/runtime/library.h"

#include <string.h>

namespace korch::rt {
namespace {

// oneDNN is C++, and throws where it finds no memory.
constexpr LibraryFunction kFunctions[] = {
    {"korch", "copy", &korch_copy_ops, "korch_copy_ops", korch_copy_run, "korch_copy_run", {}},
    {"korch",
     "loop_begin",
     &korch_loop_ops,
     "korch_loop_ops",
     korch_loop_begin_run,
     "korch_loop_begin_run",
     {}},
    {"korch", "loop_end", &korch_loop_ops, "korch_loop_ops", korch_loop_end_run, "korch_loop_end_run", {}},
    {"onednn",
     "conv",
     &korch_onednn_ops,
     "korch_onednn_ops",
     korch_onednn_run,
     "korch_onednn_run",
     {"libdnnl.so.2", "libstdc++.so.6", "libgcc_s.so.1"}},
    {"onednn",
     "matmul",
     &korch_onednn_ops,
     "korch_onednn_ops",
     korch_onednn_run,
     "korch_onednn_run",
     {"libdnnl.so.2", "libstdc++.so.6", "libgcc_s.so.1"}},
};

}  // namespace

const LibraryFunction* find_library_function(const char* library, const char* function) {
  for (const LibraryFunction& entry : kFunctions)
    if (strcmp(entry.library, library) == 0 && strcmp(entry.function, function) == 0) return &entry;
  return nullptr;
}

}  // namespace korch::rt
