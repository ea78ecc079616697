/* Creates and runs an executable's network on the C interface alone: run_network FILE.so THREADS. Exit code:
 * 0, or 10 + the status that it was given. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "korch/runtime/korch.h"

static char buffers[16][1 << 16] __attribute__((aligned(64)));

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  void* library = dlopen(argv[1], RTLD_NOW);
  if (library == NULL) return 9; /* as the tool: a file that cannot be loaded */
  const korch_model_info* (*describe)(void) =
      (const korch_model_info* (*)(void))dlsym(library, "korch_describe");
  korch_status (*create)(int, korch_instance**) =
      (korch_status(*)(int, korch_instance**))dlsym(library, "korch_create");
  korch_status (*run)(korch_instance*, const void* const*, void* const*) =
      (korch_status(*)(korch_instance*, const void* const*, void* const*))dlsym(library, "korch_run");
  void (*release)(korch_instance*) = (void (*)(korch_instance*))dlsym(library, "korch_free");
  if (describe == NULL || create == NULL || run == NULL || release == NULL) return 2;
  const korch_model_info* model = describe();
  const void* inputs[8];
  void* outputs[8];
  if (model->input_count > 8 || model->output_count > 8) return 2;
  for (uint32_t i = 0; i < model->input_count; ++i) inputs[i] = buffers[i];
  for (uint32_t o = 0; o < model->output_count; ++o) outputs[o] = buffers[8 + o];
  korch_instance* network = NULL;
  korch_status status = create(atoi(argv[2]), &network);
  if (status == KORCH_OK) {
    status = run(network, inputs, outputs);
    /* A failure is no state to stay in: the next run succeeds. */
    if (status != KORCH_OK && run(network, inputs, outputs) != KORCH_OK) return 3;
  } else if (network != NULL) {
    return 4;
  }
  release(network);
  return status == KORCH_OK ? 0 : 10 + (int)status;
}
