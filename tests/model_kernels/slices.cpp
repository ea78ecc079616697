#include "slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "compare.h"
#include "guarded_buffer.h"
#include "korch/backend/spell.h"
#include "korch/base/error.h"
#include "korch/kernel/interpret.h"
#include "korch/runtime/abi.h"
#include "korch/tensor/element.h"
#include "trace.h"

namespace korch::testing {
namespace {

using tile::BufferRole;
using tile::Direction;

// The arguments in memory of their own, and scratch.
class CallMemory {
 public:
  CallMemory(const std::vector<HostTensor>& arguments, int64_t scratch_bytes) {
    for (const HostTensor& argument : arguments) {
      buffers_.push_back(std::make_unique<GuardedBuffer>(static_cast<size_t>(argument.bytes())));
      std::memcpy(buffers_.back()->data(), argument.raw(), static_cast<size_t>(argument.bytes()));
      pointers_.push_back(buffers_.back()->data());
    }
    buffers_.push_back(std::make_unique<GuardedBuffer>(static_cast<size_t>((scratch_bytes + 63) / 64 * 64)));
  }
  int32_t run(void* function, int64_t slice) {
    const korch_kernel_context context{pointers_.data(), buffers_.back()->data(), nullptr, 0};
    return reinterpret_cast<korch_kernel_fn>(function)(&context, slice, slice + 1);
  }
  const char* data(size_t number) const { return static_cast<const char*>(pointers_[number]); }
  GuardedBuffer& buffer(size_t number) { return *buffers_[number]; }
  size_t size() const { return buffers_.size(); }

 private:
  std::vector<std::unique_ptr<GuardedBuffer>> buffers_;  // scratch last
  std::vector<void*> pointers_;
};

bool is_written(const tile::Buffer& buffer) {
  return buffer.role == BufferRole::output || buffer.role == BufferRole::temporary;
}

}  // namespace

Slices::Slices(tile::ScheduledGraph graph, const Device& target, double low, double high)
    : graph_(std::move(graph)), kernel_(spelled(graph_, target)) {
  std::vector<std::string> symbols;
  for (const KernelPhase& phase : kernel_.phases) symbols.push_back(phase.symbol);
  const std::string object = compile_traced(kernel_.source, target.code);
  functions_ = loaded_.load(object, symbols).value();
  for (const tile::Buffer& buffer : graph_.buffers)
    if (buffer.role != BufferRole::scratch)
      arguments_.push_back(random_memory({buffer.type, {buffer.elements}}, arguments_.size() + 1, low, high));
}

void Slices::run(size_t phase, int64_t slice) {
  constexpr size_t kPage = 4096;
  phase_ = phase;
  slice_ = slice;
  CallMemory memory(arguments_, kernel_.scratch_bytes);
  trace_.reset();
  trace_ = std::make_unique<Trace>();
  for (size_t i = 0; i < memory.size(); ++i)
    trace_->watch(memory.buffer(i).data(), memory.buffer(i).size(), kPage);
  status_ = memory.run(functions_[phase], slice);
  after_.clear();
  for (size_t i = 0; i < arguments_.size(); ++i) {
    after_.emplace_back(arguments_[i].type());
    std::memcpy(after_.back().mutable_raw(), memory.data(i), static_cast<size_t>(after_.back().bytes()));
  }
}

std::string Slices::differences() const {
  constexpr double kNoise = 20, kLeast = 1e-4;
  if (status_ != 0) return fmt::format("status {}", status_);
  const auto interpreted = [&](tile::Arithmetic arithmetic) {
    return tile::interpret_slice(graph_, graph_.phases[phase_], slice_, arguments_, arithmetic);
  };
  const std::vector<HostTensor> exact = interpreted(tile::Arithmetic::float64),
                                native = interpreted(tile::Arithmetic::native);
  size_t number = 0;
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (!is_written(graph_.buffers[i])) continue;
    const HostTensor &expected = exact[number], &rounded = native[number];
    ++number;
    const double allowed = std::max(kLeast, kNoise * largest_difference(rounded, expected));
    for (int64_t at = 0; at < expected.elements(); ++at) {
      const double is = element_as_double(after_[i], at), wanted = element_as_double(expected, at);
      if (difference(is, wanted) > allowed)
        return fmt::format("{} at {} is {}, not {}", graph_.name(static_cast<int>(i)), at, is, wanted);
    }
  }
  return {};
}

