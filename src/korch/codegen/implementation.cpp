#include "korch/codegen/implementation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "korch/codegen/linear/linear_families.h"
#include "korch/codegen/loop/loop_family.h"
#include "korch/codegen/opaque/opaque_family.h"
#include "korch/codegen/vendor/onednn.h"

namespace korch {
namespace {

// One row per family of kernels: what it can offer for a candidate, and how it makes what it offered. `list`
// appends to its last two arguments; `serves` names the Implementation::family strings that the row's
// `generate` makes.
struct Family {
  std::vector<std::string> serves;
  void (*list)(const Graph& graph, const Candidate& candidate, const Target& target, Accuracy accuracy,
               std::vector<Implementation>& found, std::vector<Refusal>& refused);
  Result<Kernel> (*generate)(const Graph& graph, const Candidate& candidate,
                             const Implementation& implementation, const Target& target);
  enum class Kind { generated, library, last_resort } kind = Kind::generated;
};

const std::vector<Family>& families() {
  static const std::vector<Family> table = {
      {{"loop"}, list_loop, generate_loop},
      {{"opaque"}, list_opaque, generate_opaque},
      {{"conv_direct", "conv_pixels"}, list_conv_direct, generate_conv_direct},
      {{"conv_winograd"}, list_conv_winograd, generate_conv_winograd},
      {{"winograd_part"}, list_winograd_part, generate_winograd_part},
      {{"depthwise"}, list_depthwise, generate_depthwise},
      {{"matmul"}, list_matmul, generate_matmul},
      {{"attention"}, list_attention, generate_attention},
      {{"onednn_conv"}, list_onednn_conv, generate_onednn_conv, Family::Kind::library},
      {{"onednn_matmul"}, list_onednn_matmul, generate_onednn_matmul, Family::Kind::library},
      {{"linear_generic"}, list_linear_generic, generate_linear_generic, Family::Kind::last_resort},
  };
  return table;
}

}  // namespace

std::string to_string(const Implementation& implementation) {
  auto layouts = [](const std::vector<Layout>& list) {
    std::vector<std::string> texts;
    for (const Layout& layout : list) texts.push_back(to_string(layout));
    return fmt::format("{}", fmt::join(texts, ","));
  };
  return fmt::format("{}({}) {}->{}", implementation.family, to_string(implementation.schedule),
                     layouts(implementation.input_layouts), layouts(implementation.output_layouts));
}

std::vector<Implementation> implementations(const Graph& graph, const Candidate& candidate,
                                            const Target& target, Accuracy accuracy,
                                            std::vector<Refusal>* refused) {
  std::vector<Implementation> found;
  std::vector<Refusal> reasons;
  bool is_generated = false;
  for (const Family& family : families()) {
    // The last resort costs a measurement for nothing where another of our kernels is. A library may refuse
    // its call later, or be struck: beside it alone, the primitive by itself is enough.
    if (family.kind == Family::Kind::last_resort &&
        (is_generated || (!found.empty() && candidate.nodes.size() > 1)))
      continue;
    const size_t before = found.size();
    family.list(graph, candidate, target, accuracy, found, reasons);
    is_generated = is_generated || (family.kind == Family::Kind::generated && found.size() > before);
  }
  if (found.empty() && reasons.empty())
    reasons.push_back({RefusalReason::no_kernel_family, "no family covers this combination of primitives"});
  if (refused != nullptr) refused->insert(refused->end(), reasons.begin(), reasons.end());
  return found;
}

Result<Kernel> generate(const Graph& graph, const Candidate& candidate, const Implementation& implementation,
                        const Target& target) {
  for (const Family& family : families())
    for (const std::string& name : family.serves)
      if (name == implementation.family) return family.generate(graph, candidate, implementation, target);
  return Refusal{RefusalReason::no_kernel_family, "no family is called '" + implementation.family + "'"};
}

}  // namespace korch
