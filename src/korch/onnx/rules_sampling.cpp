// Images sampled where coordinates say: grids, and regions' samples that are pooled.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "korch/onnx/bounded.h"
#include "korch/onnx/model_file.h"
#include "korch/onnx/rules.h"
#include "korch/onnx/tensor_data.h"
#include "korch/onnx/term.h"

namespace korch::onnx {
namespace {

constexpr int64_t kMaxDeformedTaps = 256;  // of all groups of offsets: each is sampled by itself

enum class Padding { zeros, border, reflection };

// What one axis contributes to a sample: an element's place (a whole number), whether it exists, its weight.
struct Tap {
  Term place, exists, weight;
};
using Taps = std::vector<Tap>;

struct Sampling {
  std::string mode;
  Padding padding = Padding::zeros;
  bool align_corners = false;
};

bool is_known(const Term& condition, bool value) {
  const auto& constant = condition.operand()->constant;
  return constant && constant->elements() == 1 && (constant->data<uint8_t>()[0] != 0) == value;
}

// Folded at the ends of [low, high]; all of it at `low` where that is not below `high`.
Term reflected(const Term& x, const Term& low, const Term& high) {
  const Term range = high - low, one = number_like(range, 1);
  const Term is_range = 0.0 <= range && !(range == 0.0);
  const Term turn = select(is_range, range, one);
  const Term below = x < low;
  const Term distance = max(low - x, x - high), turns = floor(distance / turn);
  const Term rest = distance - turns * turn, half = turns * 0.5;
  const Term odd = floor(half) < half;
  const Term inside = distance <= number_like(x, 0);
  const Term folded = select(inside, x, select(apply(Op::Xor, {below, odd}), rest + low, high - rest));
  return is_known(is_range, true) ? folded : select(is_range, folded, low);
}

// A place of the axis, or of what continues it; those that do not exist, NaN among them, become 0. `last` is
// the axis's last place.
Tap tap_at(const Term& place, const Term& weight, const Term& last, const Sampling& sampling) {
  const double edge = sampling.align_corners ? 0 : 0.5;
  Term at = place;
  if (sampling.padding == Padding::border) at = min(max(place, number_like(place, 0)), last);
  if (sampling.padding == Padding::reflection) at = reflected(place, number_like(last, -edge), last + edge);
  const Term exists = 0.0 <= at && at <= last;
  return {select(exists, at, 0), exists, weight};
}

// Keys' cubic, at distances 1 + t, t, 1 - t and 2 - t.
std::vector<Term> cubic_weights(const Term& t) {
  constexpr double kA = -0.75;
  const auto near = [](const Term& d) { return (d * (kA + 2) - (kA + 3)) * d * d + 1.0; };
  const auto far = [](const Term& d) { return ((d * kA - 5 * kA) * d + 8 * kA) * d - 4 * kA; };
  return {far(t + 1.0), near(t), near(1.0 - t), far(2.0 - t)};
}

// Of an axis of so many elements, from coordinates in [-1, 1].
Taps taps_of(const Term& coordinate, const Term& size, const Sampling& sampling) {
  const Term last = size - 1.0;
  const double edge = sampling.align_corners ? 0 : 0.5;
  Term x =
      sampling.align_corners ? (coordinate + 1.0) * (last / 2.0) : ((coordinate + 1.0) * size - 1.0) * 0.5;
  if (sampling.mode == "nearest") x = apply(Op::Round, {x});
  if (sampling.padding == Padding::border) x = min(max(x, number_like(x, 0)), last);
  if (sampling.padding == Padding::reflection) x = reflected(x, number_like(last, -edge), last + edge);
  if (sampling.mode == "nearest") {
    // Reflected at half a place, it lies between two: the one before counts.
    return {tap_at(floor(x), expand(number_like(x, 1), x.shape()), last, sampling)};
  }
  const Term base = floor(x), t = x - base;
  Taps taps;
  if (sampling.mode == "linear") {
    taps.push_back(tap_at(base, 1.0 - t, last, sampling));
    taps.push_back(tap_at(base + 1.0, t, last, sampling));
    return taps;
  }
  double step = -1;
  for (const Term& weight : cubic_weights(t)) {
    taps.push_back(tap_at(base + step, weight, last, sampling));
    step += 1;
  }
  return taps;
}

// Row after row of data [N * elements, C]: sums over all combinations of taps, [N, points, C]. `first` is
// where the rows of each batch begin.
Term weighted_sum(const Term& rows, const Term& first, const std::vector<Taps>& axes, const Shape& extents) {
  std::optional<Term> sum;
  std::vector<size_t> choice(axes.size(), 0);
  for (;;) {
    std::optional<Term> place, exists, weight;
    for (size_t a = 0; a < axes.size(); ++a) {
      const Tap& tap = axes[a][choice[a]];
      place = place ? *place * static_cast<double>(extents[a]) + cast(tap.place, DType::i64)
                    : cast(tap.place, DType::i64);
      exists = exists ? *exists && tap.exists : tap.exists;
      weight = weight ? *weight * tap.weight : tap.weight;
    }
    const Term values = apply(Op::Gather, {rows, *place + first}, AxisAttrs{0});
    const Term term =
        select(insert_axis(*exists, 2), values, 0) * insert_axis(cast(*weight, rows.dtype()), 2);
    sum = sum ? *sum + term : term;
    size_t a = axes.size();
    while (a > 0 && ++choice[a - 1] == axes[a - 1].size()) choice[--a] = 0;
    if (a == 0) return *sum;
  }
}

// [N, C, ...] to [N * elements, C].
Term rows_of(const Term& x) {
  const int64_t elements = element_count(Shape(x.shape().begin() + 2, x.shape().end()));
  const Term flat = transpose(reshape(x, {x.extent(0), x.extent(1), elements}), {0, 2, 1});
  return reshape(flat, {x.extent(0) * elements, x.extent(1)});
}

// The extent of an axis as a number of this type.
Term real_length(const Term& x, int64_t axis, DType type) {
  NodeImport& n = x.node();
  const Operand extent = extent_of(x, axis);
  return extent != nullptr ? cast({n, extent}, type) : Term(n, type, static_cast<double>(x.extent(axis)));
}

Sampling read_sampling(NodeImport& n) {
  Sampling sampling;
  sampling.mode = n.string_attr("mode", "linear");
  if (sampling.mode == "bilinear") sampling.mode = "linear";
  if (sampling.mode == "bicubic") sampling.mode = "cubic";
  if (sampling.mode != "linear" && sampling.mode != "cubic" && sampling.mode != "nearest")
    n.invalid("mode " + quoted_name(sampling.mode));
  const std::string padding = n.word_attr("padding_mode", {"zeros", "border", "reflection"});
  sampling.padding = padding == "border"       ? Padding::border
                     : padding == "reflection" ? Padding::reflection
                                               : Padding::zeros;
  sampling.align_corners = n.flag("align_corners", false);
  return sampling;
}

Results grid_sample(NodeImport& n) {
  const Sampling sampling = read_sampling(n);
  // Points and channels are by themselves: all of them are sampled, within the images' extents.
  const Term image(n, n.input(0)), points_wanted(n, n.input(1));
  const Term x = at_bounds(image), grid = widened(at_bounds(points_wanted));
  const int64_t spatial = x.rank() - 2;
  if (spatial < 1 || grid.rank() != x.rank() || grid.extent(0) != x.extent(0) ||
      grid.extent(spatial + 1) != spatial)
    n.invalid(
        fmt::format("a grid {} for data {}", to_string(grid.operand()->type), to_string(x.operand()->type)));
  if (spatial > 3) n.unsupported(fmt::format("{} spatial axes", spatial));
  n.require_known(points_wanted, spatial + 1, "the number of coordinates");
  const Shape extents(x.shape().begin() + 2, x.shape().end());
  n.bounded("extent", extents, 1, kMaxOffset);
  Shape out(grid.shape().begin() + 1, grid.shape().end() - 1);
  const int64_t batch = x.extent(0), channels = x.extent(1), points = element_count(out);
  const Term coordinates = reshape(grid, {batch, points, spatial});
  std::vector<Taps> axes;
  for (int64_t a = 0; a < spatial; ++a) {
    const Term along = reshape(slice(coordinates, 2, spatial - 1 - a, 1), {batch, points});
    axes.push_back(taps_of(along, real_length(image, a + 2, grid.dtype()), sampling));
  }
  const Term first = positions(n, DType::i64, batch, 0, 2) * static_cast<double>(element_count(extents));
  const Term real = is_float(x.dtype()) ? widened(x) : cast(x, DType::f32);
  const Term y = weighted_sum(rows_of(real), first, axes, extents);
  out.insert(out.begin(), {batch, channels});
  Results counted = extents_of(points_wanted);
  counted.pop_back();
  counted.insert(counted.begin() + 1, extent_of(image, 1));
  if (counted[0] == nullptr) counted[0] = extent_of(image, 0);
  const Operand result = n.bounded(cast(reshape(transpose(y, {0, 2, 1}), out), x.dtype()), counted);
  n.builder().note_meeting(n.length(image, 0), n.length(points_wanted, 0), n.origin(), {result});
  return {result};
}

// Places of an axis whose ends are -1 and 1: of its outer elements, or of their outer edges.
std::vector<double> unit_places(int64_t extent, bool align_corners) {
  std::vector<double> result;
  const auto size = static_cast<double>(extent);
  for (int64_t i = 0; i < extent; ++i) {
    const auto at = static_cast<double>(i);
    result.push_back(!align_corners ? (2 * at + 1) / size - 1 : extent == 1 ? -1 : 2 * at / (size - 1) - 1);
  }
  return result;
}

// Every point (x, y, ..., 1) of the image times the matrix.
Results affine_grid(NodeImport& n) {
  const Term given(n, n.input(0)), theta = at_bounds(given);
  Shape size;
  Results counted;
  for (const Extent& extent : n.extents_input(1, "image extents")) {
    size.push_back(extent.bound);
    counted.push_back(extent.counted);
  }
  n.bounded("extent", size, 1, kMaxOffset);
  for (size_t i = 1; i < counted.size(); ++i)
    if (counted[i] != nullptr) n.unsupported("sides of images that are ranges or depend on the data");
  const bool align_corners = n.flag("align_corners", false);
  const auto spatial = static_cast<int64_t>(size.size()) - 2;
  if ((spatial != 2 && spatial != 3) || theta.shape() != Shape{size[0], spatial, spatial + 1})
    n.invalid("matrices " + to_string(theta.operand()->type) + " do not fit the image extents");
  const Shape image(size.begin() + 2, size.end());
  Shape grid = image;
  grid.push_back(1);
  std::vector<Term> coordinates;
  for (int64_t a = spatial - 1; a >= 0; --a) {
    Shape along(grid.size(), 1);
    along[a] = image[a];
    n.require_moderate({DType::f64, along});
    coordinates.push_back(
        expand(constant(n, theta.dtype(), along, unit_places(image[a], align_corners)), grid));
  }
  coordinates.push_back(expand(number_like(theta, 1), grid));
  const int64_t points = element_count(image);
  const Term base = reshape(concat(coordinates, spatial), {1, points, spatial + 1});
  Shape out = image;
  out.insert(out.begin(), size[0]);
  out.push_back(spatial);
  Results extents(out.size());
  extents[0] = extent_of(given, 0);
  return {n.bounded(reshape(matmul(base, transpose(theta, {0, 2, 1})), out), extents)};
}

// Samples of one axis of regions, [regions, count], between two elements each of the `size` that there are.
Taps region_taps(const Term& start, const Term& extent, int64_t count, const Term& size) {
  const Term steps = positions(start.node(), start.dtype(), count, 1, 2) + 0.5;
  const Term at = start + steps * (extent / static_cast<double>(count));
  const Term last = size - 1.0, zero = number_like(at, 0);
  const Term exists = -1.0 <= at && at <= size;
  const Term inside = select(exists, min(max(at, zero), last), 0);
  const Term low = floor(inside), t = inside - low;
  return {{low, exists, 1.0 - t}, {min(max(low + 1.0, zero), last), exists, t}};
}

struct Regions {
  Term rows, first;  // of the images, and where those of each region's image begin: [regions, 1, 1]
  Taps y, x;
  int64_t height, width;  // of the images
};

// The weighted elements of one combination of taps, [regions, y, x, channels].
Term region_elements(const Regions& r, const Tap& y, const Tap& x) {
  const Term row = insert_axis(cast(y.place, DType::i64), 2),
             column = insert_axis(cast(x.place, DType::i64), 1);
  const Term values =
      apply(Op::Gather, {r.rows, row * static_cast<double>(r.width) + column + r.first}, AxisAttrs{0});
  const Term weight = insert_axis(y.weight, 2) * insert_axis(x.weight, 1);
  const Term exists = insert_axis(y.exists, 2) && insert_axis(x.exists, 1);
  return select(insert_axis(exists, 3), values, 0) * insert_axis(cast(weight, values.dtype()), 3);
}

// What RoiAlign is asked for: regions as starts and extents on the image, parts of each.
struct Alignment {
  Term x, batch;       // [N, C, H, W] at its bounds, an image of each region
  Term rows, columns;  // H and W, of the regions' type
  Term scaled;         // the regions' corners x, y, x, y
  bool half_pixel, averages;
  int64_t height, width;  // parts

