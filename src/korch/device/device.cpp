#include "korch/device/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>

#include "korch/base/error.h"
#include "korch/base/files.h"
#include "korch/base/json.h"
#include "korch/base/printable.h"

namespace korch {
namespace {

using Json = nlohmann::ordered_json;

// The fields of each struct, listed once; the compiler counts them.
template <typename Level, typename Visit>
void visit_level(Level& level, Visit&& visit) {
  auto& [name, bytes, is_shared, bytes_per_us] = level;
  visit("name", name), visit("bytes", bytes), visit("is_shared", is_shared),
      visit("bytes_per_us", bytes_per_us);
}

template <typename Any, typename Visit>
void visit_device(Any& device, Visit&& visit) {
  auto& [kind, name, code, workers, vector_bytes, vector_registers, multiplies_bytes, memory, flops_per_us,
         launch_us] = device;
  visit("kind", kind), visit("name", name), visit("code", code), visit("workers", workers),
      visit("vector_bytes", vector_bytes), visit("vector_registers", vector_registers),
      visit("multiplies_bytes", multiplies_bytes), visit("memory", memory),
      visit("flops_per_us", flops_per_us), visit("launch_us", launch_us);
}

constexpr int64_t kMostMemory_bytes = int64_t{1} << 50;
constexpr double kMostPer_us = 1e15;
constexpr int kMostParallel = 1 << 20, kMostRegisterBytes = 1 << 16, kMostLevels = 16;

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::invalid, "no description of a device: " + what);
}

template <typename Number>
void require_within(const char* name, Number value, Number least, Number most) {
  if (!(value >= least && value <= most))
    refuse(fmt::format("'{}' is {}, and must be between {} and {}", name, value, least, most));
}

template <typename Field>
void read_field(const Json& json, const char* name, Field& field) {
  const auto found = json.find(name);
  if (found == json.end()) refuse(fmt::format("'{}' is missing", name));
  try {
    found->get_to(field);
  } catch (const Json::exception&) {
    refuse(fmt::format("'{}' is a {}, which it cannot be", name, found->type_name()));
  }
}

MemoryLevel level_from(const Json& json) {
  if (!json.is_object()) refuse("a memory level is no object");
  MemoryLevel level;
  visit_level(level, [&](const char* name, auto& field) { read_field(json, name, field); });
  require_within<int64_t>("bytes", level.bytes, 0, kMostMemory_bytes);
  require_within("bytes_per_us", level.bytes_per_us, 0.0, kMostPer_us);
  return level;
}

Json json_of(const MemoryLevel& level) {
  Json json;
  visit_level(level, [&](const char* name, const auto& field) { json[name] = field; });
  return json;
}

// A CPU has no more than its instructions give it.
void require_possible(const Device& cpu) {
  const std::optional<Isa> isa = isa_named(cpu.code);
  if (!isa)
    refuse(fmt::format("a CPU's code is one such as {}, and not '{}'", name(Isa::x86_64_v4),
                       printable(cpu.code)));
  require_within("vector_bytes", cpu.vector_bytes, 4, row(*isa).vector_bytes);
  require_within("vector_registers", cpu.vector_registers, 1, row(*isa).vector_registers);
  if (cpu.multiplies_bytes && !row(*isa).multiplies_bytes)
    refuse(fmt::format("'multiplies_bytes' is true, and {} has no such instruction", cpu.code));
}

}  // namespace

int64_t Device::own_bytes() const {
  int64_t most = 0;
  for (const MemoryLevel& level : memory)
    if (!level.is_shared) most = std::max(most, level.bytes);
  return most;
}

int64_t Device::cache_bytes() const {
  int64_t most = 0;
  for (const MemoryLevel& level : memory) most = std::max(most, level.bytes);
  return most;
}

