// Device: the hardware that code is generated for, as data. Readers know lanes, registers and memory levels
// by their sizes and speeds, and no processor by its name. Only code that compiles or loads kernels reads
// `code`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace korch {

// Of every x86-64 core; generated code aligns its scratch to it and asks for it when it prefetches.
constexpr int64_t kCacheLineBytes = 64;
constexpr int64_t kCacheLineFloats = kCacheLineBytes / 4;  // float32 elements

struct MemoryLevel {
  std::string name;         // "L1", "shared memory", "memory"
  int64_t bytes = 0;        // of one of them; 0: as much as anybody wants
  bool is_shared = false;   // by all workers; else each has its own
  double bytes_per_us = 0;  // read and written, of all workers together; 0: not known
  bool operator==(const MemoryLevel&) const = default;
};

// Speeds are of all workers together, 0 if unknown. They are the best ever observed (profile/peaks.h) or
// nominal ones. Lower bounds on latency use them, so they must never be too low.
struct Device {
  std::string kind = "cpu";     // which row of backend/target_rows.cpp makes its code
  std::string name;             // as the system names it; part of cost keys
  std::string code = "x86-64";  // the instructions that it takes: of a CPU one of kIsas
  int workers = 1;              // that run a step: threads, or thread blocks of a GPU at a time
  int vector_bytes = 16;        // of one register
  int vector_registers = 16;
  bool multiplies_bytes = false;       // an instruction adds four products of bytes to an int32
  std::vector<MemoryLevel> memory = {  // nearest first
      {"L1", 32 << 10},
      {"L2", 1 << 20},
      {"L3", 32 << 20, true},
      {"memory", 0, true}};
  double flops_per_us = 0;  // float32; a multiply-add counts 2
  double launch_us = 0;     // an empty step, best case

  int lanes() const { return vector_bytes / 4; }  // of float32
  bool is_gpu() const { return kind == "cuda"; }
  // Of the largest memory that a worker has for itself, and of the largest that is no more than a cache.
  int64_t own_bytes() const;
  int64_t cache_bytes() const;
  bool operator==(const Device&) const = default;
};

// JSON, one line.
std::string to_text(const Device& device);
// As to_text or `korch doctor --json` wrote it. Throws Error{invalid} where the text is none of these, or a
// number is none that hardware has.
Device device_from_text(std::string_view text);
// Of a file with such a text. Error{usage} where `workers` is neither 0 nor the number that it tells.
Device device_of_file(const std::string& path, int workers);

// x86-64 processors: levels of the psABI, v3 (AVX2 + FMA) and v4 (AVX-512), and v4 with VNNI, whose
// instructions multiply bytes and add up four products at a time; with AVX512_BF16, of which one multiplies
// pairs of bfloat16; with AMX, whose tiles multiply both. Each level has what those before it have.
enum class Isa { portable, x86_64_v3, x86_64_v4, x86_64_v4_vnni, x86_64_v4_bf16, x86_64_v4_amx };
struct IsaRow {
  Isa isa;
  const char* name;  // Device::code, in commands and executables
  const char* has;   // for people
  int vector_bytes, vector_registers;
  bool multiplies_bytes;
  bool multiplies_bfloat16 =
      false;  // "native" is such a level only where a network wants it (with_bfloat16, with_matrix_tiles)
};
// The one list of processors: by Isa. Help, completion, messages and files read it.
constexpr IsaRow kIsas[] = {
    {Isa::portable, "x86-64", "neither AVX2 nor AVX-512", 16, 16, false},
    {Isa::x86_64_v3, "x86-64-v3", "AVX2", 32, 16, false},
    {Isa::x86_64_v4, "x86-64-v4", "AVX-512", 64, 32, false},
    {Isa::x86_64_v4_vnni, "x86-64-v4-vnni", "AVX-512 with VNNI", 64, 32, true},
    {Isa::x86_64_v4_bf16, "x86-64-v4-bf16", "AVX-512 with VNNI and BF16", 64, 32, true, true},
    {Isa::x86_64_v4_amx, "x86-64-v4-amx", "AVX-512 with VNNI, BF16 and AMX", 64, 32, true, true},
};
constexpr const IsaRow& row(Isa isa) {
  return kIsas[static_cast<size_t>(isa)];
}
constexpr const char* name(Isa isa) {
  return row(isa).name;
}
// Of Device::code; nothing for other names.
std::optional<Isa> isa_named(std::string_view code);
// Whether instructions multiply bfloat16 with sums in float32; whether tiles of sixteen rows do.
bool multiplies_bfloat16(const Device& device);
bool has_matrix_tiles(const Device& device);
// The same CPU with all that runs here beyond its own code, where that multiplies bfloat16; where it has
// tiles.
Device with_bfloat16(Device device);
Device with_matrix_tiles(Device device);
// A processor of which nothing else is known.
Device cpu_device(Isa isa, int workers = 1);
// NVIDIA's GPUs: multiprocessors are their workers. Speeds are those of the data sheets, float32 without
// matrix units.
struct GpuRow {
  const char* target;  // in commands
  const char* name;    // Device::name
  const char* code;    // Device::code
  int multiprocessors;
  int64_t shared_bytes, l2_bytes;                 // shared memory: that a block can have
  double flops_per_us, l2_per_us, memory_per_us;  // bytes
};
constexpr GpuRow kGpus[] = {
    {"sm_80", "GPU of compute capability 8.0", "sm_80", 108, 163 << 10, 40 << 20, 19.5e6, 5.1e6, 2.04e6},
    {"sm_90", "GPU of compute capability 9.0", "sm_90", 132, 227 << 10, 50 << 20, 67e6, 7.5e6, 3.35e6},
    {"a100", "NVIDIA A100 80 GB", "sm_80", 108, 163 << 10, 40 << 20, 19.5e6, 5.1e6, 2.04e6},
    {"h100", "NVIDIA H100", "sm_90", 132, 227 << 10, 50 << 20, 67e6, 7.5e6, 3.35e6},
    {"h200", "NVIDIA H200", "sm_90", 132, 227 << 10, 50 << 20, 67e6, 7.5e6, 4.8e6},
};
Device gpu_device(const GpuRow& row);
std::optional<Device> gpu_named(std::string_view target);  // GpuRow::target
// The row that a GPU with this name is one of, as "NVIDIA H200 NVL" is of "NVIDIA H200"; null: of none.
const GpuRow* gpu_row_of(std::string_view name);
// Of `sm_90`.
Device cuda_device();
// Ten times the major, and the minor compute capability of "sm_90": 90; 0 for other codes.
int compute_capability(std::string_view code);

// What detect_device takes: "native", the levels beyond x86-64, and GPUs.
std::vector<std::string> target_names();
// The same in words, with what each level has.
std::string targets_text();
// The device's code in words.
std::string code_text(const Device& device);
// What this machine is, or another one by its name, but for "cuda" (backend/device_named.h); `workers` 0
// means all the cores this process may run on. Error{usage} when `target` is not one of target_names().
Device detect_device(const std::string& target, int workers);
bool runs_here(Isa isa);
bool runs_here(const Device& device);

// The size of the data or unified cache of a level that `folder` describes as Linux does
// (/sys/devices/system/cpu/cpu0/cache: index*/level, type, size); 0 when it does not say.
int64_t cache_bytes(const std::string& folder, int level);

// The device with the speeds per cycle that manuals state for its instruction set, times a typical clock. For
// planning where nothing can be measured; they prove no bound.
Device with_nominal_speeds(Device device);

}  // namespace korch
