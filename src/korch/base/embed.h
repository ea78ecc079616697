// Files inside the program, as bytes.
#pragma once

#include <string_view>

// Defines `std::string_view korch::name()`, declared before, as the content of the file at `path`, a literal
// that CMake gives; the assembler reads it. Where the source file names such files as OBJECT_DEPENDS they are
// kept fresh.
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
