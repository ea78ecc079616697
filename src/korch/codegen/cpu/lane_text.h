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

// any_outside of i32: whether an index is no place of an axis.
std::string any_outside(int lanes);
// load_looked_up of the first lanes of f32 (AVX2, AVX-512 where lanes are 16), with lane_numbers_N.
std::string looked_up_load(int lanes);

}  // namespace korch::tile
