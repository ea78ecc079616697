#include "korch/codegen/cuda/matrix_product.h"

#include <fmt/format.h>

#include "korch/base/ceil_div.h"
#include "korch/kernel/product.h"

namespace korch::tile {
namespace {

constexpr int kRowRegisters = 4, kColumnRegisters = 2;  // that a thread has of the operands of 16 x 8 results
// Of a thread, with which 128 registers (print_cuda) do not hold the operands of several steps in three parts
// each.
constexpr int64_t kManyResults = 64;
constexpr int64_t kManyTerms = 32;  // whose operands would not all find a register at once

class MatrixProductPrinter {
 public:
  MatrixProductPrinter(const TileGraph& graph, const Nest& nest, const HeldTile& tile, BodyEmitter& emitter)
      : graph_(graph),
        nest_(nest),
        product_(*product_of(graph, nest)),
        tile_(tile),
        name_(graph.name(nest.stores[0].buffer)),
        type_(*tile.matrix_units),
        splits_(type_ == ProductType::f32),
        each_(type_ == ProductType::f16 || type_ == ProductType::bf16 ? 2 : 1),
        emitter_(emitter) {
    for (const LoopVariable& loop : nest.reduced) terms_ *= loop.extent;
    steps_ = splits_ ? 1 : ceil_div(terms_, unit_terms());
  }

  void print() {
    if (!nest_.anew.always_false()) print_zeros();
    const bool few_registers_left = splits_ && tile_.thread_rows * tile_.thread_columns >= kManyResults;
    const bool many_terms = terms_ >= kManyTerms;
    loop("term", terms_, steps_ * unit_terms(),
         few_registers_left ? "#pragma unroll 1"
         : many_terms       ? "#pragma unroll 2"
                            : "#pragma unroll");
    declare("b", fmt::format("[{}][{}][{}]", steps_, wide(), kColumnRegisters));
    fill_columns();
    loop("i", high());
    declare("a", fmt::format("[{}][{}]", steps_, kRowRegisters));
    emitter_.line(fmt::format("float sum[{}][4] = {{}};", wide()));
    fill_rows();
    multiply();
    loop("j", wide());
    loop("q", 4);
    emitter_.line(fmt::format("{}[i][j][q] += sum[j][q];", name_));
    for (int scope = 0; scope < 4; ++scope) emitter_.close();
  }

 private:
  int64_t high() const { return tile_.thread_rows / 2; }
  int64_t wide() const { return tile_.thread_columns / 2; }
  int64_t unit_terms() const { return 8 * each_; }

  void loop(const char* variable, int64_t count, int64_t step = 1, const char* unrolled = "#pragma unroll") {
    emitter_.line(unrolled);
    emitter_.open(fmt::format("for (int {0} = 0; {0} < {1}; {0} += {2})", variable, count, step));
  }

  void declare(const std::string& name, const std::string& extents) {
    std::string text = "uint32_t " + name + extents;
    if (splits_) text += fmt::format(", {0}_finite{1}, {0}_small{1}", name, extents);
    emitter_.line(text + ";");
  }

  void print_zeros() {
    emitter_.open(nest_.anew.always_true() ? "" : fmt::format("if ({})", tile::print(nest_.anew)));
    loop("i", high());
    loop("j", wide());
    loop("q", 4);
    emitter_.line(name_ + "[i][j][q] = 0.0f;");
    for (int scope = 0; scope < 4; ++scope) emitter_.close();
  }

  // Of a panel, at term `at` and the row or column `place`; behind the last term zero.
  std::string element(int buffer, const Index& offset, const std::string& variable, const std::string& place,
                      const std::string& at) const {
    Replacements zero = {{variable, 0}};
    for (const LoopVariable& loop : nest_.reduced) zero[loop.name] = 0;
    const std::string text = fmt::format(
        "{}[{} + ({}) * {} + ({}) * {}]", graph_.name(buffer), emitter_.index(substitute(offset, zero)), at,
        offset.stride(nest_.reduced.back().name), place, offset.stride(variable));
    return terms_ % unit_terms() == 0 ? text : fmt::format("{} < {} ? {} : 0.0f", at, terms_, text);
  }

  // Register `to` of the term `at` and, of 16 bits, the next one.
  void fill(const std::string& to, const std::string& index, int buffer, const Index& offset,
            const std::string& variable, const std::string& place) {
    const std::string first = element(buffer, offset, variable, place, "at");
    if (splits_)
      emitter_.line(fmt::format("split_tf32({2}, {0}{1}, {0}_finite{1}, {0}_small{1});", to, index, first));
    else if (each_ == 1)
      emitter_.line(fmt::format("{}{} = as_{}({});", to, index, name(type_), first));
    else
      emitter_.line(fmt::format("{}{} = as_{}({}, {});", to, index, name(type_), first,
                                element(buffer, offset, variable, place, "at + 1")));
  }

  void open_terms(const char* quarter) {
    emitter_.line(fmt::format("const int at = term + s * {} + threadIdx.x % 4 * {} + {} * {};", unit_terms(),
                              each_, quarter, 4 * each_));
  }

  void fill_columns() {
    loop("s", steps_);
    loop("j", wide());
    loop("q", kColumnRegisters);
    open_terms("q");
    fill("b", "[s][j][q]", product_.b_buffer, product_.b, product_.column,
         fmt::format("{}_column - threadIdx.x % 4 * 2 + threadIdx.x % 32 / 4 + j * 8", name_));
    for (int scope = 0; scope < 3; ++scope) emitter_.close();
  }

  void fill_rows() {
    loop("s", steps_);
    loop("q", kRowRegisters);
    open_terms("q / 2");
    fill("a", "[s][q]", product_.a_buffer, product_.a, product_.row,
         fmt::format("{}_row + i * 16 + q % 2 * 8", name_));
    for (int scope = 0; scope < 2; ++scope) emitter_.close();
  }

  // Of an operand's `big` and `small` parts up to its last bits, three of their four products count.
  void multiply() {
    loop("s", steps_);
    loop("j", wide());
    if (splits_) {
      emitter_.line("multiply_tf32(sum[j], a_small[s], b_finite[s][j]);");
      emitter_.line("multiply_tf32(sum[j], a_finite[s], b_small[s][j]);");
    }
    emitter_.line(fmt::format("multiply_{}(sum[j], a[s], b[s][j]);", splits_ ? "tf32" : name(type_)));
    for (int scope = 0; scope < 2; ++scope) emitter_.close();
  }

  const TileGraph& graph_;
  const Nest& nest_;
  const Product product_;
  const HeldTile& tile_;
  const std::string name_;
  const ProductType type_;
  const bool splits_;
  const int64_t each_;  // elements of a register
  BodyEmitter& emitter_;
  int64_t terms_ = 1, steps_ = 1;
};

}  // namespace

void print_matrix_product(const TileGraph& graph, const Nest& nest, const HeldTile& tile,
                          BodyEmitter& emitter, SourceText& source) {
  source.use_matrix_units(*tile.matrix_units);
  MatrixProductPrinter(graph, nest, tile, emitter).print();
}

}  // namespace korch::tile
