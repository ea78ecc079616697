// Shapes of graph inputs: what the file states and the options give.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "korch/onnx/import.h"
#include "onnx.pb.h"

namespace korch::onnx {

// Whether the file leaves its extent open.
bool is_open(const proto::TensorShapeProto::Dimension& dimension);

class InputShapes {
 public:
  // `constants`: names of inputs that are none, since they have a value. A name that is both an input's and a
  // symbolic dimension's means the input where as many extents are given as that has axes. Throws
  // Error{usage} where an option names neither, or an input of one axis and another dimension.
  InputShapes(const proto::GraphProto& graph, const std::set<std::string>& constants,
              const ImportOptions& options);

  // Extents that the options or other dimensions give one, by its name.
  struct Range {
    int64_t least = 0, most = 0;
  };

  // Of the input that will be number `number` of the graph: bounds where runs tell the extents.
  // Errors{invalid, usage} where the options contradict the file or each other.
  Shape of(const proto::ValueInfoProto& input, int number) {
    Shape bounds = bounds_of(input);
    note_open_axes(input, number, &bounds);
    return bounds;
  }
  // Throws Error{invalid} naming the inputs so far whose shapes nothing tells, and the options that would.
  void require_known() const;
  // Of the inputs so far, with the sums that they follow by (ImportOptions::derived).
  std::vector<OpenDimension> open_dimensions() const;
  // Of the inputs so far, by their printable names: dimensions that the file leaves open and the options
  // give, and those that nothing tells.
  const std::map<std::string, Range>& known() const { return known_; }
  const std::vector<std::string>& unknown() const { return unknown_; }

 private:
  Shape bounds_of(const proto::ValueInfoProto& input);
  int64_t given_extent(const proto::ValueInfoProto& input, int axis);
  int64_t least_extent(const proto::ValueInfoProto& input, int axis, int64_t most) const;
  void note_open_axes(const proto::ValueInfoProto& input, int number, Shape* bounds);
  void add_open(const proto::ValueInfoProto& input, const std::string& shape);

  // Extents that the options give an input, or a dimension.
  struct Given {
    Shape most, least;
  };
  const Given* given(const proto::ValueInfoProto& input) const;
  const Given* given(const proto::TensorShapeProto::Dimension& dimension) const;
  const DerivedDimension* derived(const proto::ValueInfoProto& input, int axis) const;

  const ImportOptions& options_;
  std::map<std::string, Given> inputs_, symbols_;
  std::vector<std::string> open_inputs_;  // whose shapes are not known
  std::vector<std::string> hints_;        // the options that would give them, each once
  std::vector<OpenDimension> open_dimensions_;
  std::map<std::string, Range> known_;
  std::vector<std::string> unknown_;
};

}  // namespace korch::onnx
