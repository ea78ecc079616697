#include <fmt/format.h>

#include <filesystem>

#include "korch/backend/cpu/cpu_parts.h"
#include "korch/backend/cpu/link.h"
#include "korch/base/embed.h"
#include "korch/base/files.h"
#include "korch/package/executable_parts.h"
#include "korch/package/file_beside.h"
#include "korch/package/seal.h"
#include "korch/runtime/check.h"

namespace korch {

// The runtime's static library, inside the program, so that writing an executable needs no file of ours.
std::string_view runtime_archive();

namespace {

// At least what the linker will write: it drops parts of its input, and adds little.
int64_t bytes_on_disk(const LinkRequest& request) {
  constexpr int64_t kTablesOfTheLinker = 64 << 10;
  int64_t total = kTablesOfTheLinker;
  for (const std::string& object : request.objects)
    total += static_cast<int64_t>(std::filesystem::file_size(object));
  for (const std::string& file : request.archives)
    total += static_cast<int64_t>(std::filesystem::file_size(file));
  return total;
}

std::string write_object(const TempDir& folder, const std::string& name, const std::string& bytes) {
  const std::string path = folder.path() + "/" + name;
  write_file(path, bytes);
  return path;
}

}  // namespace

PackageReport write_library(const PackageInput& input, const std::string& path,
                            const std::function<void()>& constants_are_written) {
  const ExecutableParts made(input, *isa_named(input.target.code));
  FileBeside output(path);
  const TempDir folder;
  LinkRequest request;
  for (size_t k = 0; k < input.objects.size(); ++k) {
    if (input.objects[k].empty()) continue;
    const std::string object = with_symbol_prefix(input.objects[k], linked_symbol(static_cast<int>(k), ""));
    request.objects.push_back(write_object(folder, fmt::format("kernel{}.o", k), object));
  }
  request.objects.push_back(folder.path() + "/data.o");
  const std::string record(sizeof(rt::CheckRecord), '\0');  // filled in by the seal
  std::vector<DataSection> sections = made.sections();
  sections.insert(sections.begin() + 2, {kCheckSection, DataSection::tables, {record}, "korch_check_record"});
  write_data_object(request.objects.back(), sections);
  constants_are_written();
  request.archives.push_back(write_object(folder, "runtime.a", std::string(runtime_archive())));
  request.sonames = {"libm.so.6", "libc.so.6"};
  request.exported = {"korch_describe",    "korch_check",      "korch_create_with",  "korch_create",
                      "korch_run_with",    "korch_run",        "korch_profile",      "korch_output_dims",
                      "korch_pool_create", "korch_pool_free",  "korch_last_error",   "korch_status_text",
                      "korch_threads",     "korch_wait",       "korch_free",         "korch_state_create",
                      "korch_state_reset", "korch_state_copy", "korch_state_rewind", "korch_state_length",
                      "korch_state_free"};
  request.version_script = folder.path() + "/exported.map";
  request.output = output.temporary();
  output.check_room(bytes_on_disk(request));
  link_shared(request);
  seal_executable(request.output);
  output.move_into_place();
  return made.report();
}

}  // namespace korch

KORCH_EMBED(runtime_archive, KORCH_RUNTIME_ARCHIVE)
