// Functions of generated C++ that move elements between the lanes of vectors.
#pragma once

#include <functional>
#include <string>

namespace korch::tile {

// "0, 2, 4, 6": what `lane` says of each.
std::string lane_list(int lanes, const std::function<std::string(int)>& lane);
inline std::string lane_numbers(int lanes, const std::function<int(int)>& lane) {
  return lane_list(lanes, [&](int l) { return std::to_string(lane(l)); });
}

// load_transposed of f32: a block of `lanes` x `lanes`.
std::string transposed_load(int lanes);
// The function `name`: one value out of all lanes; `combine` has places for two vectors.
std::string across(const std::string& name, const std::string& combine, int lanes);
// load_every_second of f32.
std::string every_second_load(int lanes);

}  // namespace korch::tile
