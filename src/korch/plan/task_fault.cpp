#include "korch/plan/task_fault.h"

#include <string.h>

namespace korch::rt {
namespace {

bool is_of_event(const TaskTable& table, uint32_t task) {
  const TaskEvent& event = table.events[table.tasks[task].waits];
  return task >= event.first_task && task - event.first_task < event.task_count;
}

// Who fires the event of a step's first share chooses how the step is run.
bool waits_with_first_share(const TaskTable& table, const SliceTask& task) {
  const TaskEvent& event = table.events[task.waits];
  for (uint32_t t = event.first_task; t < event.first_task + event.task_count; ++t) {
    const SliceTask& other = table.tasks[t];
    if (other.step == task.step && other.phase == 0 && other.begin == 0) return true;
  }
  return false;
}

bool has_slices(const Program& program, const SliceTask& task) {
  if (task.step >= program.step_count || task.begin < 0 || task.begin >= task.end) return false;
  const Step& step = program.steps[task.step];
  if (step.variants != nullptr) return task.end <= step.variants->shares;
  if (task.phase >= step.phase_count) return false;
  const Phase& phase = step.phases[task.phase];
  return task.begin >= phase.first && task.end <= phase.first + phase.grid;
}

// Their triggers stand one after the other, `*first` being the next one's place.
bool count_triggers(const TaskTable& table, uint32_t begin, uint32_t count, uint32_t* first,
                    uint32_t* counts) {
  if (begin != *first || count > table.event_count) return false;
  for (uint32_t i = begin; i < begin + count; ++i) {
    if (table.triggers[i] >= table.event_count) return false;
    ++counts[table.triggers[i]];
  }
  *first += count;
  return true;
}

bool events_fit(const TaskTable& table, uint32_t* counts) {
  uint32_t first = 0;
  for (uint32_t t = 0; t < table.task_count; ++t)
    if (!count_triggers(table, table.tasks[t].first_trigger, table.tasks[t].trigger_count, &first, counts))
      return false;
  for (uint32_t e = 0; e < table.event_count; ++e)
    if (!count_triggers(table, table.events[e].first_trigger, table.events[e].trigger_count, &first, counts))
      return false;
  for (uint32_t e = 0; e < table.event_count; ++e)
    if (table.events[e].needed != counts[e] || (counts[e] == 0) != (e == 0)) return false;
  return table.events[table.event_count - 1].task_count == 0;
}

// Whether each event fires, so that nothing waits in a circle. `counts`: of each how often it is triggered.
bool all_fire(const TaskTable& table, uint32_t* counts, uint32_t* fired) {
  uint32_t count = 0, seen = 0;  // fired, and of these such whose triggers are counted
  const auto trigger = [&](uint32_t first, uint32_t triggers) {
    for (uint32_t i = first; i < first + triggers; ++i)
      if (--counts[table.triggers[i]] == 0) fired[count++] = table.triggers[i];
  };
  for (fired[count++] = 0; seen < count; ++seen) {
    const TaskEvent& event = table.events[fired[seen]];
    trigger(event.first_trigger, event.trigger_count);
    for (uint32_t t = event.first_task; t < event.first_task + event.task_count; ++t)
      trigger(table.tasks[t].first_trigger, table.tasks[t].trigger_count);
  }
  return count == table.event_count;
}

}  // namespace

uint64_t task_fault_room(const TaskTable& table) {
  return 2 * uint64_t{table.event_count};
}

const char* task_fault(const Program& program, uint32_t* room) {
  const TaskTable& table = *program.tasks;
  uint32_t* counts = room + table.event_count;
  if (table.task_count < 1 || table.event_count < 2) return "a number of tasks";
  uint64_t tasks = 0;
  for (uint32_t e = 0; e < table.event_count; ++e) {
    const TaskEvent& event = table.events[e];
    if (event.first_task > table.task_count || event.task_count > table.task_count - event.first_task)
      return "an event";
    tasks += event.task_count;
  }
  if (tasks != table.task_count) return "an event";
  for (uint32_t t = 0; t < table.task_count; ++t) {
    const SliceTask& task = table.tasks[t];
    if (!has_slices(program, task) || task.waits >= table.event_count || !is_of_event(table, t))
      return "a task";
    const bool is_share = program.steps[task.step].variants != nullptr;
    if (is_share && task.phase == 0 && !waits_with_first_share(table, task)) return "a share";
  }
  memset(counts, 0, table.event_count * sizeof *counts);
  if (!events_fit(table, counts)) return "a trigger";
  return all_fire(table, counts, room) ? "" : "a wait without end";
}

}  // namespace korch::rt
