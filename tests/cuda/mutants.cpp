#include "mutants.h"

#include <algorithm>
#include <map>
#include <random>
#include <regex>
#include <set>

namespace korch::testing {
namespace {

constexpr const char* kBarrier = "__syncthreads();";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string trimmed(const std::string& line) {
  const size_t begin = line.find_first_not_of(' ');
  return begin == line.npos ? "" : line.substr(begin);
}

struct Span {
  size_t begin = 0, end = 0;
};

// From after `open`, an opening bracket, to the one that closes it.
Span inside_brackets(const std::string& line, size_t open) {
  int depth = 0;
  for (size_t i = open; i < line.size(); ++i) {
    if (line[i] == '(' || line[i] == '[') ++depth;
    if ((line[i] == ')' || line[i] == ']') && --depth == 0) return {open + 1, i};
  }
  return {open + 1, open + 1};
}

// Integers that stand alone in a part of a line.
std::vector<Span> numbers_in(const std::string& line, Span part) {
  static const std::regex number(R"([A-Za-z_.0-9]+)");
  std::vector<Span> found;
  for (std::sregex_iterator it(line.begin() + static_cast<std::ptrdiff_t>(part.begin),
                               line.begin() + static_cast<std::ptrdiff_t>(part.end), number),
       end;
       it != end; ++it) {
    const std::string word = it->str();
    const size_t digits = word.find_first_not_of("0123456789");
    if (digits == 0 || (digits != word.npos && word.substr(digits) != "L")) continue;
    const size_t begin = part.begin + static_cast<size_t>(it->position());
    found.push_back({begin, begin + std::min(digits, word.size())});
  }
  return found;
}

class Mutator {
 public:
  explicit Mutator(const std::string& source) {
    const size_t kernels = source.find("extern \"C\" __global__");
    head_ = source.substr(0, kernels);
    first_line_ = static_cast<size_t>(std::count(head_.begin(), head_.end(), '\n'));
    lines_ = lines_of(source.substr(kernels));
    static const std::regex pointer(R"(\*(?: __restrict__)?(?: const)? (\w+)(?:[,)]| = ))");
    for (const std::string& line : lines_)
      for (std::sregex_iterator it(line.begin(), line.end(), pointer), end; it != end; ++it)
        memories_.insert((*it)[1]);
  }

  std::vector<Mutant> all() {
    for (size_t i = 0; i < lines_.size(); ++i) {
      const std::string line = trimmed(lines_[i]);
      if (line == kBarrier) {
        change_barrier(i);
      } else if (line == "wait_copies();") {
        add(Mutation::wait_removed, i, i + 1, {});
      } else if (line.starts_with("for (")) {
        change_loop(i);
      } else {
        change_guards(i);
        change_accesses(i);
        change_split(i);
        change_places(i);
        change_fill(i);
        change_lanes(i);
      }
    }
    return std::move(mutants_);
  }

 private:
  // Lines [begin, end) replaced.
  void add(Mutation mutation, size_t begin, size_t end, const std::vector<std::string>& by) {
    Mutant mutant{mutation, first_line_ + begin, "", "", head_};
    const auto append = [](std::string& text, const std::vector<std::string>& lines, size_t from, size_t to) {
      for (size_t i = from; i < to; ++i) text += lines[i] + "\n";
    };
    append(mutant.before, lines_, begin, end);
    append(mutant.after, by, 0, by.size());
    append(mutant.text, lines_, 0, begin);
    mutant.text += mutant.after;
    append(mutant.text, lines_, end, lines_.size());
    mutants_.push_back(std::move(mutant));
  }

  void replace(Mutation mutation, size_t i, Span part, const std::string& by) {
    std::string line = lines_[i];
    line.replace(part.begin, part.end - part.begin, by);
    if (line != lines_[i]) add(mutation, i, i + 1, {line});
  }

  // One more and one less, where that divides by nothing that is 0.
  void change_number(Mutation mutation, size_t i, Span number) {
    const std::string& line = lines_[i];
    const int64_t value = std::stoll(line.substr(number.begin, number.end - number.begin));
    const std::string before = line.substr(0, number.begin);
    const bool divides = before.ends_with("/ ") || before.ends_with("% ") || before.ends_with("/= ");
    replace(mutation, i, number, std::to_string(value + 1));
    if (value > (divides ? 1 : 0)) replace(mutation, i, number, std::to_string(value - 1));
  }

