/* Compiles networks (ONNX) into executables: shared libraries that korch/korch.h describes. C interface of
 * libkorch; C++ programs find it wrapped in korch/korch.hpp.
 *
 * The compiler runs as a process of its own, the installed program `korch`. If it ends, the caller goes on,
 * and its libraries (LLVM, protobuf) are not loaded here. All functions may be called from several threads at
 * once. In a process that ignores SIGCHLD, or waits for any child, the compiler's exit code is lost: its
 * failures are KORCH_ERROR_INTERNAL there, with their message.
 *
 * Memory: everything is the caller's. Data that the options point to are read only during the call; data that
 * a callback gets live until it returns. */
#ifndef KORCH_COMPILE_H
#define KORCH_COMPILE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define KORCH_LIBRARY_API __attribute__((visibility("default")))
#else
#define KORCH_LIBRARY_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers are the program's exit codes. */
typedef enum korch_error {
  KORCH_ERROR_NONE = 0,
  KORCH_ERROR_INTERNAL = 1,    /* a bug in korch */
  KORCH_ERROR_USAGE = 2,       /* a wrong argument */
  KORCH_ERROR_INVALID = 3,     /* no ONNX model, or shapes are missing */
  KORCH_ERROR_UNSUPPORTED = 4, /* operators or types that korch does not know; the message names them */
  KORCH_ERROR_ACCURACY = 5,    /* no executable could be made that computes what the network does */
  KORCH_ERROR_RESOURCE = 6,    /* out of memory, time or disk */
  KORCH_ERROR_IO = 7, /* a file, or a shared library that is needed, cannot be read, written or loaded */
  KORCH_ERROR_INTERRUPTED = 130 /* the caller ended it */
} korch_error;

/* Extents that a network leaves open: the shape of an input, or (rank 1) the extent of a symbolic dimension
 * in all inputs that have it. */
typedef struct korch_shape {
  const char* name;
  const int64_t* dims;
  uint32_t rank;
} korch_shape;

/* One of korch's options by its name, its value as a text: {"schedule", "barrier"}, {"measure", "0"}. `korch
 * compile --help` tells them, with dashes for underlines; docs/design/options.md. */
typedef struct korch_option {
  const char* name;
  const char* value;
} korch_option;

/* Begins with its size, struct_size = sizeof(korch_compile_options); set the other fields to 0 or to a value.
 * Shorter structs, of programs made for an earlier libkorch, are accepted. */
typedef struct korch_compile_options {
  uint64_t struct_size;
  /* The network: an ONNX file, beside which its external data lies, or the bytes of one. */
  const char* model_path;
  const void* model_bytes;
  uint64_t model_size_bytes;
  const char* output_path; /* the executable; an old file is replaced when the new one is whole */
  const korch_shape* shapes;
  uint32_t shape_count;
  int32_t threads;      /* that run the executable; 0: all cores */
  const char* accuracy; /* "strict" (float32, sums reassociated) or "standard" (also Winograd's and Strassen's
                         * products; subnormal results are 0), which null means */
  const char* target;   /* "native", which null means, "x86-64-v3", "x86-64-v4", "x86-64-v4-vnni",
                           "x86-64-v4-bf16" or "x86-64-v4-amx" */
  const char* database; /* file of measured kernels, for later compilations; null: below ~/.cache; "": none */
  double budget_s;      /* seconds that it may take, about; 0: no limit */
  int32_t no_measure;   /* not 0: plan on estimates of the kernels' times alone: quick, and slower code */
  int32_t no_verify;    /* not 0: the executable is not compared with the network in float64 */
  int32_t reserved[2];  /* 0 */
  const char* program;  /* the compiler; null: the one installed with this library */
  /* Called with `user` on the caller's thread, as work goes on; total is 0 where it is not known. Not 0 ends
   * the compilation with KORCH_ERROR_INTERRUPTED. */
  int32_t (*progress)(void* user, const char* stage, int64_t done, int64_t total);
  /* Called with `user`, when it succeeded: a kernel proved wrong and another was taken, the budget ended
   * early. */
  void (*warn)(void* user, const char* warning);
  void* user;
  /* Where an extent in `shapes` is the most of a range that one executable is for: the same shape, of the
   * least extents. A name that is not here has the extents in `shapes` alone. */
  const korch_shape* least_shapes;
  uint32_t least_shape_count;
  /* Further options; none is given twice, here and by a field above. One that korch does not have, or a value
   * out of its range, is KORCH_ERROR_USAGE; the message names it. */
  uint32_t option_count;
  const korch_option* options;
} korch_compile_options;

/* Takes seconds to minutes. `message`, if any, receives up to message_bytes with the terminating zero: the
 * error, or "". */
KORCH_LIBRARY_API korch_error korch_compile(const korch_compile_options* options, char* message,
                                            size_t message_bytes);

#ifdef __cplusplus
}
#endif

#endif
