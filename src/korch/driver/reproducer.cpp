#include "korch/driver/reproducer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "korch/backend/backend.h"
#include "korch/base/files.h"

namespace korch {
namespace {

std::string about(const FaultyKernel& faulty) {
  std::string text = fmt::format("step {}: {}\n{}\n\nprimitives:\n", faulty.step, faulty.name, faulty.reason);
  for (const std::string& line : faulty.primitives) text += "  " + line + "\n";
  const LibraryCall& call = faulty.kernel.call;
  if (!call.library.empty())
    text += fmt::format("\ncall: {} {}\nparams: {}\nfloats: {}\n", call.library, call.function,
                        fmt::join(call.params, " "), fmt::join(call.floats, " "));
  text += "\ngrid:\n";
  for (const KernelPhase& phase : faulty.kernel.phases)
    text += fmt::format("  {} on {} slices\n", phase.symbol, phase.slices());
  return text;
}

}  // namespace

void write_reproducer(const FaultyKernel& faulty, const Device& device, const std::string& folder) {
  make_directories(folder);
  const auto write = [&](const std::string& file, const std::string& text) {
    write_file(folder + "/" + file, text);
  };
  write("about.txt", about(faulty));
  if (faulty.kernel.source.empty()) return;
  const StepData& data = faulty.data;
  ReproducedKernel kernel{faulty.kernel, data.inputs.size(), data.constants.size(), {}};
  for (size_t i = 0; i < data.expected.size(); ++i)
    kernel.outputs.push_back({faulty.output_types[i].dtype, data.got[i].size()});
  for (const auto& [file, text] : backend_of(device).reproducer(kernel, device)) write(file, text);
  const auto write_all = [&](const char* what, const std::vector<std::string>& items) {
    for (size_t i = 0; i < items.size(); ++i) write(fmt::format("{}_{}.bin", what, i), items[i]);
  };
  write_all("input", data.inputs);
  write_all("constant", data.constants);
  write_all("expected", data.expected);
  write_all("allowed", data.allowed);
  write_all("got", data.got);
}

}  // namespace korch
