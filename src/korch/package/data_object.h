// A relocatable ELF object that holds data: the linker makes the weights, tables and descriptions of an
// executable of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace korch {

// A word of 64 bits that the linker fills in.
struct DataLink {
  enum Kind { address, distance };  // of the target; its distance from the word
  Kind kind;
  uint64_t offset;  // of the word in its section
  std::string symbol;
  uint64_t addend = 0;  // the target is so many bytes behind the symbol
};

struct DataSection {
  enum Kind {
    unloaded,
    tables,     // read-only
    addresses,  // read-only once the dynamic loader has filled in addresses
    large       // read-only, on a page, maybe of more than 2 GiB: to be reached through 64-bit addresses
  };
  std::string name;
  Kind kind;
  std::vector<std::string_view> parts;  // the content, in order
  std::string symbol;                   // at the start of what is loaded
  std::vector<DataLink> links = {};
};

// Throws like write_file.
void write_data_object(const std::string& path, const std::vector<DataSection>& sections);

}  // namespace korch
