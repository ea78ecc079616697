#include "korch/kernel/boxes.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>

namespace korch::tile {
namespace {

constexpr int64_t kMaxBoxes = 1 << 12;  // of one access
constexpr int kMostRounds = 8;  // of narrowing: bounds that contradict each other may take one value a time

constexpr const char* kData = "data#";  // begins names of variables that stand for run-time values

// The boxes of a region, by what is in them.
class BoxIndex {
 public:
  explicit BoxIndex(Region& region) : region_(region) {
    for (size_t i = 0; i < region.boxes.size(); ++i) numbers_.emplace(hash_of(region.boxes[i]), i);
  }
  void add(StridedBox box, bool even_if_known) {
    const uint64_t hash = hash_of(box);
    const auto [begin, end] = numbers_.equal_range(hash);
    const bool is_known =
        std::any_of(begin, end, [&](const auto& known) { return region_.boxes[known.second] == box; });
    if (is_known && !even_if_known) return;
    numbers_.emplace(hash, region_.boxes.size());
    region_.boxes.push_back(std::move(box));
  }
  Region& region() { return region_; }

 private:
  static uint64_t hash_of(const StridedBox& box) {
    auto hash = static_cast<uint64_t>(box.base);
    const auto mix = [&](int64_t value) {
      hash = (hash ^ static_cast<uint64_t>(value)) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 32;
    };
    mix(0);
    for (const StridedBox::Axis& axis : box.axes) mix(axis.extent), mix(axis.stride);
    return hash;
  }

  Region& region_;
  std::unordered_multimap<uint64_t, size_t> numbers_;
};

// The boxes of an offset where a condition holds. Of variables under a division the digits take their place,
// where that leaves no division; others, and those in a condition with others, are taken value by value.
class Boxes {
 public:
  Boxes(const Place& place, BoxIndex& found, int names = 0) : place_(place), found_(found), names_(names) {}

  void add(const Condition& condition, Ranges ranges) {
    Replacements replacements;
    Condition rest = condition;
    for (int round = 0;; ++round) {
      replacements.clear();
      for (const auto& [name, range] : ranges) {
        if (range.low > range.high) return;
        replacements[name] = Index::variable(name, range.low, range.high);
      }
      rest = substitute(rest, replacements);
      if (rest.always_false()) return;
      if (round == kMostRounds) break;
      bool narrowed = false;
      for (const Bound& bound : rest.bounds())
        narrowed = narrow(bound.index, {bound.low, bound.high}, ranges) || narrowed;
      if (!narrowed) break;
    }
    const Index offset = substitute(place_.offset, replacements);
    if (joins_ && add_joined(offset, rest, ranges)) return;
    // What is written is to be known exactly, where it can.
    const bool reads = place_.direction == Direction::read;
    if (reads && add_bounded(offset, rest, ranges)) return;
    if (add_pieces(offset, rest, ranges) || add_digits(offset, rest, ranges)) return;
    const std::string split = to_split(offset, rest, ranges);
    if (split.empty() && !reads && !found_.region().exact && add_bounded(offset, rest, ranges)) return;
    if (!split.empty()) {
      const IndexRange range = ranges.at(split);
      for (int64_t value = range.low; value <= range.high; ++value) {
        ranges[split] = {value, value};
        add(rest, ranges);
      }
      return;
    }
    put(offset, ranges);
  }

 private:
  // Two variables that are only ever asked for as one sum a x + y, where y takes a values: one variable for
  // it.
  bool add_joined(const Index& offset, const Condition& condition, const Ranges& ranges) {
    std::vector<Index> sums;
    collect_sums(offset, sums);
    for (const Bound& bound : condition.bounds()) {
      sums.push_back(bound.index);
      collect_sums(bound.index, sums);
    }
    for (const Index& sum : sums)
      for (const Index::Term& large : sum.terms())
        for (const Index::Term& small : sum.terms()) {
          const auto x = ranges.find(large.atom->name), y = ranges.find(small.atom->name);
          if (x == ranges.end() || y == ranges.end() || small.coefficient <= 0) continue;
          const int64_t a = y->second.high - y->second.low + 1;
          if (a == 1 || large.coefficient != a * small.coefficient) continue;
          const std::string joined = fmt::format("joined{}", names_);
          Ranges inside = ranges;
          inside.erase(x->first);
          inside.erase(y->first);
          inside[joined] = {a * x->second.low + y->second.low, a * x->second.high + y->second.high};
          const Index by = Index::variable(joined, inside[joined].low, inside[joined].high) -
                           Index::variable(x->first, x->second.low, x->second.high) * a;
          const Replacements replaced = {{y->first, by}};
          bool parted = substitute(offset, replaced).depends_on(x->first) ||
                        substitute(condition, replaced).depends_on(x->first);
          for (const Condition& path : place_.paths)
            parted = parted || substitute(path, replaced).depends_on(x->first);
          if (parted) continue;
          add_replaced(offset, condition, y->first, by, inside);
          return true;
        }
    return false;
  }

