#include "korch/backend/cuda/ptx_scan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace korch {
namespace {

struct PtxInstruction {
  std::string_view line;
  std::vector<std::string_view> words;  // its name, then its operands
};

PtxInstruction ptx_instruction(std::string_view line) {
  constexpr std::string_view kBetween = " \t,;";
  PtxInstruction result{line, {}};
  for (size_t at = line.find_first_not_of(kBetween); at < line.size();) {
    const size_t end = std::min(line.find_first_of(kBetween, at), line.size());
    result.words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBetween, end);
  }
  if (!result.words.empty() && result.words[0].starts_with('@')) result.words.erase(result.words.begin());
  return result;
}

// Of one function, whose registers are its own.
class PtxFunction {
 public:
  void add(const PtxInstruction& instruction) {
    const std::vector<std::string_view>& words = instruction.words;
    if (words.size() < 3) return;
    if (words[0].starts_with("dp2a.") || words[0].starts_with("dp4a.")) dots_.push_back(instruction);
    for (const char* name : {"cvt.u64.u32", "mul.wide.u32", "mad.wide.u32"})
      if (words[0] == name) unsigned_.insert(words.begin() + 2, words.end());
    made_by_[words[1]].push_back(instruction);
  }

  std::string fault() const {
    for (const PtxInstruction& dot : dots_)
      if (unsigned_.count(dot.words[1]) != 0 && !is_not_negative(dot.words.back(), kChain))
        return fmt::format("'{}' may add a negative number, and the sum is taken for unsigned",
                           fmt::join(dot.words, " "));
    return "";
  }

 private:
  static constexpr int kChain = 8;  // of instructions that add up, one after the other

  static bool is_number(std::string_view word) { return !word.empty() && word[0] >= '0' && word[0] <= '9'; }

  // By each instruction that makes the register.
  bool is_not_negative(std::string_view word, int chain) const {
    if (is_number(word)) return true;
    const auto made = made_by_.find(word);
    if (made == made_by_.end() || chain == 0) return false;
    return std::all_of(made->second.begin(), made->second.end(), [&](const PtxInstruction& by) {
      const std::string_view name = by.words[0], last = by.words.back();
      if (name == "cvt.u32.u16" || name == "cvt.u32.u8") return true;
      if (name == "shr.u32") return is_number(last) && last != "0";
      if (name == "and.b32" || name == "mov.u32" || name == "mov.b32") return is_number(last);
      if (name == "dp2a.lo.u32.u32" || name == "dp4a.u32.u32") return is_not_negative(last, chain - 1);
      return false;
    });
  }

  std::vector<PtxInstruction> dots_;
  std::set<std::string_view> unsigned_;  // registers that are read as such
  std::map<std::string_view, std::vector<PtxInstruction>> made_by_;
};

}  // namespace

std::string ptx_fault(std::string_view ptx) {
  if (ptx.find("dp2a.") == ptx.npos && ptx.find("dp4a.") == ptx.npos) return "";
  PtxFunction function;
  for (size_t at = 0; at < ptx.size();) {
    const size_t end = std::min(ptx.find('\n', at), ptx.size());
    const std::string_view line = ptx.substr(at, end - at);
    if (line.starts_with('}')) {
      if (std::string fault = function.fault(); !fault.empty()) return fault;
      function = {};
    } else {
      function.add(ptx_instruction(line));
    }
    at = end + 1;
  }
  return function.fault();
}

}  // namespace korch
