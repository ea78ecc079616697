#include "korch/fleet/roster.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace korch {

Roster::Roster(const FleetFolder& folder, LeaderNote leader, std::vector<double> sentinels_us,
               double tolerance, FleetTimes times, std::function<void(const std::string&)> say)
    : folder_(folder),
      leader_(std::move(leader)),
      sentinels_us_(std::move(sentinels_us)),
      tolerance_(tolerance),
      times_(times),
      say_(std::move(say)) {}

bool Roster::attend() {
  if (looked_ && since_look_.seconds() < times_.beat_s) return false;
  looked_ = true;
  since_look_ = Stopwatch();
  const std::vector<std::string> names = folder_.names(Room::notes);
  std::set<std::string> all(names.begin(), names.end());
  for (const std::string& name : folder_.names(Room::beats)) all.insert(name);
  expected_ = 0;
  for (const std::string& name : all) {
    if (name == kLeader || name == leader_.session || !is_plain_name(name)) continue;
    Member& member = members_[name];
    if (member.state == State::unknown || member.state == State::gone) judge(name, member);
    const int still = beats_.look(folder_, name);
    if ((member.state == State::unknown || member.state == State::gone) && still < times_.lost_after)
      ++expected_;
    if (member.state == State::taken && still >= times_.lost_after) {
      member.state = State::lost;
      say_(fmt::format("worker {} is lost: its heart stood still at {} looks; others get its kernels", name,
                       still));
    } else if (member.state == State::lost && still == 0) {
      member.state = State::taken;
      say_(fmt::format("worker {} is back", name));
    }
  }
  for (auto& [name, member] : members_)
    if (member.state != State::set_aside && member.state != State::unknown &&
        !std::ranges::binary_search(names, name))
      member.state = State::gone;
  return true;
}

// By its note, once that answers this leader.
void Roster::judge(const std::string& name, Member& member) {
  const std::optional<std::string> text = folder_.read(Room::notes, name);
  const std::optional<WorkerNote> note = text ? worker_note(*text) : std::nullopt;
  if (!note || note->session != leader_.session) return;
  std::string reason = mismatch(leader_, *note);
  if (reason.empty()) reason = difference(sentinels_us_, note->sentinels_us, tolerance_);
  if (!reason.empty()) return set_aside(name, reason);
  member.state = State::taken;
  tell(name, true, "");
}

void Roster::set_aside(const std::string& worker, const std::string& reason) {
  Member& member = members_[worker];
  member.state = State::set_aside;
  member.reason = reason;
  say_(fmt::format("worker {} is set aside: it {}", worker, reason));
  tell(worker, false, reason);
}

void Roster::tell(const std::string& name, bool is_taken, const std::string& reason) {
  folder_.write(Room::verdicts, name, to_text(Judgement{leader_.session, is_taken, reason}));
}

bool Roster::is_taken(const std::string& worker) const {
  const auto found = members_.find(worker);
  return found != members_.end() && found->second.state == State::taken;
}

bool Roster::is_set_aside(const std::string& worker) const {
  const auto found = members_.find(worker);
  return found != members_.end() && found->second.state == State::set_aside;
}

int Roster::taken() const {
  return static_cast<int>(
      std::ranges::count_if(members_, [](const auto& named) { return named.second.state == State::taken; }));
}

std::vector<FleetReport::Member> Roster::report() const {
  std::vector<FleetReport::Member> all;
  for (const auto& [name, member] : members_)
    if (member.state != State::unknown || member.kernels > 0)
      all.push_back({name, member.kernels, member.reason, member.state == State::lost});
  return all;
}

}  // namespace korch
