#include "korch/estimate/lightgbm.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <charconv>
#include <map>
#include <memory>
#include <string_view>

#include "korch/base/error.h"

namespace korch {

// As LightGBM's c_api.h declares them; each returns 0 if all went well.
struct LightGbm::Functions {
  using Handle = void*;
  int (*dataset)(const void* data, int type, int32_t rows, int32_t columns, int is_row_major,
                 const char* parameters, Handle reference, Handle* out) = nullptr;
  int (*set_field)(Handle dataset, const char* name, const void* data, int count, int type) = nullptr;
  int (*free_dataset)(Handle dataset) = nullptr;
  int (*booster)(Handle dataset, const char* parameters, Handle* out) = nullptr;
  int (*update)(Handle booster, int* is_finished) = nullptr;
  int (*text)(Handle booster, int start, int count, int importance, int64_t size, int64_t* length,
              char* out) = nullptr;
  int (*free_booster)(Handle booster) = nullptr;
  const char* (*last_error)() = nullptr;
};

namespace {

constexpr int kFloat32 = 0;  // C_API_DTYPE_FLOAT32

template <typename T>
std::vector<T> numbers_of(std::string_view text) {
  std::vector<T> numbers;
  const char *at = text.data(), *end = at + text.size();
  while (at != end) {
    T number{};
    const auto [next, fault] = std::from_chars(at, end, number);
    if (fault != std::errc())
      throw Error(ErrorKind::internal, "LightGBM: no number in '" + std::string(text) + "'");
    numbers.push_back(number);
    at = next;
    while (at != end && *at == ' ') ++at;
  }
  return numbers;
}

// "key=value" lines of one tree.
RegressionTree tree_of(const std::map<std::string, std::string_view>& lines) {
  const auto at = [&](const char* name) {
    const auto found = lines.find(name);
    return found == lines.end() ? std::string_view() : found->second;
  };
  RegressionTree tree;
  tree.feature = numbers_of<int>(at("split_feature"));
  tree.at = numbers_of<float>(at("threshold"));
  tree.less = numbers_of<int>(at("left_child"));
  tree.more = numbers_of<int>(at("right_child"));
  tree.leaf = numbers_of<float>(at("leaf_value"));
  return tree;
}

std::vector<RegressionTree> trees_of(std::string_view text) {
  std::vector<RegressionTree> trees;
  std::map<std::string, std::string_view> lines;
  const auto finish = [&] {
    if (lines.contains("leaf_value")) trees.push_back(tree_of(lines));
    lines.clear();
  };
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with("Tree=") || line == "end of trees") finish();
    if (line == "end of trees") break;
    if (const size_t equals = line.find('='); equals != line.npos)
      lines[std::string(line.substr(0, equals))] = line.substr(equals + 1);
  }
  return trees;
}

}  // namespace

LightGbm::LightGbm(const std::string& library) {
  const std::string name = library.empty() ? "lib_lightgbm.so" : library;
  library_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr)
    throw Error(ErrorKind::usage,
                fmt::format("cannot load LightGBM's library ({}): give --lightgbm FILE; the wheel "
                            "`lightgbm` of PyPI has it as lightgbm/lib/lib_lightgbm.so",
                            ::dlerror()));
  functions_ = std::make_unique<Functions>();
  const auto find = [&](auto& function, const char* symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library_, symbol));
    if (function == nullptr)
      throw Error(ErrorKind::usage, fmt::format("{} is no library of LightGBM: it lacks {}", name, symbol));
  };
  find(functions_->dataset, "LGBM_DatasetCreateFromMat");
  find(functions_->set_field, "LGBM_DatasetSetField");
  find(functions_->free_dataset, "LGBM_DatasetFree");
  find(functions_->booster, "LGBM_BoosterCreate");
  find(functions_->update, "LGBM_BoosterUpdateOneIter");
  find(functions_->text, "LGBM_BoosterSaveModelToString");
  find(functions_->free_booster, "LGBM_BoosterFree");
  find(functions_->last_error, "LGBM_GetLastError");
}

// The library stays loaded: its threads may live on.
LightGbm::~LightGbm() = default;

std::vector<RegressionTree> LightGbm::train(const std::vector<TrainingRow>& rows,
                                            const BoostOptions& options) const {
  const Functions& f = *functions_;
  const auto must = [&](int status) {
    if (status != 0) throw Error(ErrorKind::internal, fmt::format("LightGBM: {}", f.last_error()));
  };
  const size_t columns = feature_names().size();
  std::vector<float> data, targets, weights;
  for (const TrainingRow& row : rows) {
    data.insert(data.end(), row.features.begin(), row.features.end());
    targets.push_back(static_cast<float>(row.target));
    weights.push_back(static_cast<float>(row.weight));
  }
  const std::string parameters = fmt::format(
      "{} num_leaves={} min_data_in_leaf={} learning_rate={} bagging_fraction=0.8 bagging_freq=1 "
      "feature_fraction=0.6 lambda_l2=1 seed={} deterministic=true force_row_wise=true verbosity=-1 "
      "num_threads=1",
      options.quantile == 0.5 ? "objective=l1" : fmt::format("objective=quantile alpha={}", options.quantile),
      options.leaves, options.least_rows, options.rate, options.seed);
  const auto count = static_cast<int32_t>(rows.size());
  Functions::Handle dataset = nullptr, booster = nullptr;
  must(f.dataset(data.data(), kFloat32, count, static_cast<int32_t>(columns), 1, parameters.c_str(), nullptr,
                 &dataset));
  const std::unique_ptr<void, int (*)(void*)> dataset_kept(dataset, f.free_dataset);
  must(f.set_field(dataset, "label", targets.data(), count, kFloat32));
  must(f.set_field(dataset, "weight", weights.data(), count, kFloat32));
  must(f.booster(dataset, parameters.c_str(), &booster));
  const std::unique_ptr<void, int (*)(void*)> booster_kept(booster, f.free_booster);
  int is_finished = 0;
  for (int i = 0; i < options.trees && is_finished == 0; ++i) must(f.update(booster, &is_finished));
  int64_t length = 0;
  must(f.text(booster, 0, -1, 0, 0, &length, nullptr));
  std::string text(static_cast<size_t>(length), '\0');
  must(f.text(booster, 0, -1, 0, length, &length, text.data()));
  return trees_of(text);
}

}  // namespace korch
