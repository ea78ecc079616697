/* C interface of an executable written by korch: a shared library that holds one compiled network.
 *
 *   korch_instance* network;
 *   if (korch_create(0, &network) != KORCH_OK) ...
 *   korch_run(network, inputs, outputs);
 *   korch_free(network);
 *
 * Link the shared library directly, or dlopen it and look the functions up. There is no global state:
 * instances are independent and may be used by different threads at once; one instance serves one caller at a
 * time, in the process that created it.
 *
 * Versions: new versions add functions, and fields at the ends of structs; nothing is removed or changed. A
 * program made for version N runs executables of N and later; korch_describe()->api_version is an
 * executable's. Structs of options begin with their size, struct_size = sizeof(the struct); set the other
 * fields to 0 or to a value. Shorter structs, of an older program, are accepted. Longer ones are accepted if
 * the fields that this executable does not know are 0.
 *
 * Memory: the data of korch_describe live as long as the executable is loaded. Options are read during the
 * call. A pool, and the data behind `parallel_user`, are used until the instance is freed. Buffers of inputs
 * and outputs are the caller's, and used only during the run. */
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

#define KORCH_API_VERSION 8

typedef enum korch_status {
  KORCH_OK = 0,
  KORCH_INVALID_ARGUMENT = 1, /* a null pointer, a number of threads below 0 or above 1024, options of no
                               * known form */
  KORCH_UNSUPPORTED_CPU = 2,  /* compiled for instructions that this CPU lacks */
  KORCH_OUT_OF_MEMORY = 3,    /* no memory from the system */
  KORCH_LIBRARY_REFUSED = 4,  /* a shared library it needs has another version than at compile time */
  /* A gather met an index outside its axis, or the data are none that the network can take: a number beyond
   * its bound, a branch that does not fit. korch_last_error tells which. Outputs are incomplete. */
  KORCH_INDEX_OUT_OF_RANGE = 5,
  KORCH_LIBRARY_FAILED = 6, /* a shared library reported a failure; outputs are incomplete */
  KORCH_INTERNAL = 7,
  KORCH_BUSY = 8,     /* the instance is running already, for another caller; that run goes on */
  KORCH_FORKED = 9,   /* the instance was created in another process, before fork; its threads are not here */
  KORCH_DAMAGED = 10, /* the executable's bytes are not those that korch wrote */
  /* since version 3 */
  KORCH_CANCELLED = 11,        /* the run was ended by its `cancel`; outputs are incomplete */
  KORCH_PARALLEL_FAILED = 12,  /* korch_parallel did not run every task once; outputs are incomplete */
  KORCH_LOOP_WITHOUT_END = 13, /* a loop did not end within 1048576 iterations; outputs are incomplete */
  /* since version 7 */
  KORCH_NO_GPU = 14,          /* no NVIDIA GPU, or no driver: libcuda.so.1, or what KORCH_CUDA_DRIVER names */
  KORCH_UNSUPPORTED_GPU = 15, /* compiled for a GPU of another compute capability */
  KORCH_GPU_FAILED = 16,      /* the GPU's driver reported a failure; outputs are incomplete. After a kernel's
                               * fault the driver fails in every later call of the process. */
  KORCH_OLD_DRIVER = 17,      /* the driver is older than the executable's machine code */
  KORCH_GPU_OUT_OF_MEMORY = 18 /* the GPU's memory is too small for the executable, or others use it */
} korch_status;

/* A dense row-major tensor. dtype: "f32", "f64", "f16", "bf16", "i8", "i16", "i32", "i64", "u8", "u16",
 * "u32", "u64", "bool" (one byte, 0 or 1); and types that are only stored, a byte per element: "f8e4m3fn",
 * "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "f8e8m0", "f4e2m1" (their bits), "i4", "u4", "i2", "u2". */
typedef struct korch_tensor_info {
  const char* name;
  const char* dtype;
  uint32_t rank;
  const int64_t* dims;
  uint64_t size_bytes; /* of a buffer for it */
} korch_tensor_info;

