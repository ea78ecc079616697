#include "options.h"

#include "korch/options/option_table.h"

namespace korch::ort {

Options parse_options(const std::map<std::string, std::string>& given) {
  UserOptions user;
  user.cache = place_in_cache("ort");
  for (const auto& [name, value] : given) set_option(user, kProvider, name, value);
  Options options{user.compile.threads, user.cache, user.compiler, given};
  options.compile.erase("cache");
  options.compile.erase("compiler");
  return options;
}

}  // namespace korch::ort
