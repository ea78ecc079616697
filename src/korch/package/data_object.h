// A relocatable ELF object that holds data: what the linker turns into the weights and descriptions of an
// executable.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace korch {

struct DataSection {
  std::string name;
  std::vector<std::string_view> parts;  // the content, in order
  std::string symbol;                   // at its start; empty: the section is not loaded
};

// Loaded sections are read-only, start on a page and may be larger than 2 GiB: their symbols are to be
// reached through 64-bit addresses. Throws like write_file.
void write_data_object(const std::string& path, const std::vector<DataSection>& sections);

}  // namespace korch
