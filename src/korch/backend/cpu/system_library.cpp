#include "korch/backend/cpu/system_library.h"

#include <dlfcn.h>
#include <link.h>

#include "korch/base/error.h"

namespace korch {

std::string system_library_path(const std::string& soname) {
  void* handle = ::dlopen(soname.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr)
    throw Error(ErrorKind::io, "cannot find the shared library '" + soname + "': " + ::dlerror());
  struct link_map* map = nullptr;
  const bool found = ::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0;
  const std::string path = found ? map->l_name : "";
  ::dlclose(handle);
  if (path.empty()) throw Error(ErrorKind::io, "the shared library '" + soname + "' has no file");
  return path;
}

}  // namespace korch
