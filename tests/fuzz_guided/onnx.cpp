#include "korch/ir/text.h"
#include "korch/onnx/import.h"
#include "refusal.h"
#include "target.h"

namespace korch::fuzz {

// Folds little: a model of a hundred bytes may ask for seconds of arithmetic on constants, which finds
// nothing.
void read_onnx(std::string_view bytes) {
  expect_read_or_refused([&] {
    ImportOptions options;
    options.max_folding_growth_bytes = 1 << 20;
    options.max_folding_work = 1 << 22;
    options.shapes["N"] = {2};
    try {
      print(import_onnx_bytes(bytes, options));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::usage) throw;
      options.shapes.clear();  // the model has no such dimension
      print(import_onnx_bytes(bytes, options));
    }
  });
}

}  // namespace korch::fuzz
