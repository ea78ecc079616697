#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "korch/base/error.h"
#include "korch/base/text_cursor.h"
#include "korch/plan/task_graph.h"

namespace korch {
namespace {

class Parser : TextCursor {
 public:
  explicit Parser(std::string_view text) : TextCursor(text) {}

  TaskGraph parse() {
    TaskGraph graph;
    expect("tasks");
    expect("{");
    while (accept("event")) {
      if (number<size_t>() != graph.events.size()) fail("events stand in the order of their numbers");
      expect("of");
      Event event{number<int>(), {}};
      if (accept("then")) event.then = numbers();
      graph.events.push_back(std::move(event));
    }
    while (accept("task")) graph.tasks.push_back(task());
    expect("}");
    if (!at_end()) fail("nothing stands behind the tasks");
    const std::string fault = structural_fault(graph);
    if (!fault.empty()) throw Error(ErrorKind::invalid, "no task graph: " + fault);
    return graph;
  }

 private:
  Task task() {
    Task task;
    expect("step");
    task.step = number<int>();
    expect("phase");
    task.phase = number<int>();
    expect("slices");
    task.begin = number<int64_t>();
    expect("..");
    task.end = number<int64_t>();
    expect("us");
    task.cost_us = number<double>();
    expect("waits");
    task.waits = number<int>();
    expect("triggers");
    task.triggers = numbers();
    return task;
  }

  std::vector<int> numbers() {
    std::vector<int> result;
    do result.push_back(number<int>());
    while (accept(","));
    return result;
  }

  template <typename T>
  T number() {
    skip_space();
    const std::string_view rest = text_.substr(at_);
    T value{};
    const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (code != std::errc() || !(value >= 0)) fail("a number is missing that is not negative");
    at_ += static_cast<size_t>(end - rest.data());
    return value;
  }
};

}  // namespace

std::string print(const TaskGraph& graph) {
  std::string text = "tasks {\n";
  for (size_t i = 0; i < graph.events.size(); ++i) {
    const Event& event = graph.events[i];
    text += fmt::format("  event {} of {}", i, event.needed);
    if (!event.then.empty()) text += fmt::format(" then {}", fmt::join(event.then, ", "));
    text += "\n";
  }
  for (const Task& task : graph.tasks)
    text += fmt::format("  task step {} phase {} slices {}..{} us {} waits {} triggers {}\n", task.step,
                        task.phase, task.begin, task.end, task.cost_us, task.waits,
                        fmt::join(task.triggers, ", "));
  return text + "}\n";
}

TaskGraph parse_task_graph(std::string_view text) {
  return Parser(text).parse();
}

}  // namespace korch
