// Compiles a network, loads the executable and runs it on ones from two instances that share their threads:
//   compile_and_run MODEL.onnx MODEL.so [THREADS]
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <korch/korch.hpp>
#include <thread>

namespace {

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Buffer = std::unique_ptr<void, Free>;

std::vector<Buffer> allocate(const korch_tensor_info* tensors, uint32_t count) {
  std::vector<Buffer> buffers;
  for (uint32_t i = 0; i < count; ++i) {
    const korch_tensor_info& tensor = tensors[i];
    buffers.emplace_back(std::aligned_alloc(64, (tensor.size_bytes + 64) / 64 * 64));
    std::memset(buffers.back().get(), 0, tensor.size_bytes);
    for (uint64_t e = 0; std::strcmp(tensor.dtype, "f32") == 0 && e < tensor.size_bytes / 4; ++e)
      static_cast<float*>(buffers.back().get())[e] = 1;
  }
  return buffers;
}

std::vector<void*> pointers(const std::vector<Buffer>& buffers) {
  std::vector<void*> result;
  for (const Buffer& buffer : buffers) result.push_back(buffer.get());
  return result;
}

// One caller's work: an instance on the shared pool, its buffers, some runs.
void serve(const korch::Executable& code, const korch::Pool& pool, bool prints) {
  korch_options options{};
  options.struct_size = sizeof options;
  options.pool = pool.get();
  korch::Instance instance(code, options);
  const korch_model_info& model = instance.model();
  const std::vector<Buffer> inputs = allocate(model.inputs, model.input_count);
  const std::vector<Buffer> outputs = allocate(model.outputs, model.output_count);
  const std::vector<void*> in = pointers(inputs), out = pointers(outputs);
  for (int run = 0; run < 10; ++run) instance.run(in.data(), out.data());
  for (uint32_t o = 0; prints && o < model.output_count; ++o) {
    std::printf("%s %s:", model.outputs[o].name, model.outputs[o].dtype);
    for (uint64_t e = 0; std::strcmp(model.outputs[o].dtype, "f32") == 0 && e < 4; ++e)
      if (4 * e < model.outputs[o].size_bytes) std::printf(" %g", static_cast<const float*>(out[o])[e]);
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "usage: compile_and_run MODEL.onnx MODEL.so [THREADS]\n"), 2;
  try {
    korch::CompilerOptions options;
    options.threads = argc > 3 ? std::atoi(argv[3]) : 0;
    options.budget_s = 60;
    for (const std::string& warning : korch::compile(argv[1], argv[2], options))
      std::fprintf(stderr, "warning: %s\n", warning.c_str());
    const korch::Executable code(argv[2]);
    const korch::Pool pool(code);
    std::thread other([&] { serve(code, pool, false); });
    serve(code, pool, true);
    other.join();
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 1;
  }
  return 0;
}
