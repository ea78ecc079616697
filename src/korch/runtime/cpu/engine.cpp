// The engine of executables for CPUs: an executor per shape plan, on the threads that the caller chose.
#include "korch/runtime/engine.h"

#include <stdlib.h>
#include <unistd.h>

#include "korch/base/usable_cpus.h"
#include "korch/runtime/executor.h"
#include "korch/runtime/shared_pool.h"

namespace korch::rt {

struct Engine {
  Pool* own_pool = nullptr;
  int32_t threads = 0;
  uint32_t count = 0;
  Executor** executors = nullptr;  // of each shape plan
};

namespace {

constexpr int32_t kMostSpin_us = 10000000;

// Whose threads the instance runs on; a pool of its own is made when they are nobody's.
korch_status choose_workers(const Model& model, const korch_options& options, Engine* engine,
                            Workers* workers) {
  if (options.threads < 0 || options.threads > kMostWorkers ||
      (options.concurrent != 0 && options.concurrent != 1) ||
      (options.parallel == nullptr && (options.concurrent != 0 || options.parallel_user != nullptr)) ||
      (options.parallel != nullptr && options.pool != nullptr) || options.spin_us < -1 ||
      options.spin_us > kMostSpin_us || options.schedule < 0 || options.schedule > 2 ||
      (options.spin_us != 0 && (options.parallel != nullptr || options.pool != nullptr)))
    return KORCH_INVALID_ARGUMENT;
  workers->threads = options.threads > 0 ? options.threads : default_threads(model.shape_plans[0].program);
  if (options.parallel != nullptr) {
    workers->concurrent = options.concurrent == 1;
    workers->parallel = options.parallel;
    workers->user = options.parallel_user;
    return KORCH_OK;
  }
  if (options.pool != nullptr) {
    if (options.pool->process != getpid()) return KORCH_FORKED;
    if (options.threads > options.pool->threads) return KORCH_INVALID_ARGUMENT;
    if (options.threads == 0) workers->threads = options.pool->threads;
    workers->concurrent = true;
    workers->parallel = options.pool->parallel;
    workers->user = options.pool;
    return KORCH_OK;
  }
  engine->own_pool = Pool::create(workers->threads, options.spin_us);
  if (engine->own_pool == nullptr) return KORCH_OUT_OF_MEMORY;
  *workers = engine->own_pool->workers();
  return KORCH_OK;
}

// Each has memory of its own, whose pages appear when a run of its shape plan needs them.
korch_status make_executors(const Model& model, Engine* engine, const Workers& workers, Schedule schedule) {
  engine->executors = static_cast<Executor**>(calloc(model.shape_plan_count, sizeof(Executor*)));
  if (engine->executors == nullptr) return KORCH_OUT_OF_MEMORY;
  engine->count = model.shape_plan_count;
  for (uint32_t v = 0; v < model.shape_plan_count; ++v) {
    RunStatus status;
    engine->executors[v] =
        Executor::create(&model.shape_plans[v].program, model.weights, workers, &status, nullptr, schedule);
    if (status.error != RunError::none) return static_cast<korch_status>(status.error);
  }
  return KORCH_OK;
}

}  // namespace

korch_status create_engine(const Model* model, const korch_model_info*, const korch_options& options,
                           Engine** engine) {
  if (options.device != 0) return KORCH_INVALID_ARGUMENT;
  *engine = static_cast<Engine*>(calloc(1, sizeof(Engine)));
  if (*engine == nullptr) return KORCH_OUT_OF_MEMORY;
  Workers workers;
  const korch_status status = choose_workers(*model, options, *engine, &workers);
  (*engine)->threads = workers.threads;
  return status != KORCH_OK
             ? status
             : make_executors(*model, *engine, workers, static_cast<Schedule>(options.schedule));
}

void destroy_engine(Engine* engine, bool forked) {
  if (engine == nullptr) return;
  for (uint32_t v = 0; v < engine->count; ++v)
    Executor::destroy(engine->executors[v], /*workers_live=*/!forked);
  free(engine->executors);
  Pool::destroy(engine->own_pool, /*workers_live=*/!forked);
  free(engine);
}

int32_t threads_of(const Engine* engine) {
  return engine->threads;
}

const char* why_no_engine(const Engine*) {
  return "";
}

RunStatus wait_for_engine(Engine*) {
  return {};
}

RunStatus run_engine(Engine* engine, uint32_t shape_plan, const void* const* inputs, void* const* outputs,
                     const RunOptions& options) {
  return engine->executors[shape_plan]->run(inputs, outputs, options);
}

}  // namespace korch::rt
