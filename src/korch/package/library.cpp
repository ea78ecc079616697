#include "korch/package/library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "korch/base/error.h"

namespace korch {
namespace {

// Absolute: a name without '/' would be searched for. And of this file alone: the loader takes a name that it
// knows for the library that it has, whatever the file is now, so the name spells the inode, a '/.' for each
// 1 and a '/' for each 0, which names the same folder. An inode is not given to another file while it is
// mapped.
std::string loader_name(const std::string& path) {
  const std::unique_ptr<char, decltype(&::free)> real(::realpath(path.c_str(), nullptr), ::free);
  struct stat file;
  if (real == nullptr || ::stat(real.get(), &file) != 0) return path;
  const std::string name = real.get();
  const size_t slash = name.rfind('/');
  std::string inode;
  for (uint64_t rest = file.st_ino; rest != 0; rest >>= 1) inode += (rest & 1) != 0 ? "/." : "/";
  return name.substr(0, slash) + inode + name.substr(slash);
}

}  // namespace

void CloseLibrary::operator()(void* handle) const {
  ::dlclose(handle);
}

Library open_library(const ExecutableInfo& executable) {
  const std::string& path = executable.path;
  if (const std::optional<Isa> isa = isa_named(executable.code); isa && !runs_here(*isa))
    throw Error(ErrorKind::io, fmt::format("'{}' was compiled for {}, which this CPU does not offer", path,
                                           executable.code));
  Library library(::dlopen(loader_name(path).c_str(), RTLD_NOW | RTLD_LOCAL));
  if (library == nullptr) throw Error(ErrorKind::io, fmt::format("cannot load '{}': {}", path, ::dlerror()));
  return library;
}

void* find_symbol(const Library& library, const char* symbol) {
  return ::dlsym(library.get(), symbol);
}

void* require_symbol(const Library& library, const char* symbol, const ExecutableInfo& executable) {
  void* address = find_symbol(library, symbol);
  if (address == nullptr)
    throw Error(ErrorKind::io,
                fmt::format("'{}' is not an executable written by korch: no {}", executable.path, symbol));
  return address;
}

}  // namespace korch
