/* Runs an executable written by korch on inputs of zeros and prints the start of every output; korch is not needed.
 *   cc -I src/korch/runtime examples/run_model.c ./model.so -o run_model && ./run_model */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "korch.h"

static void** allocate(const korch_tensor_info* tensors, uint32_t count) {
  void** buffers = malloc((count + 1) * sizeof *buffers);
  for (uint32_t i = 0; i < count; ++i) {
    const size_t size_bytes = (tensors[i].size_bytes + 64) / 64 * 64;
    buffers[i] = memset(aligned_alloc(64, size_bytes), 0, size_bytes);
  }
  return buffers;
}

int main(void) {
  const korch_model_info* model = korch_describe();
  korch_instance* instance;
  korch_status status = korch_create(0, &instance);
  if (status != KORCH_OK) return fprintf(stderr, "%s\n", korch_status_text(status)), 1;
  void** inputs = allocate(model->inputs, model->input_count);
  void** outputs = allocate(model->outputs, model->output_count);
  status = korch_run(instance, (const void* const*)inputs, outputs);
  if (status != KORCH_OK) return fprintf(stderr, "%s\n", korch_last_error(instance)), 1;
  for (uint32_t o = 0; o < model->output_count; ++o) {
    const korch_tensor_info* output = &model->outputs[o];
    printf("%s %s:", output->name, output->dtype);
    for (uint64_t i = 0; i < 4 && strcmp(output->dtype, "f32") == 0 && 4 * i < output->size_bytes; ++i)
      printf(" %g", ((const float*)outputs[o])[i]);
    printf("\n");
  }
  korch_free(instance);
  return 0;
}
