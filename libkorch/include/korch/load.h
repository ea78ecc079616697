/* Loads executables into this process. Part of libkorch; an executable can as well be linked, or opened with
 * dlopen and its functions (korch/korch.h) looked up: it does not need libkorch. */
#ifndef KORCH_LOAD_H
#define KORCH_LOAD_H

#include <korch/compile.h>
#include <korch/korch.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The functions of one executable, as korch/korch.h declares them. Those of version 3, and of states
 * (8), are null where model->api_version is less. */
typedef struct korch_executable {
  uint64_t struct_size; /* sizeof(korch_executable), set by the caller of korch_load */
  void* library;        /* of dlopen */
  const korch_model_info* model;
  korch_status (*check)(void);
  korch_status (*create_with)(const korch_options* options, korch_instance** instance);
  korch_status (*create)(int threads, korch_instance** instance);
  korch_status (*run_with)(korch_instance* instance, const void* const* inputs, void* const* outputs,
                           const korch_run_options* options);
  korch_status (*run)(korch_instance* instance, const void* const* inputs, void* const* outputs);
  korch_status (*output_dims)(const korch_instance* instance, uint32_t output, int64_t* dims);
  korch_status (*pool_create)(int threads, korch_pool** pool);
  void (*pool_free)(korch_pool* pool);
  const char* (*last_error)(const korch_instance* instance);
  const char* (*status_text)(korch_status status);
  void (*free)(korch_instance* instance);
  korch_status (*state_create)(korch_state** state);
  korch_status (*state_reset)(korch_state* state);
  korch_status (*state_copy)(korch_state* to, korch_state* from);
  korch_status (*state_rewind)(korch_state* state, int64_t length);
  int64_t (*state_length)(const korch_state* state);
  korch_status (*state_free)(korch_state* state);
} korch_executable;

/* Fills `executable`. Every byte of the file is compared with the checksums in it before it is loaded; but
 * its code runs in this process, so load only what you trust. KORCH_ERROR_IO when it cannot be read, is no
 * executable of korch, is damaged, or needs a CPU or a shared library that this machine lacks. `message` as
 * for korch_compile. After a failure `library` is null. */
KORCH_LIBRARY_API korch_error korch_load(const char* path, korch_executable* executable, char* message,
                                         size_t message_bytes);

/* When nothing of it is in use any more: no instance, no pool. Null is fine. */
KORCH_LIBRARY_API void korch_unload(korch_executable* executable);

#ifdef __cplusplus
}
#endif

#endif
