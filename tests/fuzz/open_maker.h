// Random ONNX models some of whose extents each run tells, quantized operators among them, and runs of each.
// A model grows motif by motif; its networks of single extents say what a motif's results are, and whether
// the motif fits at all.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../onnx/model_builder.h"
#include "graph_maker.h"

namespace korch::fuzz {

using Extents = std::map<std::string, int64_t>;  // by symbol

struct OpenInput {
  std::string name;
  DType dtype = DType::f32;
  Shape numbers;                     // below 0 where there is a symbol
  std::vector<std::string> symbols;  // of each axis; empty where there is a number
};

struct OpenModel {
  onnx::proto::ModelProto model;
  std::vector<OpenInput> inputs;
  std::map<std::string, std::pair<int64_t, int64_t>> ranges;  // least and most
  std::vector<Extents> runs;                                  // the least and the most first
  std::vector<std::string> derived;  // symbols without a range: what they are follows from others
  std::vector<std::string> motifs;
  uint64_t seed = 0;  // of data

  // What the importer makes of the ranges, and of one run. Throws Error.
  Graph of_ranges() const;
  Graph of_run(size_t run) const;
  std::vector<HostTensor> data(size_t run) const;
};

// A Value of the model, with its shape in each run.
struct OpenValue {
  std::string name;
  DType dtype = DType::f32;
  std::vector<Shape> shapes;

  size_t rank() const { return shapes[0].size(); }
  bool is_open(size_t axis) const;    // in some runs larger than in others
  int64_t extent(size_t axis) const;  // of an axis that is not open
  int64_t least(size_t axis) const;   // over the runs
  int64_t most(size_t axis) const;    // likewise
  bool is_float() const { return dtype == DType::f32; }
  bool is_rows() const { return is_float() && rank() >= 2 && !is_open(rank() - 1); }
  // Known channels, and then one or two axes.
  bool is_image() const { return is_float() && (rank() == 3 || rank() == 4) && !is_open(1) && extent(1) > 0; }
  int64_t channels() const { return extent(rank() - 1); }  // of rows
};

class OpenMaker {
 public:
  explicit OpenMaker(uint64_t seed);

  Random random;

  OpenModel finish(int motifs);

  // For motifs. Names of what is made; each becomes an operand of those that follow.
  using Names = std::vector<std::string>;
  struct Made {
    onnx::proto::NodeProto* node;
    Names outputs;
    operator const std::string&() const { return outputs[0]; }
    Made& with(const std::string& attribute, int64_t value);
    Made& with(const std::string& attribute, const std::vector<int64_t>& values);
    Made& with(const std::string& attribute, const std::string& value);
    Made& with_float(const std::string& attribute, float value);
  };
  Made add(const std::string& op_type, const Names& operands, int outputs = 1);
  Made microsoft(const std::string& op_type, const Names& operands, int outputs = 1);
  std::string constant(const HostTensor& value);
  std::string ints(const std::vector<int64_t>& values);
  std::string integer(int64_t value);                                            // of rank 0
  std::string number(float value);                                               // of rank 0
  std::string weight(const Shape& shape, Contents contents = Contents::normal);  // small where many are added
  std::string integers(DType dtype, const Shape& shape, int64_t low, int64_t high);
  std::string extent_of(const std::string& x, size_t axis);  // of rank 1
  std::string reduced(const std::string& op_type, const std::string& x, const std::vector<int64_t>& axes,
                      bool keep);
  int64_t opset() const { return opset_; }
  const std::vector<OpenValue>& values() const { return values_; }
  int64_t axis_of(const OpenValue& x) { return random.below(static_cast<int64_t>(x.rank())); }

 private:
  void make_inputs();
  void make_runs();
  void add_cache();
  bool settle(const Names& results);
  void add_input(DType dtype, const Shape& numbers, const std::vector<std::string>& symbols);
  void remove_input();
  Names derived_by_joining(const OpenValue& x);
  Names derived_by_name(const OpenValue& x);
  void add_derived();

  OpenModel made_;
  ModelBuilder builder_;
  int64_t opset_;
  std::vector<OpenValue> values_;
  int names_ = 0;
};

struct OpenMotif {
  const char* name;
  // Nothing where `x` is none of its operands.
  OpenMaker::Names (*add)(OpenMaker& maker, const OpenValue& x);
};
const std::vector<OpenMotif>& open_motifs();
const std::vector<OpenMotif>& open_image_motifs();
const std::vector<OpenMotif>& open_quantized_motifs();

OpenModel random_open_model(uint64_t seed);

}  // namespace korch::fuzz