std::string to_text(const Device& device) {
  Json json;
  visit_device(device, [&](const char* name, const auto& field) {
    if constexpr (std::is_same_v<std::decay_t<decltype(field)>, std::vector<MemoryLevel>>) {
      json[name] = Json::array();
      for (const MemoryLevel& level : field) json[name].push_back(json_of(level));
    } else {
      json[name] = field;
    }
  });
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Device device_from_text(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_object() && json.contains("device")) json = Json(json["device"]);
  if (!json.is_object()) refuse("it is no JSON object");
  Device device;
  visit_device(device, [&](const char* name, auto& field) {
    if constexpr (std::is_same_v<std::decay_t<decltype(field)>, std::vector<MemoryLevel>>) {
      const auto found = json.find(name);
      if (found == json.end() || !found->is_array()) refuse(fmt::format("'{}' is no list", name));
      if (found->empty() || found->size() > kMostLevels)
        refuse(fmt::format("it has {} memory levels: 1 to {} are possible", found->size(), kMostLevels));
      field.clear();
      for (const Json& level : *found) field.push_back(level_from(level));
    } else {
      read_field(json, name, field);
    }
  });
  require_within("workers", device.workers, 1, kMostParallel);
  require_within("vector_bytes", device.vector_bytes, 4, kMostRegisterBytes);
  require_within("vector_registers", device.vector_registers, 1, kMostRegisterBytes);
  require_within("flops_per_us", device.flops_per_us, 0.0, kMostPer_us);
  require_within("launch_us", device.launch_us, 0.0, kMostPer_us);
  if (!std::has_single_bit(static_cast<unsigned>(device.vector_bytes)))
    refuse(fmt::format("'vector_bytes' is {}, and must be a power of two", device.vector_bytes));
  if (device.kind == "cpu") require_possible(device);
  if (device.is_gpu() && compute_capability(device.code) == 0)
    refuse(fmt::format("a GPU's code is one such as sm_90, and not '{}'", printable(device.code)));
  return device;
}

Device device_of_file(const std::string& path, int workers) {
  try {
    const Device device = device_from_text(read_file(path));
    if (workers == 0 || workers == device.workers) return device;
    throw Error(ErrorKind::usage, fmt::format("it has {} workers, and its speeds are theirs: --threads is {}",
                                              device.workers, workers));
  } catch (const Error& error) {
    throw Error(error.kind(), path + ": " + error.what());
  }
}

std::optional<Isa> isa_named(std::string_view code) {
  for (const IsaRow& row : kIsas)
    if (code == row.name) return row.isa;
  return std::nullopt;
}

bool multiplies_bfloat16(const Device& device) {
  const std::optional<Isa> isa = device.is_gpu() ? std::nullopt : isa_named(device.code);
  return isa && row(*isa).multiplies_bfloat16;
}

bool has_matrix_tiles(const Device& device) {
  return !device.is_gpu() && isa_named(device.code) == Isa::x86_64_v4_amx;
}

Device with_bfloat16(Device device) {
  for (const IsaRow& level : kIsas)
    if (level.multiplies_bfloat16 && runs_here(level.isa)) device.code = level.name;
  return device;
}

Device with_matrix_tiles(Device device) {
  if (runs_here(Isa::x86_64_v4_amx)) device.code = name(Isa::x86_64_v4_amx);
  return device;
}

Device cpu_device(Isa isa, int workers) {
  Device device;
  device.code = name(isa);
  device.workers = workers;
  device.vector_bytes = row(isa).vector_bytes;
  device.vector_registers = row(isa).vector_registers;
  device.multiplies_bytes = row(isa).multiplies_bytes;
  return device;
}

Device gpu_device(const GpuRow& row) {
  constexpr int kVectorBytes = 16;               // that a thread loads at once
  constexpr int kRegisters = 255;                // of a thread
  constexpr double kShared_per_us = 128 * 1700;  // bytes of a multiprocessor: per cycle, and 1.7 GHz
  constexpr double kLaunch_us = 1.3;             // between two kernels of a CUDA graph
  Device device;
  device.kind = "cuda";
  device.name = row.name;
  device.code = row.code;
  device.workers = row.multiprocessors;
  device.vector_bytes = kVectorBytes;
  device.vector_registers = kRegisters;
  device.memory = {{"shared memory", row.shared_bytes, false, kShared_per_us * row.multiprocessors},
                   {"L2", row.l2_bytes, true, row.l2_per_us},
                   {"memory", 0, true, row.memory_per_us}};
  device.flops_per_us = row.flops_per_us;
  device.launch_us = kLaunch_us;
  return device;
}

std::optional<Device> gpu_named(std::string_view target) {
  for (const GpuRow& row : kGpus)
    if (target == row.target) return gpu_device(row);
  return std::nullopt;
}

const GpuRow* gpu_row_of(std::string_view name) {
  for (const GpuRow& row : kGpus)
    if (name.starts_with(std::string_view(row.name).substr(0, std::string_view(row.name).find(" 80"))))
      return &row;
  return nullptr;
}

Device cuda_device() {
  return *gpu_named("sm_90");
}

int compute_capability(std::string_view code) {
  int capability = 0;
  if (!code.starts_with("sm_")) return 0;
  const auto [end, error] = std::from_chars(code.data() + 3, code.data() + code.size(), capability);
  return error == std::errc() && end == code.data() + code.size() ? capability : 0;
}

}  // namespace korch
