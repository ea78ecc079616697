#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

#include "cli.h"
#include "korch/base/error.h"
#include "korch/base/files.h"
#include "korch/base/stopwatch.h"
#include "korch/fission/fission.h"
#include "korch/groups/workloads.h"
#include "korch/ir/text.h"
#include "korch/onnx/import.h"
#include "korch/rewrite/alternatives.h"
#include "korch/structures/describe.h"
#include "verbs.h"

namespace korch {
namespace {

struct SearchArguments {
  std::string file, check, write;
  std::vector<std::string> shapes, bounds;
  int structures = 4;
  bool json = false;
};

struct Group {
  std::string operators;
  groups::GroupTerms terms;
  double saved_us = 0, fused_us = 0;
  int places = 1;  // of the network, with these terms
};

// A text of primitives is one group; of a network, those that a compilation searches for.
std::vector<Group> group_of_text(const std::string& path) {
  const Graph graph = parse_graph(read_file(path));
  verify(graph, GraphForm::primitive);
  std::vector<NodeId> nodes;
  for (NodeId id = 0; id < static_cast<NodeId>(graph.node_count()); ++id)
    if (!graph.node(id).dead && graph.node(id).op != Op::Constant) nodes.push_back(id);
  const Candidate whole = make_candidate(graph, nodes, graph.outputs());
  Result<groups::GroupTerms> terms = groups::terms_of(graph, whole);
  if (!terms.ok()) throw Error(ErrorKind::unsupported, "no group to search for: " + terms.refusal().detail);
  return {{operators_text(graph, whole.nodes), std::move(terms).value()}};
}

std::vector<Group> groups_of_network(const SearchArguments& arguments) {
  const ModelFile model(arguments.file);
  ImportOptions options;
  parse_shapes(arguments.shapes, &options.shapes, &options.least_shapes);
  options.value_bounds = parse_bounds(arguments.bounds);
  const Device device = with_nominal_speeds(detect_device("native", 1));
  // What a compilation looks at.
  const Graph graph = add_alternatives(fission(import_onnx(model.path(), options)),
                                       {.bytes = device.multiplies_bytes, .alternatives = false})
                          .base;
  groups::Workloads workloads = groups::find_workloads(graph, device);
  std::vector<Group> found;
  std::map<std::string, size_t> known;
  for (groups::Workload& workload : workloads.groups) {
    const auto [place, is_new] = known.try_emplace(block::structure_text(workload.group.terms), found.size());
    if (is_new)
      found.push_back({operators_text(graph, workload.candidate.nodes), std::move(workload.group),
                       workload.saved_us, workload.fused_us});
    else
      ++found[place->second].places;
  }
  return found;
}

bool is_text(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line) && (line.empty() || line.starts_with("//"))) continue;
  return line.starts_with("graph {");
}

// Those of a file that is there stay as they are; groups that it lacks are added.
class KnownGroupsFile {
 public:
  explicit KnownGroupsFile(std::string path) : path_(std::move(path)) {
    if (path_.empty()) return;
    require_writable(path_);
    if (std::filesystem::exists(path_)) text_ = read_file(path_);
    for (const block::KnownGroup& known : block::parse_known_groups(text_))
      known_.insert(block::structure_text(known.group));
  }
  void add(const block::Terms& group, const structures::Searched& searched) {
    if (path_.empty() || searched.accepted.empty() || !known_.insert(searched.group).second) return;
    block::KnownGroup known{group, {}};
    for (const structures::Structure& structure : searched.accepted)
      known.structures.push_back(structure.graph);
    text_ += block::print(known);
  }
  void write() const {
    if (!path_.empty()) write_file(path_, text_);
  }

 private:
  std::string path_, text_;
  std::set<std::string> known_;
};

