#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "korch/base/error.h"
#include "korch/base/text_cursor.h"
#include "korch/block/known_groups.h"

namespace korch::block {
namespace {

constexpr int64_t kMostExtent = int64_t{1} << 40;

// Of a graph without grid and loops.
Terms terms_of(const BlockGraph& group) {
  Terms terms{group.axes, group.leaves, {}, {}};
  std::vector<int> of_step;
  const auto of = [&](int step) { return of_step[static_cast<size_t>(step)]; };
  for (const Step& step : group.steps) {
    std::vector<int> args;
    for (int arg : step.args) args.push_back(of(arg));
    switch (step.kind) {
      case Step::Kind::leaf:
        of_step.push_back(terms.leaf(step.leaf));
        break;
      case Step::Kind::number:
        of_step.push_back(terms.number(step.number));
        break;
      case Step::Kind::call:
        of_step.push_back(terms.call(step.op, args, step.scalars));
        break;
      case Step::Kind::fold:
        of_step.push_back(terms.fold(step.combine, step.over, args[0]));
        break;
      case Step::Kind::window:
        of_step.push_back(terms.at(step.window, args[0]));
        break;
      case Step::Kind::before:  // of an accumulator, and there is none without a loop: a fault
        break;
    }
  }
  for (int result : group.results) terms.results.push_back(of(result));
  return terms;
}

bool is_in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

class BlockParser : TextCursor {
 public:
  explicit BlockParser(std::string_view text) : TextCursor(text) {}

  BlockGraph parse() {
    BlockGraph found = graph("block");
    if (!at_end()) fail("text after the block graph");
    if (const std::string fault = fault_in(found); !fault.empty()) throw Error(ErrorKind::invalid, fault);
    return found;
  }

  std::vector<KnownGroup> known_groups() {
    std::vector<KnownGroup> groups;
    while (!at_end()) {
      KnownGroup& known = groups.emplace_back();
      const BlockGraph group = without_fault(graph("group"));
      if (group.grid != 0 || !group.loops.empty()) fail("a group has no grid and no loop");
      known.group = terms_of(group);
      for (size_t i = 0; i + 1 < groups.size(); ++i)
        if (structure_text(groups[i].group) == structure_text(known.group)) fail("this group stands twice");
      do known.structures.push_back(of_group(group, without_fault(graph("block"))));
      while (!at_end() && peek() != "group");
    }
    return groups;
  }

 private:
  BlockGraph graph(std::string_view head) {
    graph_ = {};
    expect_word(head);
    expect("{");
    expect_word("axes");
    do axis();
    while (accept(","));
    while (accept_word("leaf")) leaf();
    while (!accept("}")) {
      if (accept_word("result"))
        graph_.results.push_back(step_number());
      else if (accept_word("loop"))
        loop();
      else
        step(static_cast<int>(2 * graph_.loops.size()));
    }
    return std::move(graph_);
  }
  BlockGraph without_fault(BlockGraph graph) {
    if (const std::string fault = fault_in(graph); !fault.empty()) fail("what ends here is none: " + fault);
    return graph;
  }
  BlockGraph of_group(const BlockGraph& group, BlockGraph graph) {
    if (graph.axes != group.axes) fail("the block graph that ends here has other axes than its group");
    if (graph.leaves != group.leaves) fail("the block graph that ends here has other leaves than its group");
    return graph;
  }

  std::string peek() {
    skip_space();
    size_t end = at_;
    while (end < text_.size() && is_in_word(text_[end])) ++end;
    return std::string(text_.substr(at_, end - at_));
  }
  std::string word() {
    const std::string found = peek();
    if (found.empty()) fail("a word is missing");
    at_ += found.size();
    return found;
  }
  bool accept_word(std::string_view token) {
    if (peek() != token) return false;
    at_ += token.size();
    return true;
  }
  void expect_word(std::string_view token) {
    if (!accept_word(token)) fail(fmt::format("'{}' is missing", token));
  }
  template <typename T>
  T number_in(std::string_view text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      fail(fmt::format("'{}' is no number", text));
    return value;
  }
  double real() {
    skip_space();
    size_t end = at_;
    while (end < text_.size() && (is_in_word(text_[end]) || text_[end] == '-' || text_[end] == '+')) ++end;
    const auto value = number_in<double>(text_.substr(at_, end - at_));
    at_ = end;
    return value;
  }
  int64_t integer() {
    skip_space();
    size_t end = at_;
    while (end < text_.size() && (is_in_word(text_[end]) || text_[end] == '-')) ++end;
    const auto value = number_in<int64_t>(text_.substr(at_, end - at_));
    if (value > kMostExtent || value < -kMostExtent) fail("a number that no axis has");
    at_ = end;
    return value;
  }
  int step_number() {
    expect("%");
    const auto number = number_in<int>(word());
    if (number >= static_cast<int>(graph_.steps.size())) fail(fmt::format("there is no %{} yet", number));
    return number;
  }