  // What is divided within an index.
  static void collect_sums(const Index& index, std::vector<Index>& sums) {
    for (const Index::Term& term : index.terms()) {
      if (term.atom->kind != AtomKind::div && term.atom->kind != AtomKind::mod) continue;
      sums.push_back(term.atom->arg);
      collect_sums(term.atom->arg, sums);
    }
  }

  // Where the offset is a multiple of what a bound is about, and something else: one variable of the bound's
  // range stands for it. It may hold more than is accessed.
  bool add_bounded(const Index& offset, const Condition& condition, const Ranges& ranges) {
    for (size_t i = 0; i < condition.bounds().size(); ++i) {
      const Bound& bound = condition.bounds()[i];
      const Index::Terms& sum = bound.index.terms();
      if (sum.empty() || (sum.size() == 1 && sum[0].atom->kind == AtomKind::variable))
        continue;  // narrow() has seen to it
      const auto [terms, range] = in_units(bound);
      if (factor_of(offset, terms) == 0) continue;
      if (range.low > range.high) return true;
      const std::string name = fmt::format("bounded{}", names_++);
      Ranges inner = ranges;
      inner[name] = range;
      found_.region().exact = false;
      const Index less = Index::variable(name, range.low, range.high) - terms;
      const auto replaced = [&, &terms = terms](const Index& index) {
        return index + less * factor_of(index, terms);
      };
      Condition others;
      for (size_t j = 0; j < condition.bounds().size(); ++j)
        if (const Bound& other = condition.bounds()[j]; j != i)
          others.require(replaced(other.index), other.low, other.high);
      Place place = place_;
      place.offset = replaced(offset);
      Boxes(place, found_, names_).add(others, inner);
      return true;
    }
    return false;
  }

  // A bound on a multiple of a sum, as the sum and its range.
  static std::pair<Index, IndexRange> in_units(const Bound& bound) {
    const int64_t constant = bound.index.constant();
    int64_t unit = 0;
    for (const Index::Term& term : bound.index.terms()) unit = std::gcd(unit, term.coefficient);
    Index sum;
    for (Index::Term term : bound.index.terms()) {
      term.coefficient /= unit;
      sum = sum + term_index(term);
    }
    const IndexRange range = sum.range();
    return {sum,
            {std::max(range.low, -floor_quotient(constant - bound.low, unit)),
             std::min(range.high, floor_quotient(bound.high - constant, unit))}};
  }

  // A variable under a division whose values begin or end between multiples of the divisor, or do not begin
  // with 0: what comes before the first multiple, after the last one, and what is between them, from 0 on.
  bool add_pieces(const Index& offset, const Condition& condition, const Ranges& ranges) {
    const auto [name, divisor] = divided_variable(offset, condition, ranges);
    if (divisor == 0) return false;
    const IndexRange range = ranges.at(name);
    const int64_t first = (range.low + divisor - 1) / divisor * divisor,
                  last = (range.high + 1) / divisor * divisor;
    if (range.low == first && range.high + 1 == last) {
      const std::string from_0 = fmt::format("from{}", names_);
      Ranges shifted = ranges;
      shifted.erase(name);
      shifted[from_0] = {0, range.high - range.low};
      add_replaced(offset, condition, name, Index::variable(from_0, shifted[from_0].high + 1) + range.low,
                   shifted);
      return true;
    }
    for (const IndexRange piece :
         {IndexRange{range.low, std::min(first, range.high + 1) - 1}, IndexRange{first, last - 1},
          IndexRange{std::max(first, last), range.high}}) {
      Ranges inside = ranges;
      inside[name] = piece;
      add(condition, inside);
    }
    return true;
  }

