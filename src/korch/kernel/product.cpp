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

// A load, or one of fewer bits as int32 or float32; null: something else.
const Expr* widened_load(const TileGraph& graph, int node) {
  const Expr* e = &graph.pool[node];
  if (e->kind == ExprKind::call && e->fn == ScalarFn::cast) {
    const Expr* narrow = &graph.pool[e->args[0]];
    if (e->type == DType::i32 || (e->type == DType::f32 && narrow->type == DType::bf16)) e = narrow;
  }
  return e->kind == ExprKind::load ? e : nullptr;
}

// How many products one instruction adds to a sum of this type; 0: none that is known.
int terms_of(DType a, DType b, DType sum) {
  if (a == sum && b == sum) return 1;
  if (a == DType::i16 && b == DType::i16 && sum == DType::i32) return 2;
  if (a == DType::bf16 && b == DType::bf16 && sum == DType::f32) return 2;
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

const Expr* load_in(const TileGraph& graph, int node) {
  const Expr& e = graph.pool[node];
  return e.kind == ExprKind::load ? &e : nullptr;
}

// A load of numbers of another type, as float32.
const Expr* other_number(const TileGraph& graph, int node) {
  const Expr& e = graph.pool[node];
  if (e.kind != ExprKind::call || e.fn != ScalarFn::cast || e.type != DType::f32) return nullptr;
  return load_in(graph, e.args[0]);
}

bool is_call(const Expr& e, ScalarFn fn) {
  return e.kind == ExprKind::call && e.fn == fn && e.type == DType::f32;
}

// (number - zero) * scale of whole numbers, number * scale of others, and nothing else.
bool take_narrow(const TileGraph& graph, int node, Product& product) {
  const Expr& scaled = graph.pool[node];
  if (!is_call(scaled, ScalarFn::mul)) return false;
  const Expr* scale = load_in(graph, scaled.args[1]);
  if (scale == nullptr || scale->type != DType::f32) return false;
  int number = scaled.args[0];
  if (const Expr& difference = graph.pool[number]; is_call(difference, ScalarFn::sub)) {
    const Expr* zero = other_number(graph, difference.args[1]);
    if (zero == nullptr || (zero->type != DType::i8 && zero->type != DType::u8)) return false;
    product.zero_buffer = zero->buffer;
    product.zero = zero->coords[0];
    number = difference.args[0];
  }
  const Expr* stored = other_number(graph, number);
  if (stored == nullptr) return false;
  product.b_buffer = stored->buffer;
  product.b = stored->coords[0];
  product.scale_buffer = scale->buffer;
  product.scale = scale->coords[0];
  product.terms = stored->type == DType::i4 || stored->type == DType::u4 ? kNibbles : 1;
  if (is_small_float(stored->type)) return product.zero_buffer < 0;
  return product.terms > 1 || stored->type == DType::i8 || stored->type == DType::u8;
}

// Whether the loops are over blocks, steps in a block and, of nibbles, terms in a step, and all numbers are
// read one after the other in this order.
bool is_in_blocks(const Nest& nest, const Product& p) {
  const size_t loops = p.terms > 1 ? 3 : 2;
  if (nest.reduced.size() != loops) return false;
  const auto has_stride = [&](const LoopVariable& loop, int64_t stride) {
    return loop.extent == 1 || p.b.stride(loop.name) == stride;
  };
  const LoopVariable &block = nest.reduced[0], &step = nest.reduced[1], &column = nest.loops.back();
  const int64_t row = column.extent * p.terms;
  if (!has_stride(column, p.terms) || !has_stride(step, row) || !has_stride(block, row * step.extent))
    return false;
  if (p.terms > 1 && (nest.reduced[2].extent > p.terms || !has_stride(nest.reduced[2], 1))) return false;
  for (const Index* shared : {&p.scale, &p.zero}) {
    if (shared == &p.zero && p.zero_buffer < 0) continue;
    if (!affine_in_loops(*shared, nest) || shared->depends_on(p.row) ||
        (column.extent > 1 && shared->stride(p.column) != 1))
      return false;
    for (size_t i = 1; i < loops; ++i)
      if (shared->depends_on(nest.reduced[i].name)) return false;
  }
  return true;
}

// A product whose second factor is narrow.
std::optional<Product> narrow_product_of(const TileGraph& graph, const Nest& nest, const Expr& sum) {
  const Expr* a = load_in(graph, sum.args[0]);
  Product p;
  if (a == nullptr || a->type != DType::f32 || sum.type != DType::f32 || !take_narrow(graph, sum.args[1], p))
    return std::nullopt;
  p.column = nest.loops.back().name;
  if (nest.loops.size() == 2) p.row = nest.loops[0].name;
  p.a_buffer = a->buffer;
  p.a = a->coords[0];
  const Index& result = nest.stores[0].offset;
  const bool plain = affine_in_loops(p.a, nest) && affine_in_loops(p.b, nest) &&
                     affine_in_loops(result, nest) && !p.a.depends_on(p.column) && !p.b.depends_on(p.row) &&
                     result.stride(p.column) == 1 && is_in_blocks(nest, p);
  return plain ? std::optional(p) : std::nullopt;
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
  if (a == nullptr || b == nullptr) return narrow_product_of(graph, nest, sum);
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
