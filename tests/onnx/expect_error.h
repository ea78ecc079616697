// What the tests of malformed models begin with, and what they expect.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "korch/base/error.h"
#include "korch/onnx/import.h"
#include "model_builder.h"

namespace korch {

// Imports and expects an Error of this kind whose message contains all of `words`.
inline void expect_error(const std::function<void()>& action, ErrorKind kind,
                         const std::vector<std::string>& words) {
  try {
    action();
    FAIL() << "no error";
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(static_cast<int>(error.kind()), static_cast<int>(kind)) << message;
    for (const std::string& word : words) EXPECT_NE(message.find(word), std::string::npos) << message;
  }
}

inline void expect_refused(const ModelBuilder& b, ErrorKind kind, const std::vector<std::string>& words,
                           const ImportOptions& options = {}) {
  expect_error([&] { import_onnx_bytes(b.bytes(), options); }, kind, words);
}

// To be spoiled.
inline ModelBuilder relu_model() {
  ModelBuilder b;
  b.input("x", {2, 3}).output("y");
  b.node("Relu", {"x"}, {"y"});
  return b;
}

}  // namespace korch