// A block graph by hand, of the only group.
void check_by_hand(const SearchArguments& arguments, const std::vector<Group>& found) {
  if (found.size() != 1)
    throw Error(ErrorKind::usage, fmt::format("--check is of one group, {} has {}: give the text of its "
                                              "primitives",
                                              arguments.file, found.size()));
  const block::Terms& terms = found[0].terms.terms;
  block::BlockGraph graph = block::parse_block_graph(read_file(arguments.check));
  if (graph.axes.size() != terms.axes.size() || graph.leaves != terms.leaves)
    throw Error(ErrorKind::invalid, fmt::format("{}: axes or leaves of another group, whose terms are\n{}",
                                                arguments.check, block::structure_text(terms)));
  for (size_t i = 0; i < graph.axes.size(); ++i) graph.axes[i].extent = terms.axes[i].extent;
  const structures::Checked checked = structures::check_structure(terms, graph);
  if (arguments.json)
    print_json({{"accepted", checked.accepted},
                {"why", checked.why},
                {"tests", checked.field.tests},
                {"error_bound", checked.field.error_bound},
                {"error", checked.error}});
  else
    fmt::print("{}\n", structures::describe(checked));
  if (!checked.accepted) throw Error(ErrorKind::accuracy, "the block graph is refused");
}

void run_search(const SearchArguments& arguments) {
  const std::vector<Group> found =
      is_text(arguments.file) ? group_of_text(arguments.file) : groups_of_network(arguments);
  if (!arguments.check.empty()) return check_by_hand(arguments, found);
  structures::StructureBook book;
  KnownGroupsFile file(arguments.write);
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (size_t i = 0; i < found.size(); ++i) {
    const Group& group = found[i];
    const Stopwatch watch;
    const structures::Searched& searched = book.find(group.terms.terms, {.structures = arguments.structures});
    file.add(group.terms.terms, searched);
    if (arguments.json) {
      nlohmann::ordered_json accepted = nlohmann::ordered_json::array();
      for (const structures::Structure& s : searched.accepted) accepted.push_back(block::print(s.graph));
      all.push_back({{"operators", group.operators},
                     {"places", group.places},
                     {"seconds", watch.seconds()},
                     {"saturated", searched.log.saturation.saturated},
                     {"generated", searched.log.generated},
                     {"pruned", searched.log.pruned},
                     {"checked", searched.checked},
                     {"refused", searched.refused},
                     {"structures", accepted}});
      continue;
    }
    fmt::print("{}group {} of {}: {}, in {} place{}", i == 0 ? "" : "\n", i + 1, found.size(),
               group.operators, group.places, group.places == 1 ? "" : "s");
    if (group.saved_us > 0)
      fmt::print("; saves at most {:.0f} us beside {:.0f}", group.saved_us, group.fused_us);
    fmt::print("\n{}{:.1f} s\n", structures::describe(searched), watch.seconds());
  }
  file.write();
  if (arguments.json)
    print_json(all);
  else if (found.empty())
    fmt::print("no group around a value that memory bounds\n");
}

}  // namespace

void add_search_verb(CommandLine& command_line) {
  auto arguments = std::make_shared<SearchArguments>();
  Options verb = command_line.verb(
      "search",
      "which kernels does a search over block graphs find for a network's groups, and why no others");
  verb.option("file", arguments->file,
              "a network, an .onnx file; or the text of a graph of primitives, which is one group")
      .required();
  verb.option("--check", arguments->check, "check the block graph in this file in place of searching");
  verb.option(
      "--write", arguments->write,
      "add what is accepted to this file, which korch compile --block-graphs takes; groups that it has "
      "stay as they are");
  verb.option("--structures", arguments->structures, "block graphs that are accepted, of each group")
      .between(1, 100)
      .default_shown();
  verb.option("--shape", arguments->shapes, "fix the shape of an input: NAME=1x3x224x224 (repeatable)");
  verb.option("--bound", arguments->bounds, kBoundHelp);
  verb.flag("--json", arguments->json, "print the result as JSON");
  verb.runs([arguments] { run_search(*arguments); });
}

}  // namespace korch
