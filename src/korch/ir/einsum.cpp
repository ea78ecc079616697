#include "korch/ir/einsum.h"

#include <algorithm>
#include <map>

#include "korch/base/error.h"

namespace korch {
namespace {

bool contains(const std::string& labels, char label) {
  return labels.find(label) != std::string::npos;
}

// `covered`: axes that the ellipsis of this term covers; `most`: of the term that has the most.
std::string with_ellipsis(std::string term, int64_t covered, int64_t most) {
  const size_t at = term.find("...");
  if (at == std::string::npos) return term;
  std::string labels;
  for (int64_t i = most - covered; i < most; ++i) labels += static_cast<char>('0' + i);
  return term.replace(at, 3, labels);
}

std::string implicit_labels(const std::vector<std::string>& inputs, int64_t ellipsis_axes) {
  std::map<char, int> uses;
  for (const std::string& term : inputs) {
    for (char label : term) ++uses[label];
  }
  std::string output;
  for (int64_t i = 0; i < ellipsis_axes; ++i) output += static_cast<char>('0' + i);
  for (const auto& [label, count] : uses) {
    if (count == 1 && !contains(output, label)) output += label;
  }
  return output;
}

}  // namespace

EinsumLabels einsum_labels(std::string equation, const std::vector<int64_t>& ranks) {
  std::erase(equation, ' ');
  const size_t arrow = equation.find("->");
  const std::string left = equation.substr(0, arrow);
  EinsumLabels labels;
  for (size_t begin = 0; begin <= left.size();) {
    const size_t end = std::min(left.find(',', begin), left.size());
    labels.operands.push_back(left.substr(begin, end - begin));
    begin = end + 1;
  }
  KORCH_ASSERT(labels.operands.size() == ranks.size(), "an operand for each term");
  std::vector<int64_t> covered;
  for (size_t i = 0; i < ranks.size(); ++i)
    covered.push_back(contains(labels.operands[i], '.')
                          ? ranks[i] - static_cast<int64_t>(labels.operands[i].size()) + 3
                          : 0);
  const int64_t most = *std::max_element(covered.begin(), covered.end());
  for (size_t i = 0; i < ranks.size(); ++i) {
    labels.operands[i] = with_ellipsis(labels.operands[i], covered[i], most);
    KORCH_ASSERT(static_cast<int64_t>(labels.operands[i].size()) == ranks[i], "a label for each axis");
  }
  labels.result = arrow == std::string::npos ? implicit_labels(labels.operands, most)
                                             : with_ellipsis(equation.substr(arrow + 2), most, most);
  return labels;
}

}  // namespace korch
