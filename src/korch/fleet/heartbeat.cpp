#include "korch/fleet/heartbeat.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <random>

namespace korch {
namespace {

std::string beat_text(uint64_t number) {
  return fmt::format("{:020}\n", number);
}

}  // namespace

// From a random number on, so that one who comes back under its name is seen to live.
Heartbeat::Heartbeat(const FleetFolder& folder, const std::string& name, double beat_s)
    : folder_(folder), name_(name) {
  const uint64_t first = std::random_device{}();
  folder_.write(Room::beats, name_, beat_text(first));
  thread_ = std::thread([this, first, beat_s] {
    std::unique_lock lock(mutex_);
    for (uint64_t beat = first + 1;; ++beat) {
      if (wake_.wait_for(lock, std::chrono::duration<double>(beat_s), [this] { return over_; })) return;
      folder_.overwrite(Room::beats, name_, beat_text(beat));
    }
  });
}

Heartbeat::~Heartbeat() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  wake_.notify_all();
  thread_.join();
  folder_.remove(Room::beats, name_);
}

int BeatWatch::look(const FleetFolder& folder, const std::string& name) {
  const std::string beat = folder.read(Room::beats, name).value_or("");
  const auto [seen, is_new] = seen_.try_emplace(name, Seen{beat, 0});
  if (is_new) return 0;
  if (seen->second.beat != beat)
    seen->second = {beat, 0};
  else
    ++seen->second.looks;
  return seen->second.looks;
}

}  // namespace korch
