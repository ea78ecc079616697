#include "gpu_array.h"

#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <vector>

#include "array_view.h"

namespace nb = nanobind;

namespace korch::python {
namespace {

constexpr int kCuda = nb::device::cuda::value;

// Of bf16, too: who takes arrays of a GPU knows it.
nb::dlpack::dtype dlpack_on_gpu(DType dtype) {
  constexpr auto kBfloat = static_cast<uint8_t>(nb::dlpack::dtype_code::Bfloat);
  return dtype == DType::bf16 ? nb::dlpack::dtype{kBfloat, 16, 1} : dlpack_of(dtype);
}

bool asks_for(const nb::kwargs& options, const char* name) {
  return options.contains(name) && !options[name].is_none();
}

// A capsule. The call that made the array has ended, so it is ready for any stream.
nb::object to_dlpack(nb::handle self, const nb::kwargs& options) {
  const GpuArray& array = nb::cast<const GpuArray&>(self);
  const bool is_moved = asks_for(options, "dl_device") &&
                        !nb::object(options["dl_device"]).equal(nb::make_tuple(kCuda, array.gpu()));
  if (is_moved || (asks_for(options, "copy") && nb::cast<bool>(options["copy"])))
    throw nb::buffer_error("korch.GpuArray lends its memory where it is, and copies nothing");
  const std::vector<size_t> shape(array.type().shape.begin(), array.type().shape.end());
  return nb::cast(nb::ndarray<nb::device::cuda>(array.data(), shape.size(), shape.data(), self, nullptr,
                                                dlpack_on_gpu(array.type().dtype), kCuda, array.gpu()));
}

}  // namespace

void add_gpu_array(nb::module_& m) {
  nb::class_<GpuArray>(m, "GpuArray",
                       "An output in a GPU's memory; torch.from_dlpack and the like take it without a copy.")
      .def("__dlpack__", to_dlpack)
      .def("__dlpack_device__", [](const GpuArray& array) { return nb::make_tuple(kCuda, array.gpu()); })
      .def_prop_ro("shape",
                   [](const GpuArray& array) {
                     nb::list shape;
                     for (const int64_t extent : array.type().shape) shape.append(extent);
                     return nb::tuple(shape);
                   })
      .def_prop_ro(
          "dtype", [](const GpuArray& array) { return name(array.type().dtype); },
          "As korch.TensorInfo has it.")
      .def("__repr__", [](const GpuArray& array) {
        return fmt::format("<korch.GpuArray {} on GPU {}>", to_string(array.type()), array.gpu());
      });
}

}  // namespace korch::python
