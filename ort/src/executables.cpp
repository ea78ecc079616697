#include "executables.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include "korch/base/files.h"
#include "korch/base/printable.h"
#include "korch/device/device.h"
#include "korch/onnx/model_file.h"
#include "korch/onnx/tensor_data.h"

namespace korch::ort {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kMostCachedBytes = uintmax_t{16} << 30;  // those that nobody used for longest go

// The compiler that was named, or libkorch, with which another one would have been installed.
std::string compiler_version(const std::string& compiler) {
  std::string path = compiler;
  Dl_info library{};
  if (path.empty() && ::dladdr(reinterpret_cast<void*>(&korch_compile), &library) != 0)
    path = library.dli_fname;
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) return "none";
  return fmt::format("{} {}.{}", file.st_size, file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
}

// An executable is trusted like a program.
void make_trusted_folder(const std::string& path) {
  const bool is_new = !file_exists(path);
  make_directories(path);
  std::error_code unchanged;  // then it is judged as it is
  if (is_new) fs::permissions(path, fs::perms::owner_all, unchanged);
  struct stat folder {};
  if (::stat(path.c_str(), &folder) != 0 || (folder.st_uid != ::geteuid() && folder.st_uid != 0) ||
      (folder.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    throw Error(ErrorKind::io, fmt::format("others may write to '{}'", path));
}

// As the model declares it.
void require(bool agrees, const std::string& path) {
  if (!agrees) throw Error(ErrorKind::io, fmt::format("'{}' is the executable of another network", path));
}

void check_tensors(const proto::GraphProto& graph, const korch_model_info& model, const std::string& path) {
  const auto check = [&](const auto& declared, const korch_tensor_info* tensors, uint32_t count) {
    require(declared.size() == static_cast<int>(count), path);
    for (int i = 0; i < declared.size(); ++i) {
      const auto& type = declared[i].type().tensor_type();
      const auto dtype = onnx::dtype_of(type.elem_type());
      require(printable(declared[i].name()) == tensors[i].name && dtype &&
                  std::string(tensors[i].dtype) == name(*dtype) &&
                  type.shape().dim_size() == static_cast<int>(tensors[i].rank),
              path);
      for (int axis = 0; axis < type.shape().dim_size(); ++axis)
        require(type.shape().dim(axis).dim_value() == tensors[i].dims[axis], path);
    }
  };
  check(graph.input(), model.inputs, model.input_count);
  check(graph.output(), model.outputs, model.output_count);
}

}  // namespace

std::string surroundings(const Options& options) {
  const Device target = detect_device("native", options.threads);
  std::string asked;
  for (const auto& [name, value] : options.compile)
    if (name != "database") asked += fmt::format(" {}={}", name, value);
  return fmt::format("{} {} workers {}{} compiler {}", target.name, target.code, target.workers, asked,
                     compiler_version(options.compiler));
}

std::string cache_name(const Subgraph& subgraph, const std::string& surroundings) {
  return hash_text(subgraph.content().hex() + surroundings).hex() + ".so";
}

Executables::Executables(Options options, Log log)
    : options_(std::move(options)), log_(std::move(log)), surroundings_(surroundings(options_)) {
  bool is_kept = !options_.cache.empty();
  try {
    if (is_kept) make_trusted_folder(options_.cache);
  } catch (const Error& error) {
    log_.warn(fmt::format("executables are not kept: {}", error.what()));
    is_kept = false;
  }
  if (!is_kept) own_folder_ = std::make_unique<TempDir>();
}

Executables::~Executables() = default;

Executable Executables::of(const Subgraph& subgraph) {
  const std::string name = cache_name(subgraph, surroundings_);
  if (const auto found = loaded_.find(name); found != loaded_.end()) return found->second;
  const std::string path = (own_folder_ ? own_folder_->path() : options_.cache) + "/" + name;
  std::optional<Executable> result;
  if (file_exists(path)) {
    try {
      result = load(subgraph, path);
      std::error_code ignored;  // the folder may be somebody else's
      fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
    } catch (const std::exception& error) {
      log_.warn(fmt::format("a kept executable is of no use and is made again: {}", error.what()));
    }
  }
  if (!result) {
    compile(subgraph, path);
    try {
      result = load(subgraph, path);
    } catch (...) {
      std::error_code ignored;
      fs::remove(path, ignored);
      throw;
    }
    if (!own_folder_) drop_old();
  }
  return loaded_.emplace(name, *result).first->second;
}

void Executables::compile(const Subgraph& subgraph, const std::string& path) const {
  const TempDir folder;
  const std::string model = folder.path() + "/model.onnx";
  write_file(model, onnx::serialize(subgraph.model));
  write_file_parts(folder.path() + "/" + kWeightsFile, subgraph.weights);
  CompilerOptions options;
  options.options.assign(options_.compile.begin(), options_.compile.end());
  options.program = options_.compiler;
  log_.inform(fmt::format("compiling {} nodes into '{}'", subgraph.model.graph().node_size(), path));
  for (const std::string& warning : korch::compile(model, path, options)) log_.warn(warning);
}

// An executable that cannot make an instance is none.
Executable Executables::load(const Subgraph& subgraph, const std::string& path) const {
  Executable result(path);
  check_tensors(subgraph.model.graph(), result.model(), path);
  const Instance tried(result, 1);
  return result;
}

void Executables::drop_old() const {
  struct Kept {
    fs::file_time_type used;
    uintmax_t bytes;
    fs::path path;
    bool operator<(const Kept& other) const { return used < other.used; }
  };
  std::vector<Kept> kept;
  uintmax_t sum = 0;
  std::error_code error;  // another process may be at it
  for (fs::directory_iterator entry(options_.cache, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;
    Kept file{entry->last_write_time(gone), entry->file_size(gone), entry->path()};
    if (gone || file.path.extension() != ".so") continue;
    sum += file.bytes;
    kept.push_back(std::move(file));
  }
  std::sort(kept.begin(), kept.end());
  for (const Kept& file : kept) {
    if (sum <= kMostCachedBytes) break;
    std::error_code gone;
    fs::remove(file.path, gone);
    sum -= file.bytes;
  }
}

}  // namespace korch::ort
