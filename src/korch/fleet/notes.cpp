#include "korch/fleet/notes.h"

#include <fmt/format.h>
#include <limits.h>
#include <unistd.h>

#include <cmath>

#include "korch/base/error.h"
#include "korch/base/files.h"
#include "korch/base/hash.h"
#include "korch/base/json.h"
#include "korch/base/printable.h"
#include "korch/profile/cost_row.h"

namespace korch {
namespace {

using NoteJson = nlohmann::ordered_json;

// The fields of each note, listed once.
void visit_note(auto& note, auto&& visit) requires
    std::same_as<std::remove_const_t<std::remove_reference_t<decltype(note)>>, LeaderNote> {
  visit("session", note.session), visit("host", note.host), visit("build", note.build),
      visit("protocol", note.protocol), visit("device", note.device), visit("sentinels", note.sentinels);
}
void visit_note(auto& note, auto&& visit) requires
    std::same_as<std::remove_const_t<std::remove_reference_t<decltype(note)>>, WorkerNote> {
  visit("session", note.session), visit("host", note.host), visit("build", note.build),
      visit("protocol", note.protocol), visit("processor", note.processor), visit("can_run", note.can_run),
      visit("cpus", note.cpus), visit("sentinels_us", note.sentinels_us);
}
void visit_note(auto& note, auto&& visit) requires
    std::same_as<std::remove_const_t<std::remove_reference_t<decltype(note)>>, Judgement> {
  visit("session", note.session), visit("taken", note.is_taken), visit("reason", note.reason);
}
void visit_note(auto& note, auto&& visit) requires
    std::same_as<std::remove_const_t<std::remove_reference_t<decltype(note)>>, Cost> {
  visit("us", note.us), visit("low_us", note.low_us), visit("high_us", note.high_us),
      visit("samples", note.samples);
}

template <typename Note>
NoteJson json_of(const Note& note) {
  NoteJson json;
  visit_note(note, [&](const char* key, const auto& field) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(field)>, Device>)
      json[key] = to_text(field);
    else
      json[key] = field;
  });
  return json;
}

std::string text_of(const NoteJson& json) {
  return json.dump(-1, ' ', false, NoteJson::error_handler_t::replace);
}

template <typename Note>
Note note_of(const NoteJson& json) {
  Note note;
  visit_note(note, [&](const char* key, auto& field) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(field)>, Device>)
      field = device_from_text(json.at(key).template get<std::string>());
    else
      json.at(key).get_to(field);
  });
  return note;
}

// What `read` makes of the text; nothing where it cannot.
template <typename Read>
auto tried(const std::string& text, const Read& read) -> std::optional<decltype(read(NoteJson()))> {
  try {
    return read(NoteJson::parse(text));
  } catch (const NoteJson::exception&) {
    return std::nullopt;
  } catch (const Error&) {  // no device
    return std::nullopt;
  }
}

bool is_time(double us) {
  return std::isfinite(us) && us > 0;
}

}  // namespace

std::string to_text(const LeaderNote& note) {
  return text_of(json_of(note));
}
std::string to_text(const WorkerNote& note) {
  return text_of(json_of(note));
}
std::string to_text(const Judgement& verdict) {
  return text_of(json_of(verdict));
}
std::string to_text(const FoundCost& finding) {
  NoteJson json = {{"key", finding.key}, {"worker", finding.worker}, {"refusal", finding.refusal}};
  if (finding.cost) {
    json["cost"] = json_of(*finding.cost);
    json["care"] = static_cast<int>(finding.cost->care);
  }
  return text_of(json);
}

std::optional<LeaderNote> leader_note(const std::string& text) {
  return tried(text, note_of<LeaderNote>);
}
std::optional<WorkerNote> worker_note(const std::string& text) {
  return tried(text, note_of<WorkerNote>);
}
std::optional<Judgement> judgement_of(const std::string& text) {
  return tried(text, note_of<Judgement>);
}

std::optional<FoundCost> found_cost(const std::string& text) {
  std::optional<FoundCost> finding = tried(text, [](const NoteJson& json) {
    FoundCost read;
    json.at("key").get_to(read.key);
    json.at("worker").get_to(read.worker);
    json.at("refusal").get_to(read.refusal);
    if (!json.contains("cost")) return read;
    read.cost = note_of<Cost>(json.at("cost"));
    const int care = json.at("care").get<int>();
    if (care >= 0 && care < static_cast<int>(kCareNames.size())) read.cost->care = static_cast<Care>(care);
    return read;
  });
  if (!finding || !finding->cost) return finding;
  const Cost& cost = *finding->cost;
  const bool is_cost = is_time(cost.us) && is_time(cost.low_us) && is_time(cost.high_us) && cost.samples > 0;
  return is_cost ? finding : std::nullopt;
}

std::string build_of_this_program() {
  const MappedFile program("/proc/self/exe");
  return hash_bytes(program.data(), program.size_bytes()).hex();
}

std::string host_name() {
  char host[HOST_NAME_MAX + 1] = {};
  ::gethostname(host, HOST_NAME_MAX);
  return printable(host);
}

std::string mismatch(const LeaderNote& leader, const WorkerNote& worker) {
  if (leader.build != worker.build) return "is another build of korch";
  if (leader.protocol != worker.protocol)
    return fmt::format("measures by protocol {}, not {}", worker.protocol, leader.protocol);
  if (leader.device.name != worker.processor)
    return fmt::format("has another processor: {}, not {}", printable(worker.processor), leader.device.name);
  if (!worker.can_run) return fmt::format("cannot run code for {}", leader.device.code);
  if (worker.cpus < leader.device.workers)
    return fmt::format("has processors for {} of {} threads", worker.cpus, leader.device.workers);
  return "";
}

std::string difference(const std::vector<double>& leader_us, const std::vector<double>& worker_us,
                       double tolerance) {
  if (leader_us.size() != worker_us.size()) return "measured other sentinels";
  for (size_t i = 0; i < leader_us.size(); ++i) {
    const double ratio = worker_us[i] / leader_us[i];
    if (!is_time(worker_us[i]) || !is_time(ratio)) return "measured no times";
    if (ratio > 1 + tolerance)
      return fmt::format("is {:.1f} % slower than the leader at sentinel {}", 100 * (ratio - 1), i);
    if (1 / ratio > 1 + tolerance)
      return fmt::format("is {:.1f} % faster than the leader at sentinel {}", 100 * (1 / ratio - 1), i);
  }
  return "";
}

}  // namespace korch