  static size_t indent_of(const std::string& line) { return line.find_first_not_of(' '); }

  // Over what stands before or after it: a statement, or all from a brace to its other one. A pragma stays
  // with its loop.
  void change_barrier(size_t i) {
    add(Mutation::barrier_removed, i, i + 1, {});
    const size_t indent = indent_of(lines_[i]);
    const auto is_head = [&](size_t line) { return trimmed(lines_[line]).starts_with("#"); };
    size_t begin = i - 1;
    if (trimmed(lines_[begin]) == "}" && indent_of(lines_[begin]) == indent)
      while (indent_of(lines_[--begin]) != indent) {
      }
    while (begin > 0 && is_head(begin - 1)) --begin;
    move_lines(begin, i, i + 1);
    size_t end = i + 2;
    while (end < lines_.size() && is_head(end - 1)) ++end;
    if (lines_[end - 1].ends_with("{") && indent_of(lines_[end - 1]) == indent) {
      while (end < lines_.size() && indent_of(lines_[end]) != indent) ++end;
      ++end;
    }
    if (end < lines_.size()) move_lines(i, i + 1, end);
  }

  // Lines [begin, middle) behind [middle, end).
  void move_lines(size_t begin, size_t middle, size_t end) {
    const auto at = [&](size_t line) { return lines_.begin() + static_cast<std::ptrdiff_t>(line); };
    std::vector<std::string> turned(at(middle), at(end));
    turned.insert(turned.end(), at(begin), at(middle));
    add(Mutation::barrier_moved, begin, end, turned);
  }

  void change_loop(size_t i) {
    const std::string& line = lines_[i];
    const Span head = inside_brackets(line, line.find('('));
    for (const Span& number : numbers_in(line, head)) change_number(Mutation::bound, i, number);
    const size_t thread = line.find("= threadIdx.x");
    if (thread != line.npos) {
      replace(Mutation::bound, i, {thread + 2, thread + 13}, "threadIdx.x + 1");
      replace(Mutation::bound, i, {thread + 2, thread + 13}, "threadIdx.x / 2");
    }
    const size_t step = line.find("+= 256");
    if (step != line.npos) replace(Mutation::bound, i, {step + 3, step + 6}, "128");
    change_guards(i);  // of a body in the same line
  }

  void change_guards(size_t i) {
    const std::string& line = lines_[i];
    const size_t at = line.find("if (");
    if (at != line.npos) {
      const Span condition = inside_brackets(line, at + 3);
      replace(Mutation::guard, i, condition, "true");
      for (const Span& number : numbers_in(line, condition)) change_number(Mutation::guard, i, number);
    }
    static const std::regex choice(R"(\(?([A-Za-z_][\w ]* [<>]=? [^?():,]*)\)? \? )");
    for (std::sregex_iterator it(line.begin(), line.end(), choice), end; it != end; ++it) {
      const Span condition{static_cast<size_t>(it->position(1)),
                           static_cast<size_t>(it->position(1) + it->length(1))};
      replace(Mutation::guard, i, condition, "true");
      for (const Span& number : numbers_in(line, condition)) change_number(Mutation::guard, i, number);
    }
  }

  void change_accesses(size_t i) {
    const std::string& line = lines_[i];
    static const std::regex access(R"(\b(\w+)(\[| \+ \())");
    for (std::sregex_iterator it(line.begin(), line.end(), access), end; it != end; ++it) {
      if (memories_.count((*it)[1]) == 0) continue;
      const size_t open = static_cast<size_t>(it->position() + it->length()) - 1;
      const Span index = inside_brackets(line, open);
      for (const Span& number : numbers_in(line, index))
        change_number(line.substr(0, number.begin).ends_with("* ") ? Mutation::stride : Mutation::index, i,
                      number);
      for (const char* shift : {"1 + ", "4 + ", "-1 + "})
        replace(Mutation::offset, i, {index.begin, index.begin}, shift);
    }
  }

  // `const int r = p % 16;`, `p /= 16;`
  void change_split(size_t i) {
    static const std::regex assignment(R"(^ *(?:const \w+ \w+ = |\w+ /= )[^\[]*;$)");
    const std::string& line = lines_[i];
    if (!std::regex_match(line, assignment) || line.find("0x") != line.npos) return;
    for (const Span& number : numbers_in(line, {0, line.size()})) change_number(Mutation::split, i, number);
  }

