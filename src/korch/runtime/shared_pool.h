// The pool of the C interface, whose runs take turns.
#pragma once

#include <pthread.h>
#include <unistd.h>

#include "korch/runtime/cpu/pool.h"
#include "korch/runtime/korch.h"

// The first three fields are read by the runtimes of other executables, of other versions too: they stay.
struct korch_pool {
  korch_parallel parallel;  // called with the korch_pool
  int32_t threads;
  int32_t process;  // that created it

  korch::rt::Pool* pool;
  pthread_mutex_t turn;  // refuses a thread that has it already: an observer's run on the pool of its own run
};