/* An extent that each run tells (korch_run_options::input_dims): `least` to `most`. */
typedef struct korch_dimension {
  const char* name;
  int64_t least, most;
} korch_dimension;

/* An axis of an input whose extent is a dimension's. */
typedef struct korch_open_axis {
  uint32_t input, axis;
  uint32_t dimension; /* into korch_model_info::dimensions */
} korch_open_axis;

/* An input that takes what an output gave in the run before; a korch_state keeps it. Since version 8. */
typedef struct korch_state_info {
  uint32_t input, output;
  /* The axis along which each run appends rows to what the state holds, which stays where it is. If the
   * input's extent there is fixed, the state is zeros at first, and other inputs tell where the rows go. -1:
   * each run makes all of it anew, from zeros at first. */
  int32_t axis;
  uint32_t reserved;
} korch_state_info;

typedef struct korch_model_info {
  uint32_t api_version; /* KORCH_API_VERSION it was written with */
  const char* isa;      /* "x86-64", "x86-64-v3", "x86-64-v4", "x86-64-v4-vnni", "x86-64-v4-bf16" or
                           "x86-64-v4-amx" */
  uint32_t threads;     /* it was compiled for */
  uint32_t input_count;
  uint32_t output_count;
  const korch_tensor_info* inputs;
  const korch_tensor_info* outputs;
  uint32_t step_count;
  const char* const* step_names;
  uint64_t arena_bytes;   /* of every instance, scratch of the workers excluded */
  uint64_t weights_bytes; /* mapped from the file, shared by all instances */
  /* Since version 5. Where there are any, dims and size_bytes of the inputs and outputs are bounds. */
  uint32_t dimension_count;
  uint32_t open_axis_count;
  const korch_dimension* dimensions;
  const korch_open_axis* open_axes;
  /* Since version 8. */
  uint32_t state_count;
  const korch_state_info* states;
} korch_model_info;

typedef struct korch_instance korch_instance;

/* Called after each step with the addresses its kernel worked on: inputs, constants, outputs, temporaries. */
typedef void (*korch_observer)(void* user, uint32_t step, void* const* args);

/* Slices [begin, end) of a phase of a step, and the thread that ran them: the caller's number is 0. Times in
 * microseconds, of CLOCK_MONOTONIC. */
typedef struct korch_slices {
  uint32_t step, phase;
  int64_t begin, end;
  int32_t worker;
  double begin_us, end_us;
} korch_slices;

/* Called by the thread that ran them, by several at once. */
typedef void (*korch_slice_observer)(void* user, const korch_slices* slices);

/* Runs task(arg, 0) to task(arg, tasks - 1), each once, in any order, on any threads, and returns when all
 * have returned. Throws nothing. */
typedef void (*korch_parallel)(void* user, int32_t tasks, void (*task)(void* arg, int32_t index), void* arg);

/* Threads that several instances share, of one executable or of several. One run has all of them; others wait
 * for their turn. */
typedef struct korch_pool korch_pool;

/* What all states of korch_model_info hold, in memory of its own: of the largest extents, once where runs
 * append to it. Since version 8. */
typedef struct korch_state korch_state;

