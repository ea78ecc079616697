#include "korch/package/embedded.h"

// The assembler includes the bytes; the paths come from CMake.
#define KORCH_EMBED(name, path)                                                        \
  __asm__(".section .rodata." #name                                                    \
          ",\"a\",@progbits\n"                                                         \
          ".balign 16\n"                                                               \
          "korch_embedded_" #name                                                      \
          ":\n"                                                                        \
          ".incbin \"" path                                                            \
          "\"\n"                                                                       \
          "korch_embedded_" #name                                                      \
          "_end:\n"                                                                    \
          ".byte 0\n"                                                                  \
          ".text\n");                                                                  \
  extern "C" __attribute__((visibility("hidden"))) const char korch_embedded_##name[], \
      korch_embedded_##name##_end[];                                                   \
  std::string_view korch::name() {                                                     \
    return {korch_embedded_##name,                                                     \
            static_cast<size_t>(korch_embedded_##name##_end - korch_embedded_##name)}; \
  }

KORCH_EMBED(runtime_archive, KORCH_RUNTIME_ARCHIVE)
KORCH_EMBED(korch_h, KORCH_RUNTIME_FOLDER "/korch.h")
KORCH_EMBED(abi_h, KORCH_RUNTIME_FOLDER "/abi.h")
KORCH_EMBED(step_h, KORCH_RUNTIME_FOLDER "/step.h")
KORCH_EMBED(model_h, KORCH_RUNTIME_FOLDER "/model.h")
KORCH_EMBED(check_h, KORCH_RUNTIME_FOLDER "/check.h")