  // The first that does not run from 0 to a multiple of its divisor; divisor 0: none.
  static std::pair<std::string, int64_t> divided_variable(const Index& offset, const Condition& condition,
                                                          const Ranges& ranges) {
    std::pair<std::string, int64_t> found = divided_variable(offset, ranges);
    for (const Bound& bound : condition.bounds())
      if (found.second == 0) found = divided_variable(bound.index, ranges);
    return found;
  }
  static std::pair<std::string, int64_t> divided_variable(const Index& index, const Ranges& ranges) {
    for (const Index::Term& term : index.terms()) {
      const Atom& atom = *term.atom;
      if (atom.kind != AtomKind::div && atom.kind != AtomKind::mod) continue;
      const auto range =
          atom.arg.terms().size() == 1 ? ranges.find(atom.arg.terms()[0].atom->name) : ranges.end();
      const bool alone = range != ranges.end() && atom.arg.constant() == 0 &&
                         atom.arg.terms()[0].atom->kind == AtomKind::variable &&
                         atom.arg.terms()[0].coefficient == 1;
      if (!alone && atom.arg.terms().empty()) continue;
      if (!alone) {
        const auto inner = divided_variable(atom.arg, ranges);
        if (inner.second != 0) return inner;
      } else if (range->second.low >= 0 && range->second.high > range->second.low &&
                 (range->second.low != 0 || (range->second.high + 1) % atom.a != 0) &&
                 range->second.low / atom.a != range->second.high / atom.a) {
        return {range->first, atom.a};
      }
    }
    return {{}, 0};
  }

  bool add_digits(const Index& offset, const Condition& condition, const Ranges& ranges) {
    const auto known = [&](const std::string& name) { return ranges.count(name) != 0; };
    Split split = find_split(offset, known);
    for (const Bound& bound : condition.bounds())
      if (split.inner_extent == 0) split = find_split(bound.index, known);
    if (split.inner_extent == 0) return false;
    const std::string outer = fmt::format("digits{}", names_), inner = fmt::format("digit{}", names_);
    Ranges digits = ranges;
    digits.erase(split.variable);
    digits[outer] = {0, (ranges.at(split.variable).high + 1) / split.inner_extent - 1};
    digits[inner] = {0, split.inner_extent - 1};
    add_replaced(offset, condition, split.variable,
                 Index::variable(outer, digits[outer].high + 1) * split.inner_extent +
                     Index::variable(inner, split.inner_extent),
                 digits, false);
    return true;
  }

  void add_replaced(const Index& offset, const Condition& condition, const std::string& name, const Index& by,
                    const Ranges& ranges, bool joins = true) {
    const Replacements replacements = {{name, by}};
    Place place = place_;
    place.offset = substitute(offset, replacements);
    for (Condition& path : place.paths) path = substitute(path, replacements);
    Boxes boxes(place, found_, names_ + 1);
    boxes.work_ = work_;
    boxes.joins_ = joins_ && joins;
    boxes.add(substitute(condition, replacements), ranges);
    work_ = boxes.work_;
  }

  // How many times the terms of `part` are in `whole`; 0: they are not.
  static int64_t factor_of(const Index& whole, const Index& part) {
    int64_t factor = 0;
    for (const Index::Term& term : part.terms()) {
      int64_t found = 0;
      for (const Index::Term& other : whole.terms())
        if (other.atom->identity == term.atom->identity) found = other.coefficient;
      if (found == 0 || found % term.coefficient != 0) return 0;
      if (factor != 0 && found / term.coefficient != factor) return 0;
      factor = found / term.coefficient;
    }
    return factor;
  }

  // Of the summands of what lies within a range: of each its own range where the others are at their ends,
  // also below a division.
  static bool narrow(const Index& sum, IndexRange within, Ranges& ranges) {
    const IndexRange whole = sum.range();
    bool narrowed = false;
    for (const Index::Term& term : sum.terms()) {
      const int64_t c = term.coefficient;
      const IndexRange own = term.atom->range;
      // low <= c x <= high
      const int64_t low = within.low - whole.high + c * (c > 0 ? own.high : own.low);
      const int64_t high = within.high - whole.low + c * (c > 0 ? own.low : own.high);
      const IndexRange values = {std::max(own.low, -floor_quotient(c > 0 ? -low : high, std::abs(c))),
                                 std::min(own.high, floor_quotient(c > 0 ? high : -low, std::abs(c)))};
      if (values.low == own.low && values.high == own.high) continue;
      const Atom& atom = *term.atom;
      if (atom.kind == AtomKind::div)
        narrowed =
            narrow(atom.arg, {values.low * atom.a, values.high * atom.a + atom.a - 1}, ranges) || narrowed;
      const auto found = atom.kind == AtomKind::variable ? ranges.find(atom.name) : ranges.end();
      if (found == ranges.end()) continue;
      const IndexRange before = found->second;
      found->second = {std::max(before.low, values.low), std::min(before.high, values.high)};
      narrowed = narrowed || found->second.low != before.low || found->second.high != before.high;
    }
    return narrowed;
  }