tile::Region Slices::region(Direction direction, int buffer) const {
  return tile::region(graph_, graph_.phases[phase_], direction, buffer, slice_, slice_ + 1);
}

std::string Slices::stray_accesses() {
  return stray_accesses([&](Direction direction, int buffer) { return region(direction, buffer); });
}

std::string Slices::stray_accesses(const RegionOf& region) {
  if (status_ != 0) return fmt::format("status {}", status_);
  if (trace_->astray() > 0) return fmt::format("{} accesses beside buffers", trace_->astray());
  for (size_t i = 0; i < arguments_.size(); ++i) {
    const std::string name = graph_.name(static_cast<int>(i));
    const size_t size = size_bytes(graph_.buffers[i].type);
    for (Direction direction : {Direction::read, Direction::written}) {
      const bool reads = direction == Direction::read;
      const tile::Region stated = region(direction, static_cast<int>(i));
      std::vector<bool> inside(static_cast<size_t>(graph_.buffers[i].elements));
      tile::for_each_element(stated, [&](int64_t at) {
        if (at >= 0 && at < std::ssize(inside)) inside[static_cast<size_t>(at)] = true;  // else not exact
      });
      const std::vector<char>& touched = reads ? trace_->memory(i).loaded : trace_->memory(i).stored;
      for (size_t byte = 0; byte < touched.size(); ++byte) {
        const size_t at = byte / size;
        const bool between = reads && at > 0 && at + 1 < inside.size() && inside[at - 1] && inside[at + 1];
        if (touched[byte] != 0 && !inside[at] && between) loads_between_ = true;
        if (touched[byte] != 0 && !inside[at] && !between)
          return fmt::format("{} is {} at {}, outside of its region", name, reads ? "read" : "written", at);
        if (!reads && stated.exact && touched[byte] == 0 && inside[at])
          return fmt::format("{} is not written at {}, inside of its region", name, at);
      }
    }
  }
  return {};
}

Coverage coverage_by_slices(const tile::ScheduledGraph& graph) {
  Coverage result;
  for (int buffer = 0; buffer < std::ssize(graph.buffers); ++buffer) {
    if (graph.buffers[buffer].role != BufferRole::output) continue;
    const std::string name = graph.name(buffer);
    std::vector<bool> written(static_cast<size_t>(graph.buffers[buffer].elements));
    for (const tile::Phase& phase : graph.phases) {
      const bool scatters = std::any_of(phase.nests.begin(), phase.nests.end(), [](const tile::Nest& nest) {
        return nest.kind == tile::NestKind::scatter;
      });
      for (int64_t slice = 0; slice < phase.slices() && !scatters; ++slice) {
        const tile::Region here = tile::region(graph, phase, Direction::written, buffer, slice, slice + 1);
        if (!here.exact) return {.exact = false, .fault = ""};
        tile::for_each_element(here, [&](int64_t at) {
          if (written[static_cast<size_t>(at)])
            result.fault = fmt::format("{} at {} is written again by slice {}", name, at, slice);
          written[static_cast<size_t>(at)] = true;
        });
        if (!result.fault.empty()) return result;
      }
    }
    const auto missing = std::find(written.begin(), written.end(), false);
    if (missing != written.end())
      result.fault = fmt::format("{} at {} is written by no slice", name, missing - written.begin());
  }
  return result;
}

}  // namespace korch::testing
