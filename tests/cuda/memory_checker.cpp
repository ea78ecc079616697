#include "memory_checker.h"

#include <algorithm>

namespace korch::testing {
namespace {

constexpr unsigned kWarpLanes = 32;
constexpr size_t kMostWarps = 32;
constexpr size_t kWordBytes = 4;  // what most accesses are multiples of

size_t cells_for(size_t bytes) {
  return (bytes + kWordBytes - 1) / kWordBytes;
}

}  // namespace

const char* name(Mistake mistake) {
  switch (mistake) {
    case Mistake::outside:
      return "outside";
    case Mistake::unwritten:
      return "unwritten";
    case Mistake::misaligned:
      return "misaligned";
    case Mistake::race:
      return "race";
    case Mistake::race_of_blocks:
      return "race of blocks";
    case Mistake::parted:
      return "parted";
    case Mistake::endless:
      return "endless";
  }
  return "";
}

void MemoryChecker::add(uintptr_t begin, size_t bytes) {
  global_[begin] = {{begin, bytes, ""}, Kind::global, kWordBytes, 0, std::vector<Cell>(cells_for(bytes))};
}

void MemoryChecker::remove(uintptr_t begin) {
  global_.erase(begin);
  launched_.clear();
  last_ = nullptr;
}

// Null: in no allocation.
MemoryChecker::Memory* MemoryChecker::find_global(uintptr_t address) {
  const auto after = global_.upper_bound(address);
  if (after == global_.begin()) return nullptr;
  Memory& memory = std::prev(after)->second;  // of no bytes: its begin is inside
  return address < memory.range.begin + std::max<size_t>(memory.range.bytes, 1) ? &memory : nullptr;
}

void MemoryChecker::written_by_host(uintptr_t begin, size_t bytes) {
  Memory* memory = find_global(begin);
  if (memory == nullptr) return;
  const size_t first = begin - memory->range.begin, end = std::min(first + bytes, memory->range.bytes);
  const size_t unit = memory->unit;
  if (unit > 1 && (first % unit != 0 || (end % unit != 0 && end != memory->range.bytes))) split(*memory);
  for (size_t i = first / memory->unit; i < (end + memory->unit - 1) / memory->unit; ++i)
    memory->cells[i].is_written = true;
}

void MemoryChecker::read_by_host(uintptr_t begin, size_t bytes) {
  const Memory* memory = find_global(begin);
  if (memory == nullptr) return;
  const size_t first = begin - memory->range.begin;
  for (size_t at = first; at < std::min(first + bytes, memory->range.bytes); at += memory->unit)
    if (!memory->cells[at / memory->unit].is_written)
      return report(Mistake::unwritten, memory->range.name + " by the host",
                    "the host reads " + memory->range.name + " at " + std::to_string(at));
}

void MemoryChecker::split(Memory& memory) {
  std::vector<Cell> cells(memory.range.bytes);
  for (size_t i = 0; i < cells.size(); ++i) cells[i] = memory.cells[i / memory.unit];
  memory.cells = std::move(cells);
  memory.unit = 1;
}

void MemoryChecker::begin_launch(const LaunchMemory& memory, const std::vector<MemoryRange>& shared,
                                 const std::vector<MemoryRange>& ignored) {
  launch_ = memory;
  ignored_ = ignored;
  ++launches_;
  first_of_launch_ = ++interval_;
  steps_ = 0;
  last_ = nullptr;
  launched_.clear();
  for (size_t i = 0; i < memory.arguments.size(); ++i) {
    const uintptr_t argument = memory.arguments[i];
    Memory* const found = find_global(argument);
    if (found == nullptr) continue;
    Memory& given = *found;
    given.kind = argument == launch_.workspace ? Kind::workspace
                 : argument == launch_.status  ? Kind::status
                                               : Kind::global;
    given.range.name = "argument " + std::to_string(i);
    given.number = static_cast<int>(i);
    if (given.kind == Kind::workspace) std::fill(given.cells.begin(), given.cells.end(), Cell{});
    launched_.push_back(&given);
  }
  shared_.clear();
  for (size_t i = 0; i < shared.size(); ++i)
    shared_.push_back({shared[i], Kind::shared, kWordBytes, kFirstShared + static_cast<int>(i), {}});
  for (Memory& array : shared_) launched_.push_back(&array);
  std::sort(launched_.begin(), launched_.end(),
            [](const Memory* a, const Memory* b) { return a->range.begin < b->range.begin; });
  launched_.erase(std::unique(launched_.begin(), launched_.end()), launched_.end());
}

void MemoryChecker::begin_block(int64_t block) {
  block_ = block;
  first_of_block_ = ++interval_;
  turns_.assign(kMostWarps, 0);
  for (Memory& array : shared_) {
    array.unit = kWordBytes;
    array.cells.assign(cells_for(array.range.bytes), Cell{});
  }
}

void MemoryChecker::barrier() {
  ++interval_;
  std::fill(turns_.begin(), turns_.end(), uint16_t{0});
}

bool MemoryChecker::step() {
  if (++steps_ <= most_steps_) return true;
  report(Mistake::endless, "", "more than " + std::to_string(most_steps_) + " accesses and barriers");
  return false;
}

MemoryChecker::Memory* MemoryChecker::find(uintptr_t address) {
  const auto holds = [&](const Memory* memory) {
    return address >= memory->range.begin && address < memory->range.begin + memory->range.bytes;
  };
  if (last_ != nullptr && holds(last_)) return last_;
  const auto after =
      std::upper_bound(launched_.begin(), launched_.end(), address,
                       [](uintptr_t at, const Memory* memory) { return at < memory->range.begin; });
  if (after == launched_.begin() || !holds(*std::prev(after))) return nullptr;
  return last_ = *std::prev(after);
}

bool MemoryChecker::is_ignored(uintptr_t address) const {
  return std::any_of(ignored_.begin(), ignored_.end(), [&](const MemoryRange& range) {
    return address >= range.begin && address < range.begin + range.bytes;
  });
}

bool MemoryChecker::is_inside(const MemoryAccess& access, const Memory& memory) const {
  const uintptr_t at = access.address - memory.range.begin, end = at + access.bytes;
  if (memory.kind != Kind::workspace) return end <= memory.range.bytes;
  const uintptr_t begin =
      launch_.workspace - memory.range.begin + static_cast<uintptr_t>(block_) * launch_.workspace_bytes;
  return end <= memory.range.bytes && at >= begin && end <= begin + launch_.workspace_bytes;
}

void MemoryChecker::trace(const MemoryAccess& access, const Memory& memory) {
  trace_->push_back({launches_, block_, interval_, access.thread, memory.number,
                     access.address - memory.range.begin, access.bytes, access.writes,
                     memory.kind == Kind::shared || memory.kind == Kind::workspace,
                     memory.kind == Kind::status});
}

bool MemoryChecker::access(const MemoryAccess& access) {
  Memory* memory = find(access.address);
  if (memory == nullptr && is_ignored(access.address)) return true;
  if (memory == nullptr) {
    report(Mistake::outside, "",
           "thread " + std::to_string(access.thread) + " of block " + std::to_string(block_) +
               (access.writes ? " writes " : " reads ") + std::to_string(access.bytes) +
               " bytes where nothing is");
    return false;
  }
  if (!is_inside(access, *memory)) {
    report(Mistake::outside, access, *memory, "");
    return false;
  }
  if (access.needs_alignment && access.address % access.bytes != 0) {
    report(Mistake::misaligned, access, *memory, "");
    return false;
  }
  if (!step()) return false;
  if (trace_ != nullptr) trace(access, *memory);
  const uintptr_t at = access.address - memory->range.begin;
  if (memory->unit > 1 && (at | access.bytes) % memory->unit != 0) split(*memory);
  for (size_t i = at / memory->unit; i < (at + access.bytes) / memory->unit; ++i) {
    if (access.writes)
      write(access, *memory, memory->cells[i]);
    else
      read(access, *memory, memory->cells[i]);
  }
  if (counts_accesses_ && access.site != nullptr)
    warp_accesses_.add(access.site, access.thread % kWarpLanes, access.address, access.bytes,
                       memory->kind == Kind::shared);
  return true;
}

// Whether what `thread` did in this interval is before what the thread `now` does.
bool MemoryChecker::in_order(uint16_t thread, uint16_t turn, unsigned now) const {
  return thread == now || (thread / kWarpLanes == now / kWarpLanes && turn < turns_[now / kWarpLanes]);
}

void MemoryChecker::read(const MemoryAccess& access, const Memory& memory, Cell& cell) {
  const auto thread = static_cast<uint16_t>(access.thread);
  const uint16_t turn = turns_[thread / kWarpLanes];
  if (!cell.is_written) report(Mistake::unwritten, access, memory, "");
  if (cell.written_at >= first_of_launch_ && cell.written_at < first_of_block_)
    report(Mistake::race_of_blocks, access, memory, ", which another block wrote");
  else if (cell.written_at == interval_ && !in_order(cell.writer, cell.writer_turn, thread))
    report(Mistake::race, access, memory, ", which thread " + std::to_string(cell.writer) + " wrote");
  if (cell.read_at != interval_) {
    cell.many_blocks =
        cell.read_at >= first_of_launch_ && (cell.many_blocks || cell.read_at < first_of_block_);
    cell.many_threads = cell.many_warps = false;
  } else if (cell.reader / kWarpLanes != thread / kWarpLanes) {
    cell.many_warps = true;
    cell.many_threads = false;
  } else {
    cell.many_threads = cell.reader_turn == turn && (cell.many_threads || cell.reader != thread);
  }
  cell.read_at = interval_;
  cell.reader = thread;
  cell.reader_turn = turn;
}

void MemoryChecker::write(const MemoryAccess& access, const Memory& memory, Cell& cell) {
  const auto thread = static_cast<uint16_t>(access.thread);
  const uint16_t turn = turns_[thread / kWarpLanes];
  if (memory.kind != Kind::status) {
    const bool wrote = cell.written_at >= first_of_launch_, has_read = cell.read_at >= first_of_launch_;
    if ((wrote && cell.written_at < first_of_block_) ||
        (has_read && (cell.read_at < first_of_block_ || cell.many_blocks)))
      report(Mistake::race_of_blocks, access, memory, ", which another block accesses");
    if (cell.written_at == interval_ && !in_order(cell.writer, cell.writer_turn, thread))
      report(Mistake::race, access, memory, ", which thread " + std::to_string(cell.writer) + " wrote");
    if (cell.read_at == interval_ && (cell.many_warps || !in_order(cell.reader, cell.reader_turn, thread) ||
                                      (cell.many_threads && cell.reader_turn == turn)))
      report(Mistake::race, access, memory, ", which thread " + std::to_string(cell.reader) + " read");
  }
  cell.is_written = !access.promised;
  cell.written_at = interval_;
  cell.writer = thread;
  cell.writer_turn = turn;
}

void MemoryChecker::report(Mistake mistake, const MemoryAccess& access, const Memory& memory,
                           const std::string& other) {
  const auto known = known_.find({mistake, memory.range.name});
  if (known != known_.end()) {
    ++findings_[known->second].count;
    return;
  }
  const auto at = static_cast<int64_t>(access.address - memory.range.begin);
  report(mistake, memory.range.name,
         "thread " + std::to_string(access.thread) + " of block " + std::to_string(block_) +
             (access.writes ? " writes " : " reads ") + std::to_string(access.bytes) + " bytes of " +
             memory.range.name + " (" + std::to_string(memory.range.bytes) + " bytes) at " +
             std::to_string(at) + other);
}

void MemoryChecker::report(Mistake mistake, const std::string& where, const std::string& text) {
  const auto [known, is_new] = known_.try_emplace({mistake, where}, findings_.size());
  if (!is_new)
    ++findings_[known->second].count;
  else
    findings_.push_back({mistake, std::string(name(mistake)) + ": " + text, 1});
}

}  // namespace korch::testing
