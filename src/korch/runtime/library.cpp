#include "korch/runtime/library.h"

#include <string.h>

namespace korch::rt {
namespace {

constexpr LibraryFunction kFunctions[] = {
    {"korch", "copy", &korch_copy_ops, "korch_copy_ops", korch_copy_run, "korch_copy_run"},
    {"korch", "loop_begin", &korch_loop_ops, "korch_loop_ops", korch_loop_begin_run, "korch_loop_begin_run"},
    {"korch", "loop_end", &korch_loop_ops, "korch_loop_ops", korch_loop_end_run, "korch_loop_end_run"},
    {"korch", "append", &korch_append_ops, "korch_append_ops", korch_append_run, "korch_append_run"},
};

}  // namespace

const LibraryFunction* find_library_function(const char* library, const char* function) {
  for (const LibraryFunction& entry : kFunctions)
    if (strcmp(entry.library, library) == 0 && strcmp(entry.function, function) == 0) return &entry;
  return nullptr;
}

}  // namespace korch::rt
