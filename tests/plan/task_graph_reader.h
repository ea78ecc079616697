// Reads the text of a task graph (plan/task_graph.h, print).
#pragma once

#include <charconv>
#include <string_view>

#include "korch/base/error.h"
#include "korch/base/text_cursor.h"
#include "korch/plan/task_graph.h"

namespace korch {

class TaskGraphReader : TextCursor {
 public:
  explicit TaskGraphReader(std::string_view text) : TextCursor(text) {}

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

// Throws Error{invalid} with the line and what is wrong. What it gives has no structural fault.
inline TaskGraph parse_task_graph(std::string_view text) {
  return TaskGraphReader(text).parse();
}

}  // namespace korch
