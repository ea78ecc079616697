// JSON in a section of an executable that is not loaded: for people and for korch, never for a run.
#pragma once

#include <optional>
#include <string>

#include "korch/base/json.h"

namespace korch {

// Section content: the size of the text in decimal, a line feed, the text deflated.
std::string pack_json(const nlohmann::json& json);

// The JSON that pack_json was given; nothing if the executable at `path` has no such section. Throws as
// read_executable, and Error{io}, which calls the section `what`, on a section that pack_json did not write.
std::optional<nlohmann::json> read_packed_json(const std::string& path, const char* section,
                                               const char* what);

}  // namespace korch
