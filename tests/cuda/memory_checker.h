// What an emulated kernel does in memory, access by access, and the mistakes that a run may pass by luck.
// Every word of global and of shared memory has a cell, which tells who wrote and who read it last, and
// between which barriers; a byte, where parts of words are accessed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "warp_accesses.h"

namespace korch::testing {

enum class Mistake {
  outside,         // of the buffers and arrays that the launch has, of the block's part of the workspace, or
                   // of an array in registers
  unwritten,       // read, though nobody wrote it
  misaligned,      // to an address that is no multiple of what is read or written at once
  race,            // two threads of a block, one of which writes, without a barrier between them
  race_of_blocks,  // two blocks of a launch, one of which writes
  parted,          // threads wait in different places, or for some that never come
  endless,         // more accesses than the run may make
};
const char* name(Mistake mistake);

struct Finding {
  Mistake mistake;
  std::string text;   // of the first
  int64_t count = 0;  // in this memory
};

struct MemoryRange {
  uintptr_t begin = 0;
  size_t bytes = 0;
  std::string name;
};

// A launch's arguments: all may be read and written, but of the workspace each block has a part of its own,
// which is new. Every thread may set the status.
struct LaunchMemory {
  std::vector<uintptr_t> arguments;
  uintptr_t status = 0, workspace = 0;  // 0: none
  size_t workspace_bytes = 0;           // per block
};

struct MemoryAccess {
  uintptr_t address = 0;
  size_t bytes = 0;
  bool writes = false, needs_alignment = true;
  const void* site = nullptr;  // null: it is not counted
  unsigned thread = 0;
  bool promised = false;  // a copy begins to write, and ends with a write of its own: no number until then
};

// One block runs at a time. Within it any order of its threads shows the same races: two accesses are in
// order if a barrier of the block is between them, or one of their warp.
class MemoryChecker {
 public:
  // Global memory.
  void add(uintptr_t begin, size_t bytes);
  void remove(uintptr_t begin);
  void written_by_host(uintptr_t begin, size_t bytes);
  void read_by_host(uintptr_t begin, size_t bytes);

  // `ignored`: memory that the emulator itself needs.
  void begin_launch(const LaunchMemory& memory, const std::vector<MemoryRange>& shared,
                    const std::vector<MemoryRange>& ignored);
  void begin_block(int64_t block);
  void end_warp() { warp_accesses_.retire(); }  // its threads have come to a barrier
  void barrier();
  void warp_barrier(size_t warp) { ++turns_[warp]; }

  // Before it is made. False: it must not be made.
  bool access(const MemoryAccess& access);
  // False: the thread must not run on.
  bool step();
  void report(Mistake mistake, const std::string& where, const std::string& text);

  // The most accesses and barriers that a launch may have.
  void set_most_steps(int64_t most) { most_steps_ = most; }
  int64_t steps() const { return steps_; }
  const std::vector<Finding>& findings() const { return findings_; }
  void clear_findings() {
    findings_.clear();
    known_.clear();
  }
  // Of all launches.
  void count_accesses(bool on) { counts_accesses_ = on; }
  const AccessCounts& counts() const { return warp_accesses_.counts(); }
  // Every access to memory that the launch has.
  struct Traced {
    int64_t launch = 0, block = 0;
    uint32_t interval = 0;  // between barriers of a block; no two blocks and launches share one
    unsigned thread = 0;
    int memory = 0;  // an argument, or from kFirstShared on a shared array
    size_t offset = 0, bytes = 0;
    bool writes = false;
    bool of_block = false;  // other blocks have such memory of their own
    bool may_race = false;
  };
  static constexpr int kFirstShared = 1000;
  void set_trace(std::vector<Traced>* trace) { trace_ = trace; }  // null: none

 private:
  struct Cell {
    uint32_t written_at = 0, read_at = 0;  // intervals
    uint16_t writer = 0, reader = 0, writer_turn = 0, reader_turn = 0;
    bool is_written = false;
    bool many_threads = false, many_warps = false, many_blocks = false;  // read it since then
  };
  enum class Kind { global, shared, workspace, status };
  struct Memory {
    MemoryRange range;
    Kind kind = Kind::global;
    size_t unit = 1;  // bytes of a cell
    int number = 0;   // Traced::memory
    std::vector<Cell> cells;
  };

  void trace(const MemoryAccess& access, const Memory& memory);
  Memory* find_global(uintptr_t address);
  Memory* find(uintptr_t address);
  bool is_ignored(uintptr_t address) const;
  bool is_inside(const MemoryAccess& access, const Memory& memory) const;
  static void split(Memory& memory);
  void read(const MemoryAccess& access, const Memory& memory, Cell& cell);
  void write(const MemoryAccess& access, const Memory& memory, Cell& cell);
  bool in_order(uint16_t thread, uint16_t turn, unsigned now) const;
  void report(Mistake mistake, const MemoryAccess& access, const Memory& memory, const std::string& other);

  std::map<uintptr_t, Memory> global_;
  std::vector<Memory> shared_;
  std::vector<Memory*> launched_;  // what this launch may access, by address
  Memory* last_ = nullptr;         // accessed
  std::vector<MemoryRange> ignored_;
  LaunchMemory launch_;
  int64_t block_ = 0, launches_ = 0;
  uint32_t interval_ = 1, first_of_launch_ = 1, first_of_block_ = 1;
  std::vector<uint16_t> turns_;  // barriers of each warp
  int64_t steps_ = 0, most_steps_ = int64_t{1} << 30;
  bool counts_accesses_ = false;
  WarpAccesses warp_accesses_;
  std::vector<Finding> findings_;
  std::map<std::pair<Mistake, std::string>, size_t> known_;
  std::vector<Traced>* trace_ = nullptr;
};

}  // namespace korch::testing
