// A fuzz target: what reads one kind of untrusted bytes. It returns where the bytes are read or refused with
// the Error that a user would see; everything else (a crash, an Error{internal}, a foreign exception) is a
// finding.
#pragma once

#include <string_view>

namespace korch::fuzz {

struct Target {
  const char* name;  // of its folder below corpus/, and of its program fuzz_<name>
  void (*run)(std::string_view bytes);
};

void read_onnx(std::string_view bytes);
void read_ir_text(std::string_view bytes);
void read_executable_file(std::string_view bytes);
void read_numpy(std::string_view bytes);
void read_database_row(std::string_view bytes);
void read_tile_graph(std::string_view bytes);

constexpr Target kTargets[] = {
    {"onnx", read_onnx},   {"ir_text", read_ir_text},           {"executable", read_executable_file},
    {"numpy", read_numpy}, {"database_row", read_database_row}, {"tile_graph", read_tile_graph},
};

}  // namespace korch::fuzz
