#include "korch/fleet/leadership.h"

#include <fmt/format.h>

#include <chrono>
#include <random>
#include <thread>

#include "korch/base/error.h"
#include "korch/base/interrupt.h"
#include "korch/base/printable.h"

namespace korch {
namespace {

std::string new_session() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}", random(), random(), random());
}

std::string first_note(const std::string& session) {
  LeaderNote note;
  note.session = session;
  note.host = host_name();
  return to_text(note);
}

[[noreturn]] void refuse_second(const FleetFolder& folder, const std::string& text) {
  const std::optional<LeaderNote> note = leader_note(text);
  throw Error(ErrorKind::usage,
              fmt::format("another compilation{} uses the fleet's folder '{}': give this one another, by "
                          "--fleet-dir",
                          note ? " on " + printable(note->host) : "", printable(folder.path())));
}

// Whether the heart of the leader in this note stands still.
bool is_dead(const FleetFolder& folder, const std::string& text, const FleetTimes& times) {
  const std::optional<LeaderNote> note = leader_note(text);
  if (!note || !is_plain_name(note->session)) return true;
  BeatWatch watch;
  watch.look(folder, note->session);
  for (;;) {
    throw_if_interrupted();
    std::this_thread::sleep_for(std::chrono::duration<double>(times.beat_s));
    const int looks = watch.look(folder, note->session);
    if (looks == 0) return false;
    if (looks >= times.lost_after) return true;
  }
}

}  // namespace

// Its heart beats before anybody can read its name.
Leadership::Leadership(const FleetFolder& folder, const FleetTimes& times)
    : folder_(folder), session_(new_session()), heart_(folder, session_, times.beat_s) {
  const std::string mine = first_note(session_);
  while (!folder_.write_new(Room::notes, kLeader, mine)) {
    const std::optional<std::string> other = folder_.read(Room::notes, kLeader);
    if (!other) continue;
    if (!is_dead(folder_, *other, times)) refuse_second(folder_, *other);
    // Of several who find it dead one moves the note away; who moves a new leader's puts it back.
    const std::string aside = "stale-" + session_;
    if (!folder_.move(Room::notes, kLeader, Room::notes, aside)) continue;
    const std::string moved = folder_.read(Room::notes, aside).value_or("");
    if (moved != *other) folder_.write_new(Room::notes, kLeader, moved);
    folder_.remove(Room::notes, aside);
    if (moved == *other)
      if (const std::optional<LeaderNote> dead = leader_note(moved); dead && is_plain_name(dead->session))
        folder_.remove(Room::beats, dead->session);
  }
}

Leadership::~Leadership() {
  if (holds()) folder_.remove(Room::notes, kLeader);
}

void Leadership::announce(LeaderNote note) const {
  note.session = session_;
  folder_.write(Room::notes, kLeader, to_text(note));
}

bool Leadership::holds() const {
  const std::optional<std::string> text = folder_.read(Room::notes, kLeader);
  const std::optional<LeaderNote> note = text ? leader_note(*text) : std::nullopt;
  return note && note->session == session_;
}

}  // namespace korch
