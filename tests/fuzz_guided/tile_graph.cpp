#include "korch/kernel/region.h"
#include "korch/kernel/schedule.h"
#include "refusal.h"
#include "target.h"

namespace korch::fuzz {

// What is read prints as a text that reads as the same graph, and its outputs can be accounted for.
void read_tile_graph(std::string_view bytes) {
  expect_read_or_refused([&] {
    const tile::ScheduledGraph graph = tile::parse_tile_graph(bytes);
    const std::string text = tile::print(graph);
    std::string again;
    try {
      again = tile::print(tile::parse_tile_graph(text));
    } catch (const Error& error) {
      again = error.what();
    }
    KORCH_ASSERT(again == text, "printed:\n" + text + "read again:\n" + again);
    int64_t elements = 0;
    for (const tile::Buffer& buffer : graph.buffers) elements += buffer.elements;
    constexpr int64_t kFew = 1 << 16;  // more takes longer than a fuzzer waits
    if (elements <= kFew) tile::coverage_fault(graph);
  });
}

}  // namespace korch::fuzz
