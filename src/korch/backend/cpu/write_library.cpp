#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <unordered_map>

#include "korch/backend/cpu/cpu_parts.h"
#include "korch/backend/cpu/link.h"
#include "korch/base/embed.h"
#include "korch/base/error.h"
#include "korch/base/files.h"
#include "korch/base/hash.h"
#include "korch/package/data_object.h"
#include "korch/package/executable.h"
#include "korch/package/graphs.h"
#include "korch/package/memory.h"
#include "korch/package/seal.h"
#include "korch/package/sources.h"
#include "korch/package/tables.h"
#include "korch/plan/program.h"
#include "korch/runtime/check.h"
#include "korch/runtime/library.h"

namespace korch {

// The runtime's static library, inside the program, so that writing an executable needs no file of ours.
std::string_view runtime_archive();

namespace {

// The constants behind each other, equal ones once.
struct Weights {
  std::vector<std::string_view> parts;  // with padding between
  WeightsLayout layout;
};

Weights lay_out_weights(const std::vector<std::string>& constants) {
  static constexpr char kPadding[kBufferAlignment] = {};
  Weights weights;
  auto& [size_bytes, offsets] = weights.layout;
  std::unordered_map<Hash, size_t, HashHasher> known;
  for (size_t c = 0; c < constants.size(); ++c) {
    const std::string& bytes = constants[c];
    const auto [found, is_new] = known.emplace(hash_text(bytes), c);
    if (!is_new && constants[found->second] == bytes) {
      offsets.push_back(offsets[found->second]);
      continue;
    }
    offsets.push_back(size_bytes);
    const size_t padding = (kBufferAlignment - bytes.size() % kBufferAlignment) % kBufferAlignment;
    weights.parts.push_back(bytes);
    weights.parts.push_back({kPadding, padding});
    size_bytes += static_cast<int64_t>(bytes.size() + padding);
  }
  return weights;
}

// A file in a folder beside the wanted one (the linker makes temporaries of its own next to its output),
// removed unless it took its place.
class FileBeside {
 public:
  explicit FileBeside(const std::string& path)
      : path_(path), target_(output_target(path)), folder_(target_), temporary_(folder_.path() + "/output") {}
  const std::string& temporary() const { return temporary_; }
  // Fails when the disk cannot take `size_bytes` now: the linker maps its output, and a map without a disk
  // behind it ends in a signal.
  void check_room(int64_t size_bytes) const {
    const int fd = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) fail();
    const int code = ::posix_fallocate(fd, 0, size_bytes);
    const bool released = ::ftruncate(fd, 0) == 0;
    ::close(fd);
    errno = code;
    if (code == ENOSPC || code == EDQUOT || code == EFBIG || !released) fail();
  }
  void move_into_place() const {
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail();
  }

 private:
  [[noreturn]] void fail() const {
    const int code = errno;
    const ErrorKind kind =
        code == ENOSPC || code == EDQUOT || code == EFBIG ? ErrorKind::resource : ErrorKind::io;
    throw Error(kind, fmt::format("cannot write '{}': {}", path_, std::strerror(code)));
  }
  std::string path_, target_;
  TempDir folder_;
  std::string temporary_;
};

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

void check(const PackageInput& input) {
  const Plan& plan = *input.plan;
  KORCH_ASSERT(input.objects.size() == plan.kernels.size(), "one object per kernel");
  KORCH_ASSERT(input.constant_bytes.size() == plan.constants.size(), "one blob per constant");
  KORCH_ASSERT(input.placements.size() == shape_plans_of(plan).size(), "one placement per shape plan");
  const auto take_as_many = [&](int kernel, const std::vector<int>& constants) {
    return plan.kernels[static_cast<size_t>(kernel)].constant_packing.size() == constants.size();
  };
  for (const PlanStep& step : plan.steps) {
    bool fits =
        take_as_many(step.kernel, step.constants) && step.variants.list.size() <= rt::kMostKernelVariants;
    for (const KernelVariant& variant : step.variants.list)
      fits = fits && take_as_many(variant.kernel, variant.constants);
    KORCH_ASSERT(fits, "step '" + step.label + "': its kernel wants another number of constants");
  }
}

}  // namespace

PackageReport write_library(const PackageInput& input, const std::string& path,
                            const std::function<void()>& constants_are_written) {
  check(input);
  const Plan& plan = *input.plan;
  const Weights weights = lay_out_weights(input.constant_bytes);
  int64_t arena_bytes = 0;
  for (const Placement& placed : input.placements)
    arena_bytes = std::max(arena_bytes, placed.memory.arena_bytes);
  const Blob tables = model_tables(plan, input.placements, weights.layout, *isa_named(input.target.code)),
             info = model_info(plan, input.placements, weights.layout, *isa_named(input.target.code));

  FileBeside output(path);
  const TempDir folder;
  LinkRequest request;
  for (size_t k = 0; k < input.objects.size(); ++k) {
    if (input.objects[k].empty()) continue;
    const std::string object = with_symbol_prefix(input.objects[k], linked_symbol(static_cast<int>(k), ""));
    request.objects.push_back(write_object(folder, fmt::format("kernel{}.o", k), object));
  }
  const std::string sources = pack_sources(plan), graphs = pack_graphs(plan);
  request.objects.push_back(folder.path() + "/data.o");
  const std::string record(sizeof(rt::CheckRecord), '\0');  // filled in by the seal
  write_data_object(request.objects.back(),
                    {{kTablesSection, DataSection::tables, {tables.bytes()}, kModelSymbol, tables.links()},
                     {kInfoSection, DataSection::addresses, {info.bytes()}, kInfoSymbol, info.links()},
                     {kCheckSection, DataSection::tables, {record}, "korch_check_record"},
                     {kWeightsSection, DataSection::large, weights.parts, kWeightsSymbol},
                     {kPlanSection, DataSection::unloaded, {input.plan_json}, ""},
                     {kTargetSection, DataSection::unloaded, {input.target.code}, ""},
                     {kSourcesSection, DataSection::unloaded, {sources}, ""},
                     {kGraphsSection, DataSection::unloaded, {graphs}, ""}});
  constants_are_written();
  request.archives.push_back(write_object(folder, "runtime.a", std::string(runtime_archive())));
  request.sonames = {"libm.so.6", "libc.so.6"};
  request.exported = {"korch_describe",    "korch_check",     "korch_create_with", "korch_create",
                      "korch_run_with",    "korch_run",       "korch_profile",     "korch_output_dims",
                      "korch_pool_create", "korch_pool_free", "korch_last_error",  "korch_status_text",
                      "korch_threads",     "korch_free"};
  request.version_script = folder.path() + "/exported.map";
  request.output = output.temporary();
  output.check_room(bytes_on_disk(request));
  link_shared(request);
  seal_executable(request.output);
  output.move_into_place();
  return {arena_bytes, weights.layout.size_bytes};
}

}  // namespace korch

KORCH_EMBED(runtime_archive, KORCH_RUNTIME_ARCHIVE)
