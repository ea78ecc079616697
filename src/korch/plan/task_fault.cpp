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
  if (step.launches != nullptr) return task.end <= step.launches->shares;
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

bool order_fits(const TaskTable& table, uint32_t* counts) {
  uint32_t end = 0;
  for (uint32_t w = 0; w < table.workers; ++w) {
    if (table.ends[w] < end) return false;
    end = table.ends[w];
  }
  if (end != table.task_count) return false;
  for (uint32_t i = 0; i < table.task_count; ++i)
    if (table.order[i] >= table.task_count || ++counts[table.order[i]] > 1) return false;
  return true;
}

// Runs what is assigned to the workers, who take turns. `counts`: of each event how often it is triggered.
class Rehearsal {
 public:
  Rehearsal(const TaskTable& table, uint32_t* counts, uint32_t* fired, uint32_t* done)
      : table_(table), counts_(counts), fired_(fired), done_(done) {}

  bool ends() {
    fired_[count_++] = 0;
    go_on();
    uint32_t left = table_.task_count;
    for (bool any = true; any && left > 0;) {
      any = false;
      for (uint32_t w = 0; w < table_.workers; ++w)
        for (const uint32_t first = w == 0 ? 0 : table_.ends[w - 1]; first + done_[w] < table_.ends[w];
             --left) {
          const SliceTask& task = table_.tasks[table_.order[first + done_[w]]];
          if (counts_[task.waits] != 0) break;
          trigger(task.first_trigger, task.trigger_count);
          go_on();
          ++done_[w];
          any = true;
        }
    }
    return left == 0;
  }

 private:
  void trigger(uint32_t first, uint32_t count) {
    for (uint32_t i = first; i < first + count; ++i)
      if (--counts_[table_.triggers[i]] == 0) fired_[count_++] = table_.triggers[i];
  }
  void go_on() {
    while (count_ > 0) {
      const TaskEvent& event = table_.events[fired_[--count_]];
      trigger(event.first_trigger, event.trigger_count);
    }
  }

  const TaskTable& table_;
  uint32_t* counts_;
  uint32_t* fired_;  // events that have not triggered others yet
  uint32_t count_ = 0;
  uint32_t* done_;  // by worker
};

uint32_t larger(uint32_t a, uint32_t b) {
  return a > b ? a : b;
}

}  // namespace

uint64_t task_fault_room(const TaskTable& table) {
  return uint64_t{table.event_count} + larger(table.task_count, table.event_count) + table.workers;
}

const char* task_fault(const Program& program, uint32_t* room) {
  const TaskTable& table = *program.tasks;
  uint32_t* counts = room + table.event_count;
  if (table.task_count < 1 || table.event_count < 2 || table.workers < 1) return "a number of tasks";
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
    const bool is_share = program.steps[task.step].launches != nullptr;
    if (is_share && task.phase == 0 && !waits_with_first_share(table, task)) return "a share";
  }
  memset(counts, 0, table.event_count * sizeof *counts);
  if (!events_fit(table, counts)) return "a trigger";
  memcpy(room, counts, table.event_count * sizeof *counts);
  memset(counts, 0, table.task_count * sizeof *counts);
  if (!order_fits(table, counts)) return "an assignment";
  uint32_t* done = counts + larger(table.task_count, table.event_count);
  memset(done, 0, table.workers * sizeof *done);
  return Rehearsal(table, room, counts, done).ends() ? "" : "a wait without end";
}

}  // namespace korch::rt
