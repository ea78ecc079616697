#include "korch/report/explanations.h"

#include <cctype>
#include <functional>

namespace korch {
namespace {

// Calls f with every word of `text`: letters, digits, '_' and '.'.
void visit_words(const std::string& text, const std::function<void(const std::string&)>& f) {
  std::string word;
  for (const char c : text + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.') {
      word += c;
    } else if (!word.empty()) {
      f(word);
      word.clear();
    }
  }
}

// Of all that tells how a step is done, or could be.
void visit_implementation_words(const Plan& plan, const std::function<void(const std::string&)>& f) {
  for (const PlanStep& step : plan.steps) {
    visit_words(step.implementation, f);
    for (const RejectedKernel& rejected : step.rejected) visit_words(rejected.what, f);
  }
}

}  // namespace

std::string meaning(const Layout& layout) {
  if (layout.is_row_major()) return "row-major: in memory the last axis is the innermost";
  std::string text;
  for (size_t i = 0; i < layout.order.size(); ++i)
    text += (i == 0 ? "axes " : ", ") + std::to_string(layout.order[i]);
  if (!text.empty()) text += " from the outermost to the innermost in memory";
  for (const auto& [order, name] : {std::pair<std::vector<int>, const char*>{{0, 2, 1}, "NWC"},
                                    {{0, 2, 3, 1}, "NHWC"},
                                    {{0, 2, 3, 4, 1}, "NDHWC"}})
    if (layout.order == order && layout.block_axis < 0) text += std::string(" (channels last, ") + name + ")";
  if (layout.block_axis >= 0)
    text += (text.empty() ? "axis " : "; axis ") + std::to_string(layout.block_axis) + " in blocks of " +
            std::to_string(layout.block) + ", which are innermost";
  return text;
}

std::map<std::string, std::string> layouts_explained(const Plan& plan) {
  std::map<std::string, std::string> explained;
  const auto add = [&](const std::string& text) {
    Layout layout;
    if (parse_layout(text, &layout)) explained[text] = meaning(layout);
  };
  for (const PlanTensor& tensor : plan.tensors) add(to_string(tensor.layout));
  visit_implementation_words(plan, add);
  return explained;
}

std::map<std::string, ReportFamily> families_named(const Plan& plan,
                                                   const std::map<std::string, ReportFamily>& families) {
  std::map<std::string, ReportFamily> named;
  visit_implementation_words(plan, [&](const std::string& word) {
    const auto found = families.find(word);
    if (found != families.end()) named.insert(*found);
  });
  return named;
}

}  // namespace korch
