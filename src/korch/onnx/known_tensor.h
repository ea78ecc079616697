// A tensor that is known while a model is imported, or none. It may be known by how it is made: who reads it
// first makes it.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "korch/tensor/host_tensor.h"

namespace korch::onnx {

class KnownTensor {
 public:
  KnownTensor() = default;
  KnownTensor(HostTensor tensor) : tensor_(std::move(tensor)) {}  // NOLINT: as an optional is assigned
  explicit KnownTensor(std::function<HostTensor()> make) : make_(std::move(make)) {}

  bool has_value() const { return tensor_ || make_; }
  explicit operator bool() const { return has_value(); }
  const HostTensor& operator*() const {
    if (!tensor_ && make_) {
      tensor_ = make_();
      make_ = nullptr;
    }
    return *tensor_;
  }
  const HostTensor* operator->() const { return &**this; }

 private:
  mutable std::optional<HostTensor> tensor_;
  mutable std::function<HostTensor()> make_;
};

}  // namespace korch::onnx
