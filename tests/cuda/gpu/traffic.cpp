// cuda_traffic FILE.tile...: what each kernel moves, as a line of JSON (bench/gpu/traffic.py). Of a phase,
// moved: bytes of the sectors of global memory that it reads and of those that it writes, each once, and
// twice what its blocks have in the workspace; between: of these, those of temporaries and workspace;
// sectors, wavefronts: of the accesses of warps, in a sample of its blocks on the emulator; least_sectors,
// least_wavefronts: the least for the same bytes. Of a kernel, least: bytes of the sectors of operands and
// results that it accesses, each once; temporaries: bytes of temporaries and workspace.
#include <algorithm>
#include <iostream>
#include <map>
#include <vector>

#include "../emulator.h"
#include "korch/base/error.h"
#include "korch/base/files.h"
#include "korch/base/json.h"
#include "korch/codegen/cuda/print_cuda.h"
#include "korch/kernel/region.h"

namespace korch::testing {
namespace {

constexpr int64_t kSectorBytes = 32;
constexpr int64_t kMostBlocks = 3;  // of a launch that are looked at: the first, the last, the middle

// The sectors of a buffer that are accessed.
class Sectors {
 public:
  void add(const tile::Buffer& buffer, const tile::Region& region) {
    const auto size = static_cast<int64_t>(size_bytes(buffer.type));
    touched_.resize(static_cast<size_t>(buffer.bytes() / kSectorBytes + 1));
    tile::for_each_element(region, [&](int64_t element) { touched_[element * size / kSectorBytes] = true; });
  }
  int64_t bytes() const { return kSectorBytes * std::count(touched_.begin(), touched_.end(), true); }

 private:
  std::vector<bool> touched_;
};

// Arguments of a launch: zeros, which are indices inside of everything.
class ZeroArguments {
 public:
  ZeroArguments(Emulator& emulator, const tile::ScheduledGraph& graph, int64_t blocks) : emulator_(emulator) {
    for (const tile::Buffer& buffer : graph.buffers)
      if (buffer.role != tile::BufferRole::scratch) add(static_cast<size_t>(buffer.bytes()));
    const Gpu::Pointer status = add(sizeof(int));
    const auto workspace = static_cast<size_t>(tile::cuda_workspace_bytes(graph));
    emulator.set_roles(status, add(workspace * static_cast<size_t>(blocks)), workspace);
  }
  ~ZeroArguments() {
    for (Gpu::Pointer pointer : pointers_) emulator_.free(pointer);
  }
  ZeroArguments(const ZeroArguments&) = delete;
  ZeroArguments& operator=(const ZeroArguments&) = delete;
  const std::vector<Gpu::Pointer>& pointers() const { return pointers_; }

 private:
  Gpu::Pointer add(size_t bytes) {
    const Gpu::Pointer pointer = emulator_.allocate(std::max<size_t>(bytes, 1));
    emulator_.fill(pointer, 0, bytes);
    pointers_.push_back(pointer);
    return pointer;
  }
  Emulator& emulator_;
  std::vector<Gpu::Pointer> pointers_;
};

AccessCounts counts_of_phase(const std::string& source, const tile::ScheduledGraph& graph, size_t phase,
                             int64_t blocks) {
  Emulator emulator(Checks::memory);
  emulator.checker().count_accesses(true);
  emulator.set_most_blocks(kMostBlocks);
  const Gpu::Function function = emulator.load(source, tile::cuda_phase_symbol("k0", phase)).value();
  const ZeroArguments arguments(emulator, graph, blocks);
  emulator.run(function, blocks, tile::kCudaThreads, arguments.pointers());
  for (const Finding& finding : emulator.checker().findings())
    throw Error(ErrorKind::internal, std::string(name(finding.mistake)) + ": " + finding.text);
  return emulator.checker().counts();
}

nlohmann::ordered_json traffic_of(const tile::ScheduledGraph& graph) {
  const std::string source = tile::print_cuda(graph, "k0");
  std::map<int, Sectors> accessed;  // arguments other than temporaries
  int64_t temporaries = 0;
  nlohmann::ordered_json phases = nlohmann::json::array();
  for (size_t p = 0; p < graph.phases.size(); ++p) {
    const tile::Phase& phase = graph.phases[p];
    const int64_t blocks = phase.rounds() > 1 ? 1 : phase.slices();
    std::map<std::pair<int, tile::Direction>, Sectors> moved;
    for (const tile::Access& access : tile::accesses(graph, phase, 0, phase.slices())) {
      const tile::Buffer& buffer = graph.buffers[access.buffer];
      if (buffer.role == tile::BufferRole::scratch) continue;
      moved[{access.buffer, access.direction}].add(buffer, access.region);
      if (buffer.role != tile::BufferRole::temporary) accessed[access.buffer].add(buffer, access.region);
    }
    const int64_t workspace = blocks * tile::cuda_workspace_bytes(graph);
    temporaries = std::max(temporaries, workspace);
    int64_t bytes = 2 * workspace, between = 2 * workspace;
    for (const auto& [key, sectors] : moved) {
      bytes += sectors.bytes();
      if (graph.buffers[key.first].role == tile::BufferRole::temporary) between += sectors.bytes();
    }
    const AccessCounts counts = counts_of_phase(source, graph, p, blocks);
    const auto& schedules = graph.schedule[p];
    const bool is_product = std::any_of(schedules.begin(), schedules.end(),
                                        [](const tile::NestSchedule& nest) { return nest.registers; });
    phases.push_back({{"blocks", blocks},
                      {"product", is_product},
                      {"moved", bytes},
                      {"between", between},
                      {"sectors", counts.sectors},
                      {"least_sectors", counts.least_sectors},
                      {"wavefronts", counts.wavefronts},
                      {"least_wavefronts", counts.least_wavefronts}});
  }
  int64_t least = 0;
  for (const tile::Buffer& buffer : graph.buffers)
    if (buffer.role == tile::BufferRole::temporary) temporaries += buffer.bytes();
  for (const auto& [buffer, sectors] : accessed) least += sectors.bytes();
  return {{"least", least}, {"temporaries", temporaries}, {"phases", phases}};
}

}  // namespace
}  // namespace korch::testing

int main(int argc, char** argv) {
  try {
    for (int i = 1; i < argc; ++i) {
      const auto graph = korch::tile::parse_tile_graph(korch::read_file(argv[i]));
      std::cout << korch::testing::traffic_of(graph).dump() << std::endl;
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
