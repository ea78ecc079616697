#include "korch/fleet/work.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "korch/backend/random_content.h"
#include "korch/base/error.h"
#include "korch/base/hash.h"
#include "korch/base/json.h"
#include "korch/profile/cost_row.h"

namespace korch {
namespace {

using WorkJson = nlohmann::ordered_json;

constexpr std::string_view kWorkMagic = "korch work ";
constexpr const char* kGenerated = "sent as an object";  // in place of the source

WorkJson json_of(const KernelWork& work) {
  WorkJson phases = WorkJson::array(), constants = WorkJson::array(), needed = WorkJson::array(),
           inputs = WorkJson::array();
  for (const KernelPhase& p : work.kernel.phases) phases.push_back({p.symbol, p.grid, p.grain, p.rounds});
  for (const KernelWork::Constant& c : work.constants) constants.push_back({name(c.dtype), c.bytes});
  for (const NeededSlices& n : work.needed) needed.push_back({n.phase, n.stride, n.count, n.needed});
  for (const DType dtype : work.inputs) inputs.push_back(name(dtype));
  return {{"protocol", kCostProtocol},
          {"device", to_text(work.device)},
          {"footprint", work.footprint_bytes},
          {"care", static_cast<int>(work.care)},
          {"generated", !work.kernel.source.empty()},
          {"library", work.kernel.call.library},
          {"function", work.kernel.call.function},
          {"params", work.kernel.call.params},
          {"floats", work.kernel.call.floats},
          {"phases", std::move(phases)},
          {"temporaries", work.kernel.temporary_bytes},
          {"scratch", work.kernel.scratch_bytes},
          {"inputs", std::move(inputs)},
          {"input_bytes", work.input_bytes},
          {"output_bytes", work.output_bytes},
          {"constants", std::move(constants)},
          {"needed", std::move(needed)}};
}

[[noreturn]] void refuse_work(const std::string& why) {
  throw Error(ErrorKind::invalid, "not a kernel to measure: " + why);
}

DType dtype_named(const WorkJson& json) {
  DType dtype;
  if (!parse_dtype(json.get<std::string>(), &dtype)) refuse_work("an unknown type");
  return dtype;
}

void read_work(const WorkJson& json, KernelWork& work) {
  if (json.at("protocol").get<int>() != kCostProtocol) refuse_work("of another protocol");
  work.device = device_from_text(json.at("device").get<std::string>());
  json.at("footprint").get_to(work.footprint_bytes);
  const int care = json.at("care").get<int>();
  if (care < 0 || care >= static_cast<int>(kCareNames.size())) refuse_work("an unknown care");
  work.care = static_cast<Care>(care);
  if (json.at("generated").get<bool>()) work.kernel.source = kGenerated;
  json.at("library").get_to(work.kernel.call.library);
  json.at("function").get_to(work.kernel.call.function);
  json.at("params").get_to(work.kernel.call.params);
  json.at("floats").get_to(work.kernel.call.floats);
  for (const WorkJson& p : json.at("phases"))
    work.kernel.phases.push_back(
        {p.at(0).get<std::string>(), p.at(1).get<int64_t>(), p.at(2).get<int64_t>(), p.at(3).get<int64_t>()});
  json.at("temporaries").get_to(work.kernel.temporary_bytes);
  json.at("scratch").get_to(work.kernel.scratch_bytes);
  for (const WorkJson& dtype : json.at("inputs")) work.inputs.push_back(dtype_named(dtype));
  json.at("input_bytes").get_to(work.input_bytes);
  json.at("output_bytes").get_to(work.output_bytes);
  for (const WorkJson& c : json.at("constants"))
    work.constants.push_back({dtype_named(c.at(0)), c.at(1).get<int64_t>()});
  for (const WorkJson& n : json.at("needed"))
    work.needed.push_back(
        {n.at(0).get<int>(), n.at(1).get<int64_t>(), n.at(2).get<int64_t>(), n.at(3).get<int64_t>()});
}

// What the meter multiplies, adds up and allocates.
void check_sizes(const KernelWork& work) {
  constexpr int64_t kMostBytes = int64_t{1} << 40, kMostSlices = int64_t{1} << 40, kMostRounds = 1 << 20;
  constexpr size_t kMostArguments = 1 << 12, kMostPhases = 1 << 10;
  const auto is_size = [](int64_t bytes) { return bytes >= 0 && bytes <= kMostBytes; };
  const auto are_sizes = [&](const std::vector<int64_t>& all) {
    return all.size() <= kMostArguments && std::ranges::all_of(all, is_size);
  };
  if (!are_sizes(work.input_bytes) || !are_sizes(work.output_bytes) ||
      !are_sizes(work.kernel.temporary_bytes) || !is_size(work.kernel.scratch_bytes) ||
      !is_size(work.footprint_bytes) || work.constants.size() > kMostArguments ||
      !std::ranges::all_of(work.constants, is_size, &KernelWork::Constant::bytes))
    refuse_work("sizes that no kernel has");
  if (work.inputs.size() != work.input_bytes.size()) refuse_work("inputs without a type");
  const bool has_code = !work.kernel.source.empty();
  if (has_code == work.object.empty() || has_code != work.kernel.call.library.empty())
    refuse_work("neither an object nor a library's function");
  const std::vector<KernelPhase>& phases = work.kernel.phases;
  if (phases.empty() || phases.size() > kMostPhases) refuse_work("phases that no kernel has");
  for (const KernelPhase& p : phases)
    if (p.grid < 0 || p.grid > kMostSlices || p.grain < 1 || p.grain > kMostSlices || p.rounds < 1 ||
        p.rounds > kMostRounds || p.grid > kMostSlices / p.rounds)
      refuse_work("phases that no kernel has");
  for (const NeededSlices& n : work.needed)
    if (n.phase < 0 || n.phase >= static_cast<int>(phases.size()) || n.stride < 1 || n.count < 1 ||
        n.needed < 0)
      refuse_work("slices that no kernel has");
}

}  // namespace

bool can_travel(const MeasuredKernel& kernel) {
  return kernel.constant_types.size() == kernel.constants.size() &&
         std::ranges::none_of(kernel.constant_types,
                              [](DType dtype) { return is_integer(dtype) && size_bytes(dtype) > 1; });
}

KernelWork work_of(const MeasuredKernel& kernel, const Device& device, int64_t footprint_bytes, Care care) {
  KernelWork work;
  work.device = device;
  work.footprint_bytes = footprint_bytes;
  work.care = care;
  if (!kernel.kernel->source.empty()) work.kernel.source = kGenerated;
  work.kernel.call = kernel.kernel->call;
  work.kernel.phases = kernel.kernel->phases;
  work.kernel.temporary_bytes = kernel.kernel->temporary_bytes;
  work.kernel.scratch_bytes = kernel.kernel->scratch_bytes;
  for (const TensorType& type : kernel.inputs) work.inputs.push_back(type.dtype);
  work.input_bytes = kernel.input_bytes;
  work.output_bytes = kernel.output_bytes;
  for (size_t i = 0; i < kernel.constants.size(); ++i)
    work.constants.push_back({kernel.constant_types[i], static_cast<int64_t>(kernel.constants[i]->size())});
  work.needed = kernel.needed;
  if (kernel.object != nullptr) work.object = *kernel.object;
  return work;
}

std::string to_bytes(const KernelWork& work) {
  const std::string text = json_of(work).dump() + "\n" + work.object;
  return fmt::format("{}{}\n{}", kWorkMagic, hash_text(text).hex(), text);
}

KernelWork work_from_bytes(std::string_view bytes) {
  const size_t head = kWorkMagic.size() + Hash{}.hex().size() + 1;
  if (bytes.size() <= head || !bytes.starts_with(kWorkMagic) || bytes[head - 1] != '\n')
    refuse_work("other first bytes");
  const std::string_view text = bytes.substr(head);
  if (hash_text(text).hex() != bytes.substr(kWorkMagic.size(), head - 1 - kWorkMagic.size()))
    refuse_work("its hash is another one");
  const size_t line = text.find('\n');
  if (line == text.npos) refuse_work("no object");
  KernelWork work;
  work.object = text.substr(line + 1);
  try {
    read_work(WorkJson::parse(text.substr(0, line)), work);
  } catch (const WorkJson::exception& e) {
    refuse_work(e.what());
  }
  check_sizes(work);
  return work;
}

MeasuredKernel measured_kernel(const KernelWork& work) {
  MeasuredKernel measured;
  measured.kernel = &work.kernel;
  measured.object = &work.object;
  for (const DType dtype : work.inputs) measured.inputs.push_back({dtype, {}});
  measured.input_bytes = work.input_bytes;
  measured.output_bytes = work.output_bytes;
  RandomContent content;
  for (const KernelWork::Constant& constant : work.constants) {
    std::string bytes(static_cast<size_t>(constant.bytes), '\0');
    content.fill(reinterpret_cast<unsigned char*>(bytes.data()), constant.bytes, constant.dtype);
    measured.constants.push_back(std::make_shared<const std::string>(std::move(bytes)));
    measured.constant_types.push_back(constant.dtype);
  }
  measured.needed = work.needed;
  return measured;
}

}  // namespace korch