typedef struct korch_options {
  uint64_t struct_size;
  /* Workers, the caller of korch_run among them. 0: those of the pool, or as compiled, but no more than the
   * process may use (its affinity, its control groups' quota). Threads of the instance and of korch_pool keep
   * off the processor on which korch_run is called, by their affinity. */
  int32_t threads;
  /* 1: `parallel` runs all tasks at the same time, each on a thread of its own, so that they may wait for
   * each other. Then it is called once per run. 0: it is called for every phase of a kernel that has work for
   * two threads. */
  int32_t concurrent;
  /* The caller's threads instead of own ones: called with `parallel_user`, from korch_run, with `threads`
   * tasks or fewer. */
  korch_parallel parallel;
  void* parallel_user;
  /* Or this pool's, which must live until the instance is freed. */
  korch_pool* pool;
  /* The instance's own threads look for work for this many microseconds before they sleep, during a run and
   * after it. A program that calls every millisecond and sets 2000 finds them awake; their processors are
   * busy meanwhile. 0: 50 at first, about the cost of a sleep and a wake-up, then 6 to 200, by the waits so
   * far. -1: they sleep at once. Up to 10000000. Since version 4. */
  int32_t spin_us;
  /* How the instance's own threads share the work. 0: as compiled; 1: a kernel's phase begins when the one
   * before it has ended; 2: a piece of a kernel runs when its inputs are ready, on any free thread. Pools and
   * `parallel` always use 1. Results are the same. Since version 5. On a GPU 1 launches kernel after kernel,
   * 2 (as compiled) all as one CUDA graph. */
  int32_t schedule;
  /* The number of the GPU, for an executable for one. Since version 7. */
  int32_t device;
  /* Where there is no instance: receives a sentence that says why, as much of it as fits into
   * `message_bytes`, its end included. Null, and 0: none. Since version 7. */
  char* message;
  uint64_t message_bytes;
} korch_options;

typedef struct korch_run_options {
  uint64_t struct_size;
  double* step_us;        /* receives step_count numbers: the duration of each step in microseconds */
  korch_observer observe; /* called with `user`, sees each step's buffers */
  void* user;
  /* When it is no longer 0, the run ends after the slices that are being computed, with KORCH_CANCELLED,
   * unless it was complete before; the instance can run again. A run that waits for a pool ends when its turn
   * comes. A GPU is asked for all launches of a run at once. Read atomically during the run; set it
   * atomically (std::atomic<int32_t>, __atomic_store_n). */
  const int32_t* cancel;
  /* One per input: its extents, as many numbers as its rank, of the dense row-major tensor that its buffer
   * holds. Null, or null for an input: those of korch_describe. Only open axes may differ from these, by an
   * extent that their dimension allows, the same on all of its axes; else KORCH_INVALID_ARGUMENT
   * (korch_last_error tells why), and nothing is read or written. Since version 5. */
  const int64_t* const* input_dims;
  /* Called for all slices, with `slices_user`: which thread ran them, and when. The run is the same as
   * without it, except that the clock is read twice for each piece. Not on a GPU. Since version 6. */
  korch_slice_observer observe_slices;
  void* slices_user;
  /* For executables for GPUs whose extents are all fixed. 1: inputs and outputs are addresses in the memory
   * of the instance's GPU, in its primary context, and the run is put into `stream`, a CUstream of that
   * context (null: its default stream). korch_run_with returns before the run has ended; korch_wait tells how
   * it did. Without observers, times and `cancel`. Since version 7. */
  int32_t on_device;
  void* stream;
  /* Not null: the inputs and outputs of korch_model_info::states are this state's. Their places in `inputs`
   * and `outputs` are not looked at. Where runs append, the extent along `axis` is the state's length. A run
   * that ends in KORCH_OK leaves what its outputs are; after any other, the state is what it was before.
   * `input_dims` of such an input is null, or says what the state holds; of an empty state it may say extents
   * of other axes that no other input has. One run at a time has the state: KORCH_BUSY. A state of another
   * executable, or one that has no room left: KORCH_INVALID_ARGUMENT, and korch_last_error tells why. Since
   * version 8. */
  korch_state* state;
} korch_run_options;

KORCH_API const korch_model_info* korch_describe(void);

/* Compares all bytes that are mapped from the file with its checksums: KORCH_OK or KORCH_DAMAGED. Reads every
 * weight, at the speed of the memory or the disk. */
KORCH_API korch_status korch_check(void);

/* options: null for none. Checks as korch_check does, all but the weights. Results are bit-identical for any
 * number of threads and for the caller's threads. Since version 3. */
KORCH_API korch_status korch_create_with(const korch_options* options, korch_instance** instance);

