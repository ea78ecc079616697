/* C interface of an executable written by korch: a shared library that holds one compiled network.
 *
 *   korch_instance* network;
 *   if (korch_create(0, &network) != KORCH_OK) ...
 *   korch_run(network, inputs, outputs);
 *   korch_free(network);
 *
 * Link the shared library directly, or dlopen it and look the functions up. There is no global state:
 * instances are independent and may be used by different threads at once; one instance serves one caller at a
 * time, in the process that created it. */
#ifndef KORCH_H
#define KORCH_H

#include <stdint.h>

#if defined(__GNUC__)
#define KORCH_API __attribute__((visibility("default")))
#else
#define KORCH_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define KORCH_API_VERSION 2

typedef enum korch_status {
  KORCH_OK = 0,
  KORCH_INVALID_ARGUMENT = 1,   /* a null pointer, or a number of threads below 0 */
  KORCH_UNSUPPORTED_CPU = 2,    /* compiled for instructions that this CPU lacks */
  KORCH_OUT_OF_MEMORY = 3,      /* no memory or no threads from the system */
  KORCH_LIBRARY_REFUSED = 4,    /* a shared library it needs has another version than at compile time */
  KORCH_INDEX_OUT_OF_RANGE = 5, /* a gather met an index outside its axis; outputs are incomplete */
  KORCH_LIBRARY_FAILED = 6,     /* a shared library reported a failure; outputs are incomplete */
  KORCH_INTERNAL = 7,
  KORCH_BUSY = 8,    /* the instance is running already, for another caller; that run goes on */
  KORCH_FORKED = 9,  /* the instance was created in another process, before fork; its threads are not here */
  KORCH_DAMAGED = 10 /* the executable's bytes are not those that korch wrote */
} korch_status;

/* A dense row-major tensor. dtype: "f32", "f64", "f16", "bf16", "i8", "i16", "i32", "i64", "u8", "u16",
 * "u32", "u64", "bool" (one byte, 0 or 1). */
typedef struct korch_tensor_info {
  const char* name;
  const char* dtype;
  uint32_t rank;
  const int64_t* dims;
  uint64_t size_bytes;
} korch_tensor_info;

typedef struct korch_model_info {
  uint32_t api_version; /* KORCH_API_VERSION it was written with */
  const char* isa;      /* "x86-64", "x86-64-v3" or "x86-64-v4" */
  uint32_t threads;     /* it was compiled for */
  uint32_t input_count;
  uint32_t output_count;
  const korch_tensor_info* inputs;
  const korch_tensor_info* outputs;
  uint32_t step_count;
  const char* const* step_names;
  uint64_t arena_bytes;   /* of every instance, scratch of the workers excluded */
  uint64_t weights_bytes; /* mapped from the file, shared by all instances */
} korch_model_info;

typedef struct korch_instance korch_instance;

/* Called after each step with the addresses its kernel worked on: inputs, constants, outputs, temporaries. */
typedef void (*korch_observer)(void* user, uint32_t step, void* const* args);

KORCH_API const korch_model_info* korch_describe(void);

/* Compares all that is mapped from the file with the checksums in it: KORCH_OK or KORCH_DAMAGED. Reads every
 * weight, which takes as long as the memory or the disk takes. */
KORCH_API korch_status korch_check(void);

/* threads: workers including the caller of korch_run; 0 as compiled. Results are bit-identical for any
 * number. Checks as korch_check does, all but the weights. */
KORCH_API korch_status korch_create(int threads, korch_instance** instance);

/* One pointer per input and per output, in the order of korch_describe, to buffers of size_bytes that do not
 * overlap; aligned to their elements at least, to 64 bytes for full speed. Null is fine where there are no
 * bytes. */
KORCH_API korch_status korch_run(korch_instance* instance, const void* const* inputs, void* const* outputs);

/* As korch_run. step_us (step_count numbers) receives the duration of each step in microseconds; observe,
 * called with user, sees each step's buffers. Either may be null. */
KORCH_API korch_status korch_profile(korch_instance* instance, const void* const* inputs,
                                     void* const* outputs, double* step_us, korch_observer observe,
                                     void* user);

/* Of the last run of this instance: what went wrong and in which step; "" when nothing did. Calls that ended
 * in KORCH_BUSY or KORCH_FORKED were no runs. */
KORCH_API const char* korch_last_error(const korch_instance* instance);

/* A sentence for a status, also when korch_create gave no instance. */
KORCH_API const char* korch_status_text(korch_status status);

/* Not while it runs. In a process that did not create it, gives its memory back. */
KORCH_API void korch_free(korch_instance* instance);

#ifdef __cplusplus
}
#endif

#endif
