#include "korch/fission/fission.h"

#include "korch/fission/rules.h"
#include "korch/fission/simplify.h"
#include "korch/fission/storage.h"
#include "korch/fission/widen.h"

namespace korch {
namespace {

// Where each Value of the imported Graph is in the new one.
using ValueMap = std::vector<ValueId>;

Inputs mapped(const ValueMap& map, const std::vector<ValueId>& values) {
  Inputs result;
  for (ValueId value : values) result.push_back(map[value]);
  return result;
}

void copy_node(const Graph& from, const Node& node, Graph& to, ValueMap& map) {
  const std::string& first_name = from.value(node.outputs[0]).name;
  if (node.op == Op::Constant) {
    map[node.outputs[0]] =
        to.add_constant(std::get<ConstantAttrs>(node.attrs).value, first_name, node.origins);
    return;
  }
  const NodeId copy = to.add_node(node.op, node.attrs, mapped(map, node.inputs), node.origins, first_name);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    map[node.outputs[i]] = to.node(copy).outputs[i];
    to.rename(map[node.outputs[i]], from.value(node.outputs[i]).name);
  }
}

void apply_rule(const FissionRule& rule, const Graph& from, const Node& node, Graph& to, ValueMap& map) {
  const Value& old_value = from.value(node.outputs[0]);
  const Inputs inputs = mapped(map, node.inputs);
  Emitter emitter(to, node, old_value.name);
  const size_t values_before = to.value_count();
  const ValueId result = rule.replace(emitter, node, inputs);
  KORCH_ASSERT(to.value(result).type == old_value.type, std::string(name(node.op)) + " became " +
                                                            to_string(to.value(result).type) +
                                                            " instead of " + to_string(old_value.type));
  if (result >= values_before) to.rename(result, old_value.name);
  map[node.outputs[0]] = result;
}

}  // namespace

Graph apply_fission_rules(const Graph& imported) {
  Graph result;
  ValueMap map(imported.value_count(), kNoId);
  for (ValueId input : imported.inputs()) {
    map[input] = result.add_input(imported.value(input).type, imported.value(input).name);
  }
  std::string refusals;
  for (NodeId id : imported.topological_order()) {
    const Node& node = imported.node(id);
    const FissionRule* rule = find_fission_rule(node);
    if (rule == nullptr) {
      KORCH_ASSERT(is_primitive(node.op), std::string("no fission rule for ") + name(node.op));
      copy_node(imported, node, result, map);
      continue;
    }
    try {
      apply_rule(*rule, imported, node, result, map);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::unsupported) throw;
      refusals += (refusals.empty() ? "" : "\n") + std::string(error.what());
      // Stands in for the refused result, so that all refusals are found in one go.
      const Value& value = imported.value(node.outputs[0]);
      map[node.outputs[0]] = result.add_input(value.type, value.name);
    }
  }
  if (!refusals.empty()) throw Error(ErrorKind::unsupported, refusals);
  result.set_outputs(mapped(map, imported.outputs()), imported.output_names(), imported.extents());
  result.set_open_dimensions(imported.open_dimensions());
  result.set_states(imported.states());
  result.remove_dead_nodes();
  return result;
}

Graph fission(const Graph& imported) {
  Graph wide = imported;
  lower_storage_types(wide);
  widen_small_floats(wide);
  Graph graph = apply_fission_rules(wide);
  verify(graph, GraphForm::primitive);
  simplify(graph);
  verify(graph, GraphForm::primitive);
  return graph.compact();
}

}  // namespace korch