  // Buffers within shared memory and the workspace.
  void change_places(size_t i) {
    const std::string& line = lines_[i];
    for (const char* base : {"(shared + ", "(workspace + "}) {
      const size_t at = line.find(base);
      if (at == line.npos) continue;
      for (const Span& number : numbers_in(line, inside_brackets(line, at))) {
        const int64_t value = std::stoll(line.substr(number.begin, number.end - number.begin));
        for (int64_t by : {4, 64}) replace(Mutation::offset, i, number, std::to_string(value + by));
        if (value >= 64) replace(Mutation::offset, i, number, std::to_string(value - 64));
      }
      const size_t block = line.find("blockIdx.x");
      if (block != line.npos) replace(Mutation::offset, i, {block, block + 10}, "(blockIdx.x / 2)");
    }
  }

  void change_fill(size_t i) {
    const std::string& line = lines_[i];
    static const std::regex held(R"((.*\w+(?:\[\w\])+ = )(?:0\.0f|splat_f32x4\(0\.0f\));)");
    static const std::regex first(R"(( *(?:float|double|int\d+_t) (?:a\d+)) = [-0-9a-zA-Z.+()_]+;)");
    std::smatch match;
    if (std::regex_match(line, match, held)) {
      const std::string loops = match[1];
      const size_t body = loops.rfind(") ");  // of a loop in the same line
      add(Mutation::fill, i, i + 1, {body == loops.npos ? ";" : loops.substr(0, body + 2) + ";"});
    }
    if (std::regex_match(line, match, first)) add(Mutation::fill, i, i + 1, {match[1].str() + ";"});
  }

  void change_lanes(size_t i) {
    const std::string& line = lines_[i];
    const size_t at = line.find("__shfl_xor_sync(");
    if (at == line.npos) return;
    const size_t lane = line.rfind(", ");
    const size_t end = inside_brackets(line, line.find('(', at)).end;
    const std::string other = line.substr(lane + 2, end - lane - 2);
    for (const char* by : {" / 2", " ^ 1", " | 1", " + 1"})
      replace(Mutation::lanes, i, {lane + 2, end}, "(" + other + by + ")");
  }

  std::string head_;
  size_t first_line_ = 0;
  std::vector<std::string> lines_;
  std::set<std::string> memories_;  // names of pointers
  std::vector<Mutant> mutants_;
};

}  // namespace

const char* name(Mutation mutation) {
  switch (mutation) {
    case Mutation::barrier_removed:
      return "barrier removed";
    case Mutation::barrier_moved:
      return "barrier moved";
    case Mutation::wait_removed:
      return "wait removed";
    case Mutation::index:
      return "index";
    case Mutation::stride:
      return "stride";
    case Mutation::offset:
      return "offset";
    case Mutation::guard:
      return "guard";
    case Mutation::bound:
      return "bound";
    case Mutation::split:
      return "split";
    case Mutation::fill:
      return "fill";
    case Mutation::lanes:
      return "lanes";
  }
  return "";
}

std::vector<Mutant> all_mutants(const std::string& source) {
  return Mutator(source).all();
}

std::vector<Mutant> some_mutants(const std::string& source, size_t count, uint64_t seed) {
  std::mt19937_64 random(seed + source.size());
  std::map<Mutation, std::vector<Mutant>> of_kind;
  for (Mutant& mutant : all_mutants(source)) of_kind[mutant.mutation].push_back(std::move(mutant));
  for (auto& [kind, list] : of_kind)  // std::shuffle is another one in every library
    for (size_t i = 0; i < list.size(); ++i) std::swap(list[i], list[i + random() % (list.size() - i)]);
  std::vector<std::vector<Mutant>> lists;
  for (auto& [kind, list] : of_kind) lists.push_back(std::move(list));
  if (lists.empty()) return {};
  std::rotate(lists.begin(), lists.begin() + static_cast<std::ptrdiff_t>(random() % lists.size()),
              lists.end());
  std::vector<Mutant> some;
  for (size_t turn = 0; some.size() < count; ++turn) {
    const size_t before = some.size();
    for (std::vector<Mutant>& list : lists)
      if (turn < list.size() && some.size() < count) some.push_back(std::move(list[turn]));
    if (some.size() == before) break;
  }
  return some;
}

}  // namespace korch::testing
