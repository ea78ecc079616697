#include "korch/codegen/schedule.h"

#include <fmt/format.h>

namespace korch {
namespace {

struct Text {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(const RowSchedule& s) const {
    return tile(s.tile) + (s.row_blocks > 0 ? fmt::format(",{} blocks", s.row_blocks) : "");
  }
  std::string operator()(const WinogradSchedule& s) const {
    return fmt::format("{}{}", s.outputs, s.product ? "," + tile(*s.product) : "");
  }
  std::string operator()(const RecurrenceSchedule& s) const {
    return fmt::format("{},{},{}", static_cast<int>(s.shared), s.steps, tile(s.tile));
  }
  std::string operator()(const StagedSchedule& s) const {
    std::string text = fmt::format("{},{},{}", s.rows, s.columns, s.k_tile);
    if (s.parts > 1) text += fmt::format(",parts {}", s.parts);
    if (s.matrix_units) text += fmt::format(",matrix {}", name(*s.matrix_units));
    return text;
  }
  std::string operator()(const BlockSchedule& s) const {
    std::string text = fmt::format("{},{},{}", s.structure, s.rows, s.block);
    if (s.columns > 0) text += fmt::format(",columns {}", s.columns);
    if (s.k_tile != BlockSchedule().k_tile) text += fmt::format(",terms {}", s.k_tile);
    if (s.matrix_units) text += fmt::format(",matrix {}", name(*s.matrix_units));
    if (s.parts > 1) text += fmt::format(",parts {}", s.parts);
    return text + (s.direct ? ",direct" : "");
  }
  static std::string tile(const TileShape& shape) { return fmt::format("{},{}", shape.vectors, shape.rows); }
};

struct Kind {
  int64_t operator()(std::monostate) const { return 0; }
  int64_t operator()(const RowSchedule& s) const { return s.tile.vectors; }
  int64_t operator()(const WinogradSchedule& s) const { return s.outputs; }
  int64_t operator()(const RecurrenceSchedule& s) const { return s.shared ? 1 : 0; }
  int64_t operator()(const BlockSchedule& s) const {
    constexpr int64_t kPart = int64_t{1} << 20, kDirect = int64_t{1} << 50;
    return s.block + kPart * (s.parts - 1) + (s.direct ? kDirect : 0);
  }
  int64_t operator()(const StagedSchedule& s) const {
    const int64_t units = s.matrix_units ? 1 + static_cast<int64_t>(*s.matrix_units) : 0;
    return s.columns + units + 1024 * (s.parts - 1);
  }
};

}  // namespace

std::string algorithm_of(const Schedule& schedule) {
  const bool has_several = std::holds_alternative<WinogradSchedule>(schedule);
  return has_several ? std::to_string(kind_of(schedule)) : "";
}

std::string to_string(const Schedule& schedule) {
  return std::visit(Text{}, schedule);
}
int64_t kind_of(const Schedule& schedule) {
  return std::visit(Kind{}, schedule);
}

}  // namespace korch