/* Short for korch_create_with; threads 0: as compiled. */
KORCH_API korch_status korch_create(int threads, korch_instance** instance);

/* One pointer per input and per output, in the order of korch_describe, to buffers of size_bytes that do not
 * overlap; aligned to their elements at least, to 64 bytes for full speed. Null is fine where there are no
 * bytes. options: null for none. Since version 3. */
KORCH_API korch_status korch_run_with(korch_instance* instance, const void* const* inputs,
                                      void* const* outputs, const korch_run_options* options);

/* Short for korch_run_with without options. */
KORCH_API korch_status korch_run(korch_instance* instance, const void* const* inputs, void* const* outputs);

/* Short for korch_run_with. */
KORCH_API korch_status korch_profile(korch_instance* instance, const void* const* inputs,
                                     void* const* outputs, double* step_us, korch_observer observe,
                                     void* user);

/* Waits for the runs that were put into streams (korch_run_options::on_device): KORCH_OK, or what the last of
 * them failed by, which korch_last_error describes. After KORCH_GPU_FAILED it can be called again. Since
 * version 7. */
KORCH_API korch_status korch_wait(korch_instance* instance);

/* An empty state for any instance of this executable, also in several in turns. KORCH_INVALID_ARGUMENT where
 * the executable has none (korch_model_info::state_count is 0). Those below give KORCH_BUSY while a run has
 * the state, and leave it alone. All since version 8. */
KORCH_API korch_status korch_state_create(korch_state** state);

/* Empty again: nothing to append to, and zeros. */
KORCH_API korch_status korch_state_reset(korch_state* state);

/* `to` becomes what `from` is. KORCH_INVALID_ARGUMENT if they are of different executables. */
KORCH_API korch_status korch_state_copy(korch_state* to, korch_state* from);

/* Forgets what was appended behind the first `length`. KORCH_INVALID_ARGUMENT, and nothing is done, if the
 * state is not so long, or if it holds something that runs make anew: who goes back copies the state before.
 */
KORCH_API korch_status korch_state_rewind(korch_state* state, int64_t length);

/* How many rows runs appended: the most of what the state holds. -1 without a state. */
KORCH_API int64_t korch_state_length(const korch_state* state);

/* KORCH_BUSY: it was not freed. */
KORCH_API korch_status korch_state_free(korch_state* state);

/* The extents of an output as the last run left it: `dims` receives as many numbers as its rank. They are
 * those of korch_describe, or fewer where the network's shapes depend on its inputs (their extents, or what
 * is in them: NonZero, NonMaxSuppression and the like); the buffer then begins with a dense row-major tensor
 * of these extents, and what follows in it is undefined. KORCH_INVALID_ARGUMENT when there is no such output
 * or no run has ended in KORCH_OK. Since version 3. */
KORCH_API korch_status korch_output_dims(const korch_instance* instance, uint32_t output, int64_t* dims);

/* threads: including the caller of a run; 0: as compiled. The pool's code is this executable's: do not unload
 * it while the pool lives. Since version 3. */
KORCH_API korch_status korch_pool_create(int threads, korch_pool** pool);

/* Not while an instance has it. Since version 3. */
KORCH_API void korch_pool_free(korch_pool* pool);

/* The error of the last run of this instance, with its step; "" if there was none. Calls that ended in
 * KORCH_BUSY or KORCH_FORKED were no runs. The text stays until the next run or korch_free. */
KORCH_API const char* korch_last_error(const korch_instance* instance);

/* A sentence for a status, also when korch_create gave no instance. */
KORCH_API const char* korch_status_text(korch_status status);

/* Threads that its runs have, the caller among them: as many as were asked for, or fewer where the system
 * gave no more. Results are the same. Since version 6. */
KORCH_API int32_t korch_threads(const korch_instance* instance);

/* Not while it runs. In a process that did not create it, gives its memory back. */
KORCH_API void korch_free(korch_instance* instance);

#ifdef __cplusplus
}
#endif

#endif
