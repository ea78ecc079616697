#include "korch/ir/text.h"
#include "refusal.h"
#include "target.h"

namespace korch::fuzz {

// What is read prints as a text that reads as the same graph.
void read_ir_text(std::string_view bytes) {
  expect_read_or_refused([&] {
    const Graph graph = parse_graph(bytes);
    const std::string text = print(graph);
    std::string again;
    try {
      again = print(parse_graph(text, large_constants(graph)));
    } catch (const Error& error) {
      again = error.what();
    }
    KORCH_ASSERT(again == text, "printed:\n" + text + "read again:\n" + again);
  });
}

}  // namespace korch::fuzz