  void axis() {
    Axis axis{word(), 0};
    if (axis_named(axis.name) >= 0) fail(fmt::format("the axis '{}' twice", axis.name));
    if (graph_.axes.size() >= kMostAxes) fail(fmt::format("more than {} axes", kMostAxes));
    if (!peek().empty() && peek()[0] >= '0' && peek()[0] <= '9') {
      axis.extent = number_in<int64_t>(word());
      if (axis.extent < 1 || axis.extent > kMostExtent) fail("an extent that is none");
    }
    if (accept_word("grid")) graph_.grid |= axis_set(static_cast<int>(graph_.axes.size()));
    graph_.axes.push_back(std::move(axis));
  }
  int axis_named(std::string_view name) const {
    for (size_t i = 0; i < graph_.axes.size(); ++i)
      if (graph_.axes[i].name == name) return static_cast<int>(i);
    return -1;
  }
  int known_axis() {
    const std::string name = word();
    const int axis = axis_named(name);
    if (axis < 0) fail(fmt::format("there is no axis '{}'", name));
    return axis;
  }

  void leaf() {
    graph_.leaf_names.push_back(word());
    Leaf leaf;
    if (!parse_dtype(word(), &leaf.type)) fail("a leaf of no type");
    leaf.constant = accept_word("constant");
    expect("[");
    if (!accept("]")) {
      do leaf.axes |= axis_set(known_axis());
      while (accept(","));
      expect("]");
    }
    graph_.leaves.push_back(leaf);
  }

  void loop() {
    graph_.loops.push_back(known_axis());
    expect("{");
    while (!accept("}")) step(static_cast<int>(2 * graph_.loops.size()) - 1);
  }

  void step(int place) {
    expect("%");
    if (number_in<size_t>(word()) != graph_.steps.size())
      fail(fmt::format("%{} comes next", graph_.steps.size()));
    expect("=");
    Step step;
    step.place = place;
    const std::string what = word();
    if (what == "load") {
      step.kind = Step::Kind::leaf;
      step.leaf = leaf_named(word());
    } else if (what == "number") {
      step.number = real();
    } else if (what == "before") {
      step.kind = Step::Kind::before;
      step.args = {step_number()};
    } else if (what == "at") {
      window(step);
    } else if (what == "sum" || what == "mul" || what == "min" || what == "max") {
      fold(what, step);
    } else {
      call(what, step);
    }
    try {
      complete(graph_, step);
    } catch (const Error& error) {
      fail(error.what());
    }
    graph_.steps.push_back(std::move(step));
  }
  int leaf_named(const std::string& name) {
    for (size_t i = 0; i < graph_.leaf_names.size(); ++i)
      if (graph_.leaf_names[i] == name) return static_cast<int>(i);
    fail(fmt::format("there is no leaf '{}'", name));
  }
  void fold(std::string_view what, Step& step) {
    step.kind = Step::Kind::fold;
    for (ScalarFn fn : {ScalarFn::add, ScalarFn::mul, ScalarFn::min, ScalarFn::max})
      if (what == name_of_fold(fn)) step.combine = fn;
    do step.over |= axis_set(known_axis());
    while (accept(","));
    step.args = {step_number()};
    if (accept_word("rescaled")) step.rescale = step_number();
  }
  // y = 2 h + 1 i + -1 of %4
  void window(Step& step) {
    step.kind = Step::Kind::window;
    step.window.of = known_axis();
    expect("=");
    for (;;) {
      const int64_t number = integer();
      if (peek() == "of") {
        step.window.offset = number;
        break;
      }
      step.window.parts.push_back({known_axis(), number});
      expect("+");
    }
    expect_word("of");
    step.args = {step_number()};
  }
  void call(const std::string& what, Step& step) {
    step.kind = Step::Kind::call;
    const std::optional<Op> op = parse_op(what);
    if (!op || info(*op).category != Category::elementwise || *op == Op::Cast)
      fail(fmt::format("'{}' is no step", what));
    step.op = *op;
    expect("(");
    do step.args.push_back(step_number());
    while (accept(","));
    expect(")");
    if (static_cast<int>(step.args.size()) != info(*op).min_inputs)
      fail(fmt::format("{} has {} operands", what, info(*op).min_inputs));
    if (!accept_word("alpha")) return;
    step.scalars.alpha = real();
    expect_word("beta");
    step.scalars.beta = real();
  }

  BlockGraph graph_;
};

}  // namespace

BlockGraph parse_block_graph(std::string_view text) {
  return BlockParser(text).parse();
}

std::vector<KnownGroup> parse_known_groups(std::string_view text) {
  return BlockParser(text).known_groups();
}

}  // namespace korch::block