  std::string to_split(const Index& offset, const Condition& rest, const Ranges& ranges) {
    std::set<std::string> names;
    for (const Bound& bound : rest.bounds())
      if (bound.index.dynamics().empty()) names.merge(bound.index.variables());
    for (const Index::Term& term : offset.terms())
      if (term.atom->kind != AtomKind::variable) names.merge(term_index(term).variables());
    // Two values of a variable that decides a store must not write the same element unseen: it counts in the
    // offset, or is split.
    if (place_.direction == Direction::written)
      for (const Condition& path : place_.paths)
        for (const std::string& name : path.variables())
          if (offset.stride(name) == 0) names.insert(name);
    std::string best;
    int64_t fewest = 0;
    for (const std::string& name : names) {
      const auto found = ranges.find(name);
      if (found == ranges.end() || name.starts_with(kData)) continue;
      const int64_t count = found->second.high - found->second.low + 1;
      if (count > 1 && (best.empty() || count < fewest)) {
        best = name;
        fewest = count;
      }
    }
    if (best.empty()) return {};
    if (work_ + fewest > kMaxBoxes) {
      found_.region().exact = false;
      return {};
    }
    work_ += fewest;
    return best;
  }

  void put(const Index& offset, const Ranges& ranges) {
    StridedBox box;
    box.base = offset.constant();
    for (const Index::Term& term : offset.terms()) {
      if (term.atom->kind != AtomKind::variable) return put_interval(offset.range());
      const auto found = ranges.find(term.atom->name);
      const IndexRange range = found == ranges.end() ? term.atom->range : found->second;
      box.base += term.coefficient * (term.coefficient > 0 ? range.low : range.high);
      box.axes.push_back({range.high - range.low + 1, std::abs(term.coefficient)});
    }
    std::sort(box.axes.begin(), box.axes.end(),
              [](const auto& a, const auto& b) { return a.stride < b.stride; });
    std::vector<StridedBox::Axis> merged;
    for (const StridedBox::Axis& axis : box.axes) {
      if (axis.extent == 1) continue;
      if (!merged.empty() && merged.back().stride * merged.back().extent == axis.stride)
        merged.back().extent *= axis.extent;
      else
        merged.push_back(axis);
    }
    box.axes = std::move(merged);
    add_box(std::move(box));
  }

  void put_interval(const IndexRange& range) {
    StridedBox box;
    box.base = range.low;
    if (range.high > range.low) box.axes = {{range.high - range.low + 1, 1}};
    found_.region().exact = false;
    add_box(std::move(box));
  }

  // What is read several times counts once; what is written several times is a fault that must show.
  void add_box(StridedBox box) { found_.add(std::move(box), place_.direction == Direction::written); }

  const Place& place_;
  BoxIndex& found_;
  int names_;  // of variables that stand for what a bound is about
  int64_t work_ = 0;
  bool joins_ = true;  // until digits take variables' places, which a join would undo
};

// Of run-time values: each may be any number within its range, the same one wherever it stands.
Index with_variables(const Index& index, Ranges& ranges) {
  Index result = index.constant();
  for (const Index::Term& term : index.terms()) {
    const Atom& atom = *term.atom;
    if (atom.dynamics.empty()) {
      result = result + term_index(term);
    } else if (atom.kind == AtomKind::dynamic) {
      const std::string name = kData + std::to_string(atom.id);
      ranges[name] = atom.range;
      result = result + Index::variable(name, atom.range.low, atom.range.high) * term.coefficient;
    } else {
      result = result + rebuilt(atom, with_variables(atom.arg, ranges)) * term.coefficient;
    }
  }
  return result;
}

Condition with_variables(const Condition& condition, Ranges& ranges) {
  Condition result;
  if (condition.always_false()) return condition;
  for (const Bound& bound : condition.bounds())
    result.require(with_variables(bound.index, ranges), bound.low, bound.high);
  return result;
}

}  // namespace

void add_boxes(const Place& place, const Ranges& ranges, Region& region) {
  BoxIndex found(region);
  Place known = place;
  Ranges all = ranges;
  // What is written where data say is not known.
  if (place.direction == Direction::read) {
    known.offset = with_variables(place.offset, all);
    for (Condition& path : known.paths) path = with_variables(path, all);
    if (all.size() > ranges.size()) region.exact = false;
  }
  Boxes boxes(known, found);
  for (const Condition& path : known.paths) boxes.add(path, all);
}

}  // namespace korch::tile
