#include "korch/fission/storage.h"

#include <cmath>

namespace korch {
namespace {

// The primitives that take a Cast's place.
class CastLowering {
 public:
  // `from` is what the operand was before its own Cast was lowered.
  CastLowering(Graph& graph, const Node& cast, DType from) : graph_(graph), cast_(cast), from_(from) {}

  void run() {
    const DType from = from_, to = std::get<CastAttrs>(cast_.attrs).to;
    ValueId value = cast_.inputs[0];
    if (from == to) return finish(bytes(value, from), carrier(from));
    if (is_storage(from)) value = decoded(value, from);
    if (!is_storage(to)) return finish(value, to);
    finish(to == DType::f8e8m0                  ? power_of_two(converted_to(value, DType::f32))
           : small_format(to).exponent_bits > 0 ? encoded(converted_to(value, DType::f32), to)
                                                : wrapped(converted_to(value, DType::i32), to),
           carrier(to));
  }

 private:
  DType dtype(ValueId value) const { return graph_.value(value).type.dtype; }
  ValueId add(Op op, std::vector<ValueId> inputs, Attrs attrs = NoAttrs{}) {
    return graph_.add(op, std::move(attrs), std::move(inputs), cast_.origins);
  }
  ValueId converted_to(ValueId value, DType to) {
    return dtype(value) == to ? value : add(Op::Cast, {value}, CastAttrs{to});
  }
  ValueId number(DType type, double value) {
    HostTensor wide(TensorType{DType::f64, {}});
    wide.mutable_data<double>()[0] = value;
    return graph_.add_constant(converted(wide, type), "", cast_.origins);
  }
  ValueId real(double value) { return number(DType::f32, value); }
  ValueId choose(ValueId condition, ValueId yes, ValueId no) { return add(Op::Where, {condition, yes, no}); }
  void finish(ValueId value, DType to) {
    graph_.add_alternative(Op::Cast, CastAttrs{to}, {value}, cast_.outputs, cast_.origins);
  }

  // Of the bytes: retyped once all casts are gone.
  ValueId decoded(ValueId value, DType from) {
    if (small_format(from).exponent_bits == 0 && from != DType::f8e8m0) return bytes(value, from);
    HostTensor table(TensorType{DType::f32, {kStorageCodes}});
    for (int code = 0; code < kStorageCodes; ++code)
      table.mutable_data<float>()[code] = static_cast<float>(stored_value(from, static_cast<uint8_t>(code)));
    const ValueId index = converted_to(bytes(value, from), DType::i64);
    return add(Op::Gather, {graph_.add_constant(std::move(table), "", cast_.origins), index}, AxisAttrs{0});
  }
  // A Value's type cannot change while others use it: a Reshape to its own shape, of the carrier's type.
  ValueId bytes(ValueId value, DType from) {
    const ValueId result = add(Op::Reshape, {value}, ShapeAttrs{graph_.value(value).type.shape});
    graph_.retype(result, carrier(from));
    return result;
  }

  // As many low bits as the type has, sign-extended.
  ValueId wrapped(ValueId value, DType to) {
    const double values = std::ldexp(1, storage_bits(to)), offset = is_signed(to) ? values / 2 : 0;
    const auto integer = [&](double x) { return number(DType::i32, x); };
    const ValueId positive = add(Op::Mod, {add(Op::Add, {value, integer(offset)}), integer(values)});
    return add(Op::Sub, {positive, integer(offset)});
  }

  // The exponent of the next power of two from 2^-127 on. What is at most 1 is scaled by 2^127 first, which
  // is exact, so that the lower half of the exponents is counted like the upper one; by powers of two, down
  // to 1, all of it exact.
  ValueId power_of_two(ValueId x) {
    const int bias = 127, most = 0xfe, nan = 0xff;
    ValueId magnitude = add(Op::Abs, {x});
    const ValueId upper = add(Op::Greater, {magnitude, real(1)});
    magnitude = choose(upper, magnitude, add(Op::Mul, {magnitude, real(std::ldexp(1, bias))}));
    ValueId code = choose(upper, real(bias), real(0));
    const auto count = [&](int step) {
      const ValueId above = add(Op::Greater, {magnitude, real(std::ldexp(1, step - 1))});
      magnitude = choose(above, add(Op::Mul, {magnitude, real(std::ldexp(1, -step))}), magnitude);
      code = choose(above, add(Op::Add, {code, real(step)}), code);
    };
    for (int step = 64; step > 0; step /= 2) count(step);
    code = add(Op::Min, {code, real(most)});
    return choose(add(Op::IsNaN, {x}), real(nan), code);
  }

