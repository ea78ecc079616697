#include "korch/kernel/product.h"

#include <algorithm>

namespace korch::tile {
namespace {

bool affine_in_loops(const Index& index, const Nest& nest) {
  if (!index.dynamics().empty()) return false;
  for (const std::vector<LoopVariable>* loops : {&nest.loops, &nest.reduced})
    for (const LoopVariable& loop : *loops)
      if (!index.affine_in(loop.name)) return false;
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
  const Expr *a = &graph.pool[sum.args[0]], *b = &graph.pool[sum.args[1]];
  if (a->kind != ExprKind::load || b->kind != ExprKind::load) return std::nullopt;
  Product product;
  product.column = nest.loops.back().name;
  if (nest.loops.size() == 2) product.row = nest.loops[0].name;
  if (a->coords[0].depends_on(product.column)) std::swap(a, b);
  product.a_buffer = a->buffer;
  product.b_buffer = b->buffer;
  product.a = a->coords[0];
  product.b = b->coords[0];
  const bool plain = affine_in_loops(product.a, nest) && affine_in_loops(product.b, nest) &&
                     affine_in_loops(store.offset, nest) && !product.a.depends_on(product.column) &&
                     !product.b.depends_on(product.row) && product.b.stride(product.column) == 1 &&
                     store.offset.stride(product.column) == 1;
  return plain ? std::optional(product) : std::nullopt;
}

}  // namespace korch::tile
