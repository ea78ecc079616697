/* Creates and runs an executable's network on the C interface alone: run_network FILE.so THREADS [pool]. With
 * `pool` two instances share one. Exit code: 0, or 10 + the status that it was given. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "korch/runtime/korch.h"

static char buffers[16][1 << 16] __attribute__((aligned(64)));

#define LOOK_UP(function)                                                \
  __typeof__(&korch_##function) function =                               \
      (__typeof__(&korch_##function))dlsym(library, "korch_" #function); \
  if (function == NULL) return 2

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) return 2;
  void* library = dlopen(argv[1], RTLD_NOW);
  if (library == NULL) return 9; /* as the tool: a file that cannot be loaded */
  LOOK_UP(describe);
  LOOK_UP(create_with);
  LOOK_UP(run);
  __typeof__(&korch_free) release = (__typeof__(&korch_free))dlsym(library, "korch_free");
  LOOK_UP(pool_create);
  LOOK_UP(pool_free);
  const korch_model_info* model = describe();
  const void* inputs[8];
  void* outputs[8];
  if (model->input_count > 8 || model->output_count > 8) return 2;
  for (uint32_t i = 0; i < model->input_count; ++i) inputs[i] = buffers[i];
  for (uint32_t o = 0; o < model->output_count; ++o) outputs[o] = buffers[8 + o];

  const int shares = argc == 4;
  korch_options options = {0};
  options.struct_size = sizeof options;
  korch_status status = KORCH_OK;
  if (shares)
    status = pool_create(atoi(argv[2]), &options.pool);
  else
    options.threads = atoi(argv[2]);
  if (status != KORCH_OK && options.pool != NULL) return 4;
  korch_instance* networks[2] = {NULL, NULL};
  for (int n = 0; n < 1 + shares && status == KORCH_OK; ++n) {
    status = create_with(&options, &networks[n]);
    if (status != KORCH_OK && networks[n] != NULL) return 4;
    if (status != KORCH_OK) break;
    status = run(networks[n], inputs, outputs);
    /* A failure is no state to stay in: the next run succeeds. */
    if (status != KORCH_OK && run(networks[n], inputs, outputs) != KORCH_OK) return 3;
  }
  for (int n = 0; n < 2; ++n) release(networks[n]);
  pool_free(options.pool);
  return status == KORCH_OK ? 0 : 10 + (int)status;
}
