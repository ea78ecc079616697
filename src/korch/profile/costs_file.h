// Costs as a text file that moves between machines (`korch costs export|import`): JSON, one object per line.
//
//   {"korch_costs": 1}
//   {"text": "{\"kind\":\"cpu\", ...}"}        what rows refer to by its hash: a device, a kernel
//   {"cost": "<key>", "us": 8.1, "low_us": 7.9, "high_us": 8.4, "samples": 40, "care": "thorough",
//    "conditions": {"protocol": 6, "device": "<hash>", "spec": "<hash>", ...}}
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "korch/profile/database.h"

namespace korch {

struct CostsCount {
  int rows = 0, kernels = 0, devices = 0;
};

// Calls `write` with each line; rows by key, so that one database always gives the same file. A row whose
// texts the database has lost is left out.
CostsCount export_costs(Database& database, const std::function<void(std::string_view line)>& write);

struct CostsImported {
  int added = 0, replaced = 0, known = 0;  // replaced: by one that was measured with more care
};

// Throws Error{invalid} with the line if the file is no such file, of a newer version, or has a row that
// makes no sense; then the database has nothing of it.
CostsImported import_costs(Database& database, const std::string& path);

}  // namespace korch
