#include "korch/runtime/shared_pool.h"

#include <stdlib.h>

#include "korch/base/usable_cpus.h"
#include "korch/runtime/executor.h"
#include "korch/runtime/tables.h"

namespace {

void run_in_turn(void* user, int32_t tasks, korch::rt::Task task, void* argument) {
  auto* shared = static_cast<korch_pool*>(user);
  if (pthread_mutex_lock(&shared->turn) != 0) return;  // the executor sees that no task ran
  shared->pool->run(tasks, task, argument);
  pthread_mutex_unlock(&shared->turn);
}

}  // namespace

extern "C" {

korch_status korch_pool_create(int threads, korch_pool** pool) {
  if (pool == nullptr) return KORCH_INVALID_ARGUMENT;
  *pool = nullptr;
  if (threads < 0 || threads > korch::kMostWorkers) return KORCH_INVALID_ARGUMENT;
  if (threads == 0) threads = korch::rt::default_threads(korch::rt::the_model().shape_plans[0].program);
  auto* made = static_cast<korch_pool*>(calloc(1, sizeof(korch_pool)));
  if (made == nullptr) return KORCH_OUT_OF_MEMORY;
  made->parallel = run_in_turn;
  made->threads = threads;
  made->process = getpid();
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&made->turn, &attributes);
  pthread_mutexattr_destroy(&attributes);
  made->pool = korch::rt::Pool::create(threads);
  if (made->pool == nullptr) {
    korch_pool_free(made);
    return KORCH_OUT_OF_MEMORY;
  }
  made->threads = made->pool->threads();
  *pool = made;
  return KORCH_OK;
}

void korch_pool_free(korch_pool* pool) {
  if (pool == nullptr) return;
  const bool is_here = pool->process == getpid();
  korch::rt::Pool::destroy(pool->pool, /*workers_live=*/is_here);
  if (is_here) pthread_mutex_destroy(&pool->turn);
  free(pool);
}

}  // extern "C"
