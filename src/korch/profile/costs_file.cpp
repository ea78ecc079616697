#include "korch/profile/costs_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "korch/base/error.h"
#include "korch/base/files.h"
#include "korch/base/json.h"
#include "korch/base/printable.h"

namespace korch {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;  // of the file
constexpr const char* kMagic = "korch_costs";

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json to_json(const CostRow& row) {
  return {{"cost", row.key.hex()},
          {"us", row.cost.us},
          {"low_us", row.cost.low_us},
          {"high_us", row.cost.high_us},
          {"samples", row.cost.samples},
          {"care", kCareNames[static_cast<size_t>(row.cost.care)]},
          {"conditions", Json::parse(to_text(row.conditions))}};
}

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), file_(path) {}

  void read() {
    std::string_view rest = file_.view();
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      ++line_;
      add(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (line_ == 0) fail("it is empty");
    for (const auto& [line, row] : rows)
      for (const std::string* text : texts_of(row.conditions))
        if (!hashes_.contains(*text)) {
          line_ = line;
          fail("the text " + *text + " is missing");
        }
  }

  std::vector<std::pair<int, CostRow>> rows;  // and the lines that they stand in
  std::vector<std::string> texts;

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::invalid, fmt::format("'{}', line {}: {}; nothing was imported (what korch costs "
                                                "export writes is read)",
                                                path_, line_, what));
  }

  void add(std::string_view text) {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object()) fail("it is no line of a file of costs");
    try {
      if (line_ == 1)
        add_version(json);
      else if (json.contains("text"))
        add_text(json.at("text").get<std::string>());
      else
        add_row(json);
    } catch (const Json::exception& error) {
      fail(printable(error.what()));
    }
  }

  void add_version(const Json& json) const {
    const int version = json.at(kMagic).get<int>();
    if (version > kVersion)
      fail(fmt::format("version {} of a newer korch; this one reads {}", version, kVersion));
    if (version < 1) fail("there is no such version");
  }

  void add_text(std::string text) {
    hashes_.insert(hash_text(text).hex());
    texts.push_back(std::move(text));
  }

  void add_row(const Json& json) {
    CostRow row;
    const std::optional<Hash> key = hash_from_hex(json.at("cost").get<std::string>());
    if (!key) fail("the key is no hash");
    row.key = *key;
    for (const auto& [name, number] :
         {std::pair{"us", &row.cost.us}, {"low_us", &row.cost.low_us}, {"high_us", &row.cost.high_us}}) {
      json.at(name).get_to(*number);
      if (!std::isfinite(*number) || *number < 0) fail(fmt::format("{} is no time", name));
    }
    json.at("samples").get_to(row.cost.samples);
    if (row.cost.samples < 0) fail("samples are less than none");
    const auto* const care =
        std::find(kCareNames.begin(), kCareNames.end(), json.at("care").get<std::string>());
    if (care == kCareNames.end()) fail("there is no such care");
    row.cost.care = static_cast<Care>(care - kCareNames.begin());
    const std::optional<CostConditions> conditions = cost_conditions_from_text(json.at("conditions").dump());
    if (!conditions) fail("the conditions are not whole");
    row.conditions = *conditions;
    rows.emplace_back(line_, std::move(row));
  }

  const std::string path_;
  const MappedFile file_;
  int line_ = 0;
  std::set<std::string> hashes_;  // of the texts
};

}  // namespace

CostsCount export_costs(Database& database, const std::function<void(std::string_view line)>& write) {
  write(line_of({{kMagic, kVersion}}));
  CostsCount count;
  std::set<std::string> written, devices, kernels;
  const auto write_text = [&](const std::string& hex) {
    if (written.contains(hex)) return true;
    const std::optional<Hash> hash = hash_from_hex(hex);
    const std::optional<std::string> text = hash ? database.get_text(*hash) : std::nullopt;
    if (!text || hash_text(*text) != *hash) return false;
    write(line_of({{"text", *text}}));
    written.insert(hex);
    return true;
  };
  for (const Hash& key : database.described_costs()) {
    const std::optional<CostConditions> conditions = database.get_conditions(key);
    const std::optional<Cost> cost = database.get_cost(key);
    if (!conditions || !cost) continue;
    const auto texts = texts_of(*conditions);
    if (!std::all_of(texts.begin(), texts.end(), [&](const std::string* text) { return write_text(*text); }))
      continue;
    write(line_of(to_json({key, *cost, *conditions})));
    ++count.rows;
    devices.insert(conditions->device);
    kernels.insert(conditions->spec);
  }
  count.devices = static_cast<int>(devices.size());
  count.kernels = static_cast<int>(kernels.size());
  return count;
}

CostsImported import_costs(Database& database, const std::string& path) {
  Reader reader(path);
  reader.read();
  for (const std::string& text : reader.texts) database.put_text(hash_text(text), text);
  CostsImported count;
  for (const auto& [line, row] : reader.rows) {
    const std::optional<Cost> known = database.get_cost(row.key);
    if (known && known->care >= row.cost.care && database.get_conditions(row.key)) {
      ++count.known;
      continue;
    }
    ++(known ? count.replaced : count.added);
    database.put_conditions(row.key, row.conditions);
    database.put_cost(row.key, row.cost);
  }
  database.commit();
  return count;
}

}  // namespace korch
