#include "korch/inspect/executable_inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "korch/base/error.h"
#include "korch/base/printable.h"
#include "korch/inspect/verify.h"
#include "korch/plan/plan_json.h"
#include "korch/tensor/npy.h"
#include "korch/tensor/npz.h"

namespace korch {
namespace {

std::string list_of(const std::vector<PlanIo>& inputs) {
  std::string text;
  for (const PlanIo& io : inputs)
    text += fmt::format("{}'{}' {}", text.empty() ? "" : ", ", io.name, to_string(io.type));
  return text;
}

std::string listed(const std::vector<OpenDimension>& open) {
  if (open.empty()) return "all its shapes are fixed";
  std::string text;
  for (const OpenDimension& d : open)
    text += fmt::format("{}{} ({} to {})", text.empty() ? "it has " : ", ", d.name, d.least, d.most);
  return text;
}

void require_dimensions(const LoadedExecutable& executable, const std::map<std::string, int64_t>& extents) {
  for (const auto& [name, extent] : extents) {
    const std::vector<OpenDimension>& open = executable.dimensions();
    const auto found =
        std::find_if(open.begin(), open.end(), [&](const OpenDimension& d) { return d.name == name; });
    if (found == open.end())
      throw Error(ErrorKind::usage, fmt::format("'{}' has no open dimension '{}'; {}", executable.info().path,
                                                name, listed(open)));
    if (extent < found->least || extent > found->most)
      throw Error(ErrorKind::usage,
                  fmt::format("{} is {} to {}, not {}", name, found->least, found->most, extent));
  }
}

// The one extent that a sum and its other terms leave no choice of.
void add_term(const std::vector<OpenDimension>& dimensions, const OpenDimension& whole,
              std::map<std::string, int64_t>& known) {
  if (!whole.sum || !known.contains(whole.name)) return;
  int64_t rest = known.at(whole.name) - whole.sum->plus;
  std::vector<ExtentSum::Term> unknown;
  for (const ExtentSum::Term& term : whole.sum->terms) {
    const auto found = known.find(dimensions[static_cast<size_t>(term.dimension)].name);
    if (found == known.end())
      unknown.push_back(term);
    else
      rest -= term.factor * found->second;
  }
  if (unknown.empty()) return;
  std::vector<std::string> names, left;
  for (const OpenDimension& dimension : dimensions) names.push_back(dimension.name);
  for (const ExtentSum::Term& term : unknown) left.push_back(names[static_cast<size_t>(term.dimension)]);
  const std::string rule = fmt::format("{} is {}", whole.name, to_string(*whole.sum, names));
  if (unknown.size() > 1)
    throw Error(ErrorKind::usage, fmt::format("{}: give {} too", rule, fmt::join(left, ", ")));
  const OpenDimension& term = dimensions[static_cast<size_t>(unknown[0].dimension)];
  const int64_t extent = rest / unknown[0].factor;
  if (rest % unknown[0].factor != 0 || extent < term.least || extent > term.most)
    throw Error(ErrorKind::usage, fmt::format("{}, and no {} of {}..{} makes it {}", rule, term.name,
                                              term.least, term.most, known.at(whole.name)));
  known.emplace(term.name, extent);
}

// Extents that follow from those that are known, the others being the largest that fit.
void add_sums(const LoadedExecutable& executable, std::map<std::string, int64_t>& known) {
  if (executable.dimensions().empty()) return;
  const std::vector<OpenDimension> dimensions = plan_from_json(executable.info().plan_json).dimensions;
  for (const OpenDimension& dimension : dimensions) add_term(dimensions, dimension, known);
  std::vector<int64_t> extents;
  for (const OpenDimension& dimension : dimensions) {
    const auto found = known.find(dimension.name);
    extents.push_back(found != known.end() ? found->second : dimension.most);
  }
  const std::vector<int64_t> fitting = fitting_extents(dimensions, extents);
  for (size_t d = 0; d < dimensions.size(); ++d)
    if (!known.contains(dimensions[d].name)) extents[d] = fitting[d];
  for (size_t d = 0; d < dimensions.size(); ++d)
    known.emplace(dimensions[d].name, dimensions[d].sum ? dimensions[d].sum->of(extents) : extents[d]);
}

// Of .npy files, and of members of .npz files, each of which is read once.
class TensorFiles {
 public:
  HostTensor read(const std::string& path, const std::string& name) {
    if (!path.ends_with(".npz")) return read_npy(path);
    auto archive = archives_.find(path);
    if (archive == archives_.end()) archive = archives_.emplace(path, read_npz(path)).first;
    const auto member = archive->second.find(name);
    if (member == archive->second.end())
      throw Error(ErrorKind::invalid, fmt::format("'{}' holds no '{}.npy'", path, printable(name)));
    return member->second;
  }

 private:
  std::map<std::string, std::map<std::string, HostTensor>> archives_;
};

}  // namespace

std::map<std::string, int64_t> own_extents(const LoadedExecutable& executable,
                                           const std::map<std::string, int64_t>& extents) {
  std::map<std::string, int64_t> own;
  for (const OpenDimension& dimension : executable.dimensions())
    if (const auto found = extents.find(dimension.name); found != extents.end()) own.insert(*found);
  return own;
}

std::vector<HostTensor> executable_inputs(const LoadedExecutable& executable, uint64_t seed,
                                          const std::map<std::string, std::string>& files,
                                          const std::map<std::string, int64_t>& extents) {
  const std::vector<PlanIo>& ios = executable.inputs();
  std::map<std::string, int64_t> known = extents;
  require_dimensions(executable, extents);
  std::map<size_t, HostTensor> given;
  TensorFiles tensors;
  for (const auto& [name, path] : files) {
    const auto found =
        std::find_if(ios.begin(), ios.end(), [&](const PlanIo& io) { return io.name == name; });
    if (found == ios.end())
      throw Error(ErrorKind::invalid,
                  fmt::format("there is no input named '{}'; the inputs are {}", name, list_of(ios)));
    const HostTensor tensor = tensors.read(path, name);
    const auto number = static_cast<int>(found - ios.begin());
    const std::optional<HostTensor> input =
        as_type(tensor, {found->type.dtype, executable.shape_within(number, tensor.shape())});
    if (!input)
      throw Error(ErrorKind::invalid, fmt::format("input '{}' is {}, but '{}' holds {}", name,
                                                  to_string(found->type), path, to_string(tensor.type())));
    for (const OpenDimension& dimension : executable.dimensions())
      for (const auto& [open, axis] : dimension.axes)
        if (open == number) known.emplace(dimension.name, input->shape()[static_cast<size_t>(axis)]);
    given.emplace(number, *input);
  }
  add_sums(executable, known);
  Graph graph;
  for (const PlanIo& io : ios) graph.add_input(io.type, io.name);
  std::vector<HostTensor> inputs = random_inputs(graph, seed);
  for (size_t i = 0; i < inputs.size(); ++i) {
    Shape shape = inputs[i].shape();
    for (const OpenDimension& dimension : executable.dimensions())
      for (const auto& [open, axis] : dimension.axes)
        if (open == static_cast<int>(i) && known.contains(dimension.name))
          shape[static_cast<size_t>(axis)] = known.at(dimension.name);
    inputs[i] = given.contains(i) ? given.at(i) : inputs[i].cropped(shape);
  }
  return inputs;
}

}  // namespace korch