  Term start(int64_t axis) const { return slice(scaled, 1, 1 - axis, 1); }  // of rows 0, of columns 1
  Term extent(int64_t axis) const {
    const Term result = slice(scaled, 1, 3 - axis, 1) - start(axis);
    return half_pixel ? result : max(result, number_like(result, 1));
  }
};

// As many samples of each part along each axis as sampling_ratio says.
Term align_by_ratio(const Alignment& a, int64_t ratio) {
  const int64_t count = a.batch.extent(0), channels = a.x.extent(1);
  const Term first = reshape(a.batch * static_cast<double>(a.x.extent(2) * a.x.extent(3)), {count, 1, 1});
  const Regions r{rows_of(a.x),
                  first,
                  region_taps(a.start(0), a.extent(0), a.height * ratio, a.rows),
                  region_taps(a.start(1), a.extent(1), a.width * ratio, a.columns),
                  a.x.extent(2),
                  a.x.extent(3)};
  std::optional<Term> samples;
  for (const Tap& y : r.y)
    for (const Tap& along : r.x) {
      const Term elements = region_elements(r, y, along);
      samples = !samples ? elements : a.averages ? *samples + elements : max(*samples, elements);
    }
  const Term bins = reshape(*samples, {count, a.height, ratio, a.width, ratio, channels});
  const Term pooled = reduce(a.averages ? Op::ReduceMean : Op::ReduceMax, bins, {2, 4}, false);
  return transpose(pooled, {0, 3, 1, 2});
}

// The samples of an axis whose number the regions' extents say: the least whole number of them that are no
// more than an element apart. All that counts of them are the weights they give the elements, and an element
// has a weight in those alone that lie at most one from it: no more than 4, since two or more samples of a
// part lie more than 1/2 apart. So the work does not depend on how many there are, nor on how far a region
// goes beyond the image.
struct Adaptive {
  Term count;        // in each part, [regions, 1]; of no region at all 0 or less
  Term sum;          // of the weights of each element, [regions, parts, size]
  Term most, least;  // of them
  Term any;          // where there is a weight
  Term zero;         // some sample lies before the first element or behind the image, [regions, parts]
};
// Before the first sample that has a weight one more is looked at, and behind the last, for what is rounded.
constexpr int64_t kSamplesNear = 4 + 3;

// In float64: a part far outside has many samples before the first that counts.
Adaptive adaptive_axis(const Term& start, const Term& extent, int64_t parts, int64_t size, DType type) {
  NodeImport& n = start.node();
  const auto last = static_cast<double>(size - 1);
  const Term length = cast(extent, DType::f64) / static_cast<double>(parts);
  // By the quotient in the regions' own type; one less where a kernel that multiplies by the inverse came out
  // above a whole number.
  const Term quotient = cast(apply(Op::Ceil, {cast(length, extent.dtype())}), DType::f64);
  const Term fewer = (quotient - 1.0) * static_cast<double>(parts);
  const Term count = select(cast(extent, DType::f64) <= fewer, quotient - 1.0, quotient);
  const Term step = length / max(count, number_like(count, 1));
  const Term begin = cast(start, DType::f64) + positions(n, DType::f64, parts, 1, 2) * length;
  const auto sample = [&](const Term& number, const Term& from, const Term& by) {
    return from + (number + 0.5) * by;
  };
  const auto spread = [&](const Term& x) { return insert_axis(insert_axis(x, 2), 3); };
  const Term element = positions(n, DType::f64, size, 2, 4);
  const Term gap = spread(select(number_like(count, 1) < count, step, 1));
  const Term number =
      floor((element - 1.0 - spread(begin)) / gap - 0.5) - 1.0 + positions(n, DType::f64, kSamplesNear, 3, 4);
  const Term at = sample(number, spread(begin), spread(step));
  const Term exists =
      0.0 <= number && number < spread(count) && -1.0 <= at && at <= number_like(at, last + 1);
  const Term inside = select(exists, clamp(at, 0, last), 0), low = floor(inside);
  const Term share = cast(inside - low, type);  // of the element behind
  const Term is_low = exists && low == element, is_high = exists && clamp(low + 1.0, 0, last) == element;
  const auto weights = [&](Op op, double otherwise) {
    const Term before = select(is_low, 1.0 - share, otherwise), behind = select(is_high, share, otherwise);
    const Term both = op == Op::ReduceSum   ? before + behind
                      : op == Op::ReduceMax ? max(before, behind)
                                            : min(before, behind);
    return reduce(op, both, {3}, false);
  };
  const Term most = weights(Op::ReduceMax, -1);
  const Term within = 0.0 <= sample(number_like(begin, 0), begin, step) &&
                      sample(count - 1.0, begin, step) <= number_like(begin, static_cast<double>(size));
  return {
      cast(count, type), weights(Op::ReduceSum, 0), most, weights(Op::ReduceMin, 2), 0.0 <= most, !within};
}

// What elements along `axis`, the axis of the weights' size in x, make of a part, or what stands for it where
// they have no weight.
Term weighed(const Adaptive& a, const Term& x, const std::function<Term(const Term&)>& laid_out, int64_t axis,
             bool averages) {
  NodeImport& n = x.node();
  if (averages) {
    const Term weight = laid_out(a.sum);
    return reduce(Op::ReduceSum, select(weight == 0.0, 0, weight * x), {axis}, false);
  }
  const Term none(n, n.constant(extreme(x.dtype(), true)));
  const Term product = select(x < 0, laid_out(a.least), laid_out(a.most)) * x;
  return reduce(Op::ReduceMax, select(laid_out(a.any), product, none), {axis}, false);
}

// Columns first and then rows. Among the greatest, what lies outside counts as 0, and so does the element
// behind a sample that was moved to the first one; a part without samples is 0.
Term align_adaptively(const Alignment& a) {
  const DType type = a.x.dtype();
  const Adaptive y = adaptive_axis(a.start(0), a.extent(0), a.height, a.x.extent(2), type),
                 x = adaptive_axis(a.start(1), a.extent(1), a.width, a.x.extent(3), type);
  const Term images = apply(Op::Gather, {a.x, a.batch}, AxisAttrs{0});
  const auto with_zero = [&](const Term& greatest, const Term& zero) {
    return a.averages ? greatest : select(zero, max(greatest, number_like(greatest, 0)), greatest);
  };
  // [regions, 1, 1, parts, W] and [regions, 1, parts, H, 1]
  const auto of_columns = [](const Term& weight) { return insert_axis(insert_axis(weight, 1), 1); };
  const auto of_rows = [](const Term& weight) { return insert_axis(insert_axis(weight, 3), 1); };
  const Term columns = with_zero(weighed(x, insert_axis(images, 3), of_columns, 4, a.averages),
                                 insert_axis(insert_axis(x.zero, 1), 1));
  const Term parts = with_zero(weighed(y, insert_axis(columns, 2), of_rows, 3, a.averages),
                               insert_axis(insert_axis(y.zero, 1), 3));
  const auto of_regions = [](const Term& x) { return insert_axis(insert_axis(x, 2), 3); };
  if (a.averages) return parts / of_regions(max(x.count * y.count, number_like(x.count, 1)));
  const Term none = x.count <= number_like(x.count, 0) || y.count <= number_like(y.count, 0);
  return select(of_regions(none), 0, parts);
}

Results roi_align(NodeImport& n) {
  const Term image(n, n.input(0)), x = widened(at_bounds(image)), rois = widened({n, n.input(1)});
  const Term batch = cast({n, n.input(2)}, DType::i64);
  const std::string mode = n.word_attr("mode", {"avg", "max"});
  const bool half_pixel = n.opset() >= 16 && n.word_attr("coordinate_transformation_mode",
                                                         {"half_pixel", "output_half_pixel"}) == "half_pixel";
  const int64_t height = n.int_attr("output_height", 1), width = n.int_attr("output_width", 1);
  const int64_t ratio = n.int_attr("sampling_ratio", 0);
  n.bounded("output extent", {height, width}, 1, kMaxStep);
  n.bounded("sampling_ratio", {ratio}, 0, kMaxStep);
  if (x.rank() != 4 || rois.rank() != 2 || rois.extent(1) != 4 || batch.shape() != Shape{rois.extent(0)})
    n.invalid("data need rank 4, regions [count, 4], and an index of a batch each");
  n.bounded("extent", {x.extent(2), x.extent(3)}, 1, kMaxOffset);
  const Term scaled = rois * n.float_attr("spatial_scale", 1) - (half_pixel ? 0.5 : 0.0);
  for (int64_t axis : {2, 3})
    if (ratio == 0) n.require_known(image, axis, "an image's side, without a sampling_ratio,");
  const auto length = [&](int64_t axis) { return real_length(image, axis, rois.dtype()); };
  const Alignment a{x, batch, length(2), length(3), scaled, half_pixel, mode == "avg", height, width};
  const Term parts = cast(ratio == 0 ? align_adaptively(a) : align_by_ratio(a, ratio), image.dtype());
  Results extents = extents_of(parts);
  extents[1] = extent_of(image, 1);
  return {n.bounded(parts, extents)};
}

struct Deformed {
  Term rows;      // [N * H * W, C]
  Term first;     // where those of each batch begin, [N, 1]
  Shape in, out;  // spatial extents
  int64_t batch;
};

// One tap of the kernel, from where the offsets of a group of channels say: [N, group's channels, out...].
Term deformed_tap(const Deformed& d, const Term& offsets, int64_t tap, const std::vector<double>& base,
                  const std::vector<int64_t>& strides, int64_t channels, int64_t channel) {
  NodeImport& n = d.rows.node();
  const int64_t points = element_count(d.out);
  std::vector<Taps> axes;
  for (size_t a = 0; a < 2; ++a) {
    const Term grid = positions(n, offsets.dtype(), d.out[a], static_cast<int64_t>(a) + 1, 3) *
                          static_cast<double>(strides[a]) +
                      base[a];
    const Term offset =
        reshape(slice(offsets, 1, 2 * tap + static_cast<int64_t>(a), 1), {d.batch, d.out[0], d.out[1]});
    const Term at = reshape(grid + offset, {d.batch, points}), low = floor(at), t = at - low;
    const Sampling zeros{"linear", Padding::zeros, true};
    const Term last = number_like(at, static_cast<double>(d.in[a] - 1));
    axes.push_back({tap_at(low, 1.0 - t, last, zeros), tap_at(low + 1.0, t, last, zeros)});
  }
  const Term sampled = weighted_sum(slice(d.rows, 1, channel, channels), d.first, axes, d.in);
  return reshape(transpose(sampled, {0, 2, 1}), {d.batch, channels, d.out[0], d.out[1]});
}

// The taps side by side are the data of a convolution over no neighbours.
Results deform_conv(NodeImport& n) {
  for (size_t i = 0; i < n.input_count(); ++i)
    for (int64_t axis = 0; n.has_input(i) && axis < n.input(i)->rank(); ++axis)
      if (i % 2 == 1 || axis > 0) n.require_known(n.input(i), axis, "an axis other than that of the batch");
  const auto of_images = [&](size_t i) { return widened(at_bounds({n, n.input(i)})); };
  const Term x = of_images(0), w = widened({n, n.input(1)}), offsets = of_images(2);
  if (x.rank() != 4 || w.rank() != 4 || offsets.rank() != 4) n.unsupported("data of other rank than 4");
  const Shape in(x.shape().begin() + 2, x.shape().end()), kernel(w.shape().begin() + 2, w.shape().end());
  n.bounded("extent", in, 1, kMaxOffset);
  n.bounded("weight extent", kernel, 1, kMaxStep);
  if (n.ints_attr("kernel_shape", kernel) != kernel) n.invalid("kernel_shape is not that of the weights");
  const Windows windows = read_windows(n, n.input(0), kernel);
  const int64_t group = n.int_attr("group", 1), offset_group = n.int_attr("offset_group", 1);
  n.bounded("group", {group, offset_group}, 1, kMaxStep);
  const int64_t batch = x.extent(0), channels = x.extent(1), taps = kernel[0] * kernel[1];
  Shape out;
  for (size_t a = 0; a < 2; ++a)
    out.push_back((in[a] + windows.pads_before[a] + windows.pads_after[a] -
                   (kernel[a] - 1) * windows.dilations[a] - 1) /
                      windows.strides[a] +
                  1);
  if (channels % offset_group != 0 ||
      offsets.shape() != Shape{batch, 2 * taps * offset_group, out[0], out[1]})
    n.invalid("offsets " + to_string(offsets.operand()->type) + " do not fit data and weights");
  if (taps * offset_group > kMaxDeformedTaps) n.unsupported("more than 256 taps and groups of offsets");
  const Term first = positions(n, DType::i64, batch, 0, 2) * static_cast<double>(in[0] * in[1]);
  const Deformed d{rows_of(x), first, in, out, batch};
  std::vector<Term> columns;  // [N, C of a group, 1, out...] per tap, group by group
  std::vector<Term> groups;
  const int64_t each = channels / offset_group;
  for (int64_t g = 0; g < offset_group; ++g) {
    columns.clear();
    for (int64_t tap = 0; tap < taps; ++tap) {
      const std::vector<double> base = {
          static_cast<double>(tap / kernel[1] * windows.dilations[0] - windows.pads_before[0]),
          static_cast<double>(tap % kernel[1] * windows.dilations[1] - windows.pads_before[1])};
      Term value = deformed_tap(d, offsets, g * taps + tap, base, windows.strides, each, g * each);
      if (n.has_input(4)) value = value * slice(of_images(4), 1, g * taps + tap, 1);
      columns.push_back(insert_axis(value, 2));
    }
    groups.push_back(concat(columns, 2));
  }
  const Term data = reshape(concat(groups, 1), {batch, channels * taps, out[0], out[1]});
  ConvAttrs attrs;
  attrs.strides = attrs.dilations = {1, 1};
  attrs.pads_before = attrs.pads_after = {0, 0};
  attrs.group = group;
  Term y = apply(Op::Conv, {data, reshape(w, {w.extent(0), w.extent(1) * taps, 1, 1})}, attrs);
  if (n.has_input(3)) y = y + reshape(widened({n, n.input(3)}), {w.extent(0), 1, 1});
  return {n.bounded(cast(y, n.input(0)->dtype()), {extent_of(n.input(0), 0), nullptr, nullptr, nullptr})};
}

}  // namespace

std::vector<RuleRow> sampling_rules() {
  return {
      {"GridSample", grid_sample, 16, 22},
      {"AffineGrid", affine_grid, 20, 20},
      {"RoiAlign", roi_align, 10, 22},
      {"DeformConv", deform_conv, 19, 22},
  };
}

}  // namespace korch::onnx
