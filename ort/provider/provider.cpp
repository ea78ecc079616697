#include "provider.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "korch/base/error.h"
#include "read_graph.h"
#include "subgraph.h"
#include "support.h"

namespace korch::ort {
namespace {

// Where each of `names` stands in `all`.
std::vector<size_t> places(const std::vector<std::string>& names, const std::vector<std::string>& all) {
  std::vector<size_t> result;
  for (const std::string& name : names) {
    const auto found = std::find(all.begin(), all.end(), name);
    KORCH_ASSERT(found != all.end(), "the fused node lacks " + name);
    result.push_back(static_cast<size_t>(found - all.begin()));
  }
  return result;
}

}  // namespace

Provider::Provider(const Api& api, const OrtLogger* logger, const Options& options)
    : OrtEp{},
      api_(api),
      logger_(api, logger),
      executables_(options, {[this](const std::string& text) { logger_.inform(text); },
                             [this](const std::string& text) { logger_.warn(text); }}) {
  ort_version_supported = kApiVersion;
  GetName = [](const OrtEp*) noexcept { return kProviderName; };
  GetCapability = [](OrtEp* self, const OrtGraph* graph, OrtEpGraphSupportInfo* support) noexcept {
    auto* provider = static_cast<Provider*>(self);
    return guarded(provider->api_, [&] { provider->get_capability(graph, support); });
  };
  Compile = [](OrtEp* self, const OrtGraph** graphs, const OrtNode** fused, size_t count,
               OrtNodeComputeInfo** infos, OrtNode**) noexcept {
    auto* provider = static_cast<Provider*>(self);
    return guarded(provider->api_, [&] {
      std::vector<std::unique_ptr<class Compute>> made;  // all, or none
      for (size_t i = 0; i < count; ++i) made.push_back(provider->compile(graphs[i], fused[i]));
      for (size_t i = 0; i < count; ++i) infos[i] = made[i].release();
    });
  };
  ReleaseNodeComputeInfos = [](OrtEp*, OrtNodeComputeInfo** infos, size_t count) noexcept {
    for (size_t i = 0; i < count; ++i) delete static_cast<class Compute*>(infos[i]);
  };
}

// Compiles what it takes, since a group can only be left to another provider before it is taken.
void Provider::get_capability(const OrtGraph* graph, OrtEpGraphSupportInfo* support_info) {
  const ReadGraph read = read_graph(api_, graph);
  const Support support = find_support(read.network);
  for (const std::string& line : describe_refusals(read.network, support)) logger_.warn(line);
  size_t groups = 0, taken = 0;
  for (const std::vector<int>& group : support.groups) {
    try {
      executables_.of(subgraph_of(read.network, group));
    } catch (const std::exception& error) {
      logger_.warn(fmt::format("not taken: {}: {}", describe_group(read.network, group), error.what()));
      continue;
    }
    std::vector<const OrtNode*> nodes;
    for (int node : group) nodes.push_back(read.nodes[node]);
    OrtNodeFusionOptions options{};
    options.ort_version_supported = kApiVersion;
    options.drop_constant_initializers = true;  // the executable has them
    check(api_,
          api_.ep->EpGraphSupportInfo_AddNodesToFuse(support_info, nodes.data(), nodes.size(), &options));
    ++groups;
    taken += nodes.size();
  }
  logger_.inform(fmt::format("takes {} of {} nodes, in {} subgraphs", taken, read.nodes.size(), groups));
}

std::unique_ptr<class Compute> Provider::compile(const OrtGraph* graph, const OrtNode* fused) {
  const ReadGraph read = read_graph(api_, graph);
  std::vector<int> all(read.nodes.size());
  std::iota(all.begin(), all.end(), 0);
  const Subgraph subgraph = subgraph_of(read.network, all);
  return std::make_unique<class Compute>(api_, executables_.of(subgraph),
                                         places(subgraph.inputs, input_names(api_, fused)),
                                         places(subgraph.outputs, output_names(api_, fused)));
}

}  // namespace korch::ort
