#include <fmt/format.h>

#include <cctype>
#include <map>

#include "korch/ir/infer.h"

namespace korch {
namespace {

// Labels of one operand; an ellipsis becomes as many '.' labels as it covers.
std::string expand_ellipsis(const InferArgs& args, const std::string& labels, size_t rank) {
  const size_t dots = labels.find("...");
  if (dots == std::string::npos) {
    if (labels.size() != rank)
      infer_fail(args, fmt::format("\"{}\" does not fit an operand of rank {}", labels, rank));
    return labels;
  }
  if (labels.find('.', dots + 3) != std::string::npos)
    infer_fail(args, fmt::format("\"{}\" has two ellipses", labels));
  const size_t named = labels.size() - 3;
  if (named > rank) infer_fail(args, fmt::format("\"{}\" does not fit an operand of rank {}", labels, rank));
  return labels.substr(0, dots) + std::string(rank - named, '.') + labels.substr(dots + 3);
}

// Without "->": every label that occurs once, in alphabetical order, after the ellipsis.
std::string implicit_result(const std::vector<std::string>& operands) {
  std::map<char, int> count;
  bool ellipsis = false;
  for (const std::string& operand : operands) {
    for (char label : operand) ++count[label];
    ellipsis = ellipsis || operand.find('.') != std::string::npos;
  }
  std::string result = ellipsis ? "..." : "";
  for (const auto& [label, times] : count) {
    if (label != '.' && times == 1) result += label;
  }
  return result;
}

}  // namespace

Shape einsum_shape(const InferArgs& args) {
  std::string equation;
  for (char c : args.get<EinsumAttrs>().equation) {
    if (c != ' ') equation += c;
  }
  for (size_t i = 0; i < equation.size(); ++i) {
    if (equation.compare(i, 3, "...") == 0 || equation.compare(i, 2, "->") == 0) {
      i += equation[i] == '.' ? 2 : 1;
    } else if (std::isalpha(static_cast<unsigned char>(equation[i])) == 0 && equation[i] != ',') {
      infer_fail(args, fmt::format("\"{}\" has labels other than letters", equation));
    }
  }
  const size_t arrow = equation.find("->");
  std::string left = equation.substr(0, arrow) + ",";
  std::vector<std::string> operands;
  for (size_t at = 0; at < left.size(); at = left.find(',', at) + 1)
    operands.push_back(left.substr(at, left.find(',', at) - at));
  if (operands.size() != args.inputs.size())
    infer_fail(args, fmt::format("\"{}\" names {} operands", equation, operands.size()));
  std::map<char, int64_t> extents;
  Shape ellipsis;
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::string labels = expand_ellipsis(args, operands[i], args.shape(i).size());
    Shape dotted;
    for (size_t axis = 0; axis < labels.size(); ++axis) {
      const int64_t extent = args.shape(i)[axis];
      if (labels[axis] == '.') {
        dotted.push_back(extent);
        continue;
      }
      int64_t& known = extents.emplace(labels[axis], extent).first->second;
      if (known != extent && known != 1 && extent != 1)
        infer_fail(args, fmt::format("label '{}' is both {} and {}", labels[axis], known, extent));
      known = known == 1 ? extent : known;
    }
    ellipsis = broadcast_shapes(args, ellipsis, dotted);
  }
  const std::string result =
      arrow == std::string::npos ? implicit_result(operands) : equation.substr(arrow + 2);
  Shape out;
  for (size_t i = 0; i < result.size(); ++i) {
    if (result.compare(i, 3, "...") == 0) {
      out.insert(out.end(), ellipsis.begin(), ellipsis.end());
      i += 2;
      continue;
    }
    if (result.find(result[i]) != i)
      infer_fail(args, fmt::format("result label '{}' is named twice", result[i]));
    const auto found = extents.find(result[i]);
    if (found == extents.end())
      infer_fail(args, fmt::format("result label '{}' is in no operand", result[i]));
    out.push_back(found->second);
  }
  return out;
}

}  // namespace korch
