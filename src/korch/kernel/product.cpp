#include "korch/kernel/product.h"

namespace korch::tile {
namespace {

bool affine_in_loops(const Index& index, const Nest& nest) {
  if (!index.dynamics().empty()) return false;
  for (const std::vector<LoopVariable>* loops : {&nest.loops, &nest.reduced})
    for (const LoopVariable& loop : *loops)
      if (!index.affine_in(loop.name)) return false;
  return true;
}

// A load, or one of fewer bits as int32; null: something else.
const Expr* widened_load(const TileGraph& graph, int node) {
  const Expr* e = &graph.pool[node];
  if (e->kind == ExprKind::call && e->fn == ScalarFn::cast && e->type == DType::i32)
    e = &graph.pool[e->args[0]];
  return e->kind == ExprKind::load ? e : nullptr;
}

// How many products one instruction adds to a sum of this type; 0: none that is known.
int terms_of(DType a, DType b, DType sum) {
  if (a == sum && b == sum) return 1;
  if (a == DType::i16 && b == DType::i16 && sum == DType::i32) return 2;
  return a == DType::u8 && b == DType::i8 && sum == DType::i32 ? 4 : 0;
}

bool are_together(const Nest& nest, const Product& product) {
  const LoopVariable& term = nest.reduced.back();
  if (nest.reduced.size() < 2 || term.extent != product.terms) return false;
  for (const Index* operand : {&product.a, &product.b}) {
    if (operand->stride(term.name) != 1) return false;
    for (const std::vector<LoopVariable>* loops : {&nest.loops, &nest.reduced})
      for (const LoopVariable& loop : *loops)
        if (loop.name != term.name && operand->stride(loop.name) % product.terms != 0) return false;
  }
  return true;
}

}  // namespace

std::optional<Product> product_of(const TileGraph& graph, const Nest& nest) {
  if (nest.kind != NestKind::reduce || nest.combine != ScalarFn::add || nest.stores.size() != 1 ||
      nest.loops.empty() || nest.loops.size() > 2 || nest.reduced.empty())
    return std::nullopt;
  const Store& store = nest.stores[0];
  const Expr& sum = graph.pool[store.value];
  if (sum.kind != ExprKind::call || sum.fn != ScalarFn::mul) return std::nullopt;
  const Expr *a = widened_load(graph, sum.args[0]), *b = widened_load(graph, sum.args[1]);
  if (a == nullptr || b == nullptr) return std::nullopt;
  Product product;
  product.column = nest.loops.back().name;
  if (nest.loops.size() == 2) product.row = nest.loops[0].name;
  if (a->coords[0].depends_on(product.column)) std::swap(a, b);
  product.terms = terms_of(a->type, b->type, sum.type);
  if (product.terms == 0) return std::nullopt;
  product.a_buffer = a->buffer;
  product.b_buffer = b->buffer;
  product.a = a->coords[0];
  product.b = b->coords[0];
  const bool plain = affine_in_loops(product.a, nest) && affine_in_loops(product.b, nest) &&
                     affine_in_loops(store.offset, nest) && !product.a.depends_on(product.column) &&
                     !product.b.depends_on(product.row) && store.offset.stride(product.column) == 1 &&
                     (product.terms == 1 || are_together(nest, product));
  return plain ? std::optional(product) : std::nullopt;
}

}  // namespace korch::tile