  // The bits of x: its magnitude is brought into [0, 2), binade by binade, where the smallest normal number
  // is 1; its mantissa, rounded, plus the binades' share are exponent and mantissa, whatever carries.
  ValueId encoded(ValueId x, DType to) {
    const SmallFormat format = small_format(to);
    const int last_binade = (format.most >> format.mantissa_bits) + 1;
    const double least = std::ldexp(1, 1 - format.bias);
    ValueId magnitude = add(Op::Min, {add(Op::Abs, {x}), real(std::ldexp(least, last_binade))});
    magnitude = add(Op::Mul, {magnitude, real(1 / least)});
    ValueId binades = real(0);
    int step = 1;
    while (2 * step <= last_binade) step *= 2;
    for (; step > 0; step /= 2) {
      const ValueId above = add(Op::GreaterOrEqual, {magnitude, real(std::ldexp(1, step))});
      magnitude = choose(above, add(Op::Mul, {magnitude, real(std::ldexp(1, -step))}), magnitude);
      const ValueId further = add(Op::Add, {binades, real(std::ldexp(step, format.mantissa_bits))});
      binades = choose(above, further, binades);
    }
    const ValueId mantissa = add(Op::Mul, {magnitude, real(std::ldexp(1, format.mantissa_bits))});
    const ValueId code = add(Op::Add, {add(Op::Round, {mantissa}), binades});
    const ValueId finite = with_sign(x, within(code, format), format);
    return choose(add(Op::IsNaN, {x}), real(format.of_nan()), finite);
  }

  bool saturates() const { return std::get<CastAttrs>(cast_.attrs).saturate; }
  // Of a code that may be larger than the largest number's.
  ValueId within(ValueId code, const SmallFormat& format) {
    const ValueId most = real(format.most);
    if (saturates()) return add(Op::Min, {code, most});
    return choose(add(Op::Greater, {code, most}), real(format.overflow()), code);
  }
  ValueId with_sign(ValueId x, ValueId code, const SmallFormat& format) {
    const double sign_bit = std::ldexp(1, format.exponent_bits + format.mantissa_bits);
    ValueId negative = add(Op::Less, {x, real(0)});
    if (format.negative_zero) {
      negative = add(Op::Or, {negative, add(Op::Less, {add(Op::Reciprocal, {x}), real(0)})});
    } else {  // neither 0 nor the one NaN has a sign
      const ValueId signless =
          add(Op::Or, {add(Op::Equal, {code, real(0)}), add(Op::GreaterOrEqual, {code, real(sign_bit)})});
      negative = add(Op::And, {negative, add(Op::Not, {signless})});
    }
    return add(Op::Add, {code, choose(negative, real(sign_bit), real(0))});
  }

  Graph& graph_;
  const Node cast_;
  const DType from_;
};

// Padding of a stored type is a number; that of its bytes is the byte.
void lower_padding(Node& pad, DType storage) {
  auto& attrs = std::get<PadAttrs>(pad.attrs);
  const uint8_t byte = stored_byte(storage, attrs.value);
  attrs.value = carrier(storage) == DType::i8 ? static_cast<int8_t>(byte) : byte;
}

}  // namespace

void lower_storage_types(Graph& graph) {
  const auto is_stored = [&](ValueId value) { return is_storage(graph.value(value).type.dtype); };
  std::vector<DType> stated;  // before anything is retyped
  for (size_t value = 0; value < graph.value_count(); ++value)
    stated.push_back(graph.value(static_cast<ValueId>(value)).type.dtype);
  for (NodeId id : graph.topological_order()) {
    const Node node = graph.node(id);
    const DType to = stated[node.outputs[0]];
    if (node.op == Op::Pad && is_storage(to)) lower_padding(graph.mutable_node(id), to);
    if (node.op != Op::Cast || !(is_storage(stated[node.inputs[0]]) || is_storage(to))) continue;
    graph.kill_node(id);
    if (is_storage(to)) graph.retype(node.outputs[0], carrier(to));
    CastLowering(graph, node, stated[node.inputs[0]]).run();
  }
  for (NodeId id : graph.topological_order()) {
    Node& node = graph.mutable_node(id);
    for (ValueId output : node.outputs)
      if (is_stored(output)) graph.retype(output, carrier(graph.value(output).type.dtype));
    if (node.op != Op::Constant) continue;
    HostTensor& value = std::get<ConstantAttrs>(node.attrs).value;
    if (is_storage(value.dtype())) value = value.retyped(carrier(value.dtype()));
  }
  for (ValueId input : graph.inputs())
    if (is_stored(input)) graph.retype(input, carrier(graph.value(input).type.dtype));
}

}  // namespace korch
