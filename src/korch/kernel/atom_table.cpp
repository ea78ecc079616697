#include "korch/kernel/atom_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

namespace korch::tile {
namespace {

std::string key_of(const Index& index) {
  std::string key = fmt::format("{}", index.constant());
  for (const Index::Term& term : index.terms())
    key += fmt::format("{:+}*{}", term.coefficient, term.atom->key);
  return key;
}

std::string key_of(const Atom& atom) {
  if (atom.kind == AtomKind::variable) return atom.name;
  if (atom.kind == AtomKind::dynamic) return fmt::format("dynamic({})", atom.id);
  const char* names[] = {"", "", "div", "mod", "abs", "clamp"};
  return fmt::format("{}({},{},{})", names[static_cast<int>(atom.kind)], key_of(atom.arg), atom.a, atom.b);
}

struct SameAtom {
  bool operator()(const Atom& x, const Atom& y) const {
    return x.kind == y.kind && x.range.low == y.range.low && x.range.high == y.range.high &&
           x.name == y.name && x.id == y.id && x.a == y.a && x.b == y.b &&
           x.arg.constant() == y.arg.constant() &&
           std::equal(x.arg.terms().begin(), x.arg.terms().end(), y.arg.terms().begin(), y.arg.terms().end(),
                      [](const Index::Term& s, const Index::Term& t) {
                        return s.coefficient == t.coefficient && s.atom == t.atom;
                      });
  }
};

struct AtomHash {
  size_t operator()(const Atom& atom) const {
    size_t hash = std::hash<std::string>()(atom.name);
    for (int64_t part : {static_cast<int64_t>(atom.kind), atom.range.low, atom.range.high,
                         static_cast<int64_t>(atom.id), atom.a, atom.b, atom.arg.constant()})
      hash = mixed(hash, static_cast<size_t>(part));
    for (const Index::Term& term : atom.arg.terms())
      hash = mixed(mixed(hash, static_cast<size_t>(term.coefficient)), std::bit_cast<size_t>(term.atom));
    return hash;
  }
};

class AtomTable {
 public:
  const Atom* find_or_add(Atom atom) {
    const std::lock_guard lock(mutex_);
    const auto found = atoms_.find(atom);
    if (found != atoms_.end()) return &*found;
    const auto identity = identities_.emplace(key_of(atom), identities_.size()).first;
    atom.key = identity->first;
    atom.identity = identity->second;
    if (atom.kind == AtomKind::variable) atom.variables = {atom.name};
    if (atom.kind == AtomKind::dynamic) atom.dynamics = {atom.id};
    atom.variables.merge(atom.arg.variables());
    atom.dynamics.merge(atom.arg.dynamics());
    return &*atoms_.insert(std::move(atom)).first;
  }

 private:
  std::mutex mutex_;
  std::unordered_set<Atom, AtomHash, SameAtom> atoms_;
  std::unordered_map<std::string, size_t> identities_;  // by key
};

const Atom* interned(Atom atom) {
  static auto& table = *new AtomTable();  // for as long as the process: indices may outlive its end
  return table.find_or_add(std::move(atom));
}

}  // namespace

const Atom* variable_atom(const std::string& name, IndexRange range) {
  Atom atom;
  atom.kind = AtomKind::variable;
  atom.name = name;
  atom.range = range;
  return interned(std::move(atom));
}

const Atom* dynamic_atom(int id, IndexRange range) {
  Atom atom;
  atom.kind = AtomKind::dynamic;
  atom.id = id;
  atom.range = range;
  return interned(std::move(atom));
}

const Atom* derived_atom(AtomKind kind, const Index& arg, int64_t a, int64_t b, IndexRange range) {
  Atom atom;
  atom.kind = kind;
  atom.arg = arg;
  atom.a = a;
  atom.b = b;
  atom.range = range;
  return interned(std::move(atom));
}

}  // namespace korch::tile
