// The compiled half of the Python package: executables, loaded and run. Compiling is a program of its own
// (tools/worker.cpp), so that this module needs neither LLVM nor protobuf.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "gpu_array.h"
#include "korch/base/error.h"
#include "korch/options/option_table.h"
#include "memory_samples.h"
#include "network.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace korch::python {
namespace {

// Of korch._errors.
const char* class_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::internal:
      return "InternalError";
    case ErrorKind::usage:
      return "UsageError";
    case ErrorKind::invalid:
      return "InvalidInput";
    case ErrorKind::unsupported:
      return "Unsupported";
    case ErrorKind::accuracy:
      return "AccuracyError";
    case ErrorKind::resource:
      return "ResourceError";
    case ErrorKind::io:
      return "FileError";
    case ErrorKind::interrupted:
      return "Interrupted";
  }
  return "InternalError";
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const nb::object type = nb::module_::import_("korch._errors").attr(class_of(error.kind()));
    PyErr_SetObject(type.ptr(), nb::str(error.what()).ptr());
  }
}

using Tensor = std::tuple<std::string, std::string, nb::tuple, int64_t>;

std::vector<Tensor> describe(const std::vector<PlanIo>& ios) {
  std::vector<Tensor> result;
  for (const PlanIo& io : ios) {
    nb::list shape;
    for (int64_t extent : io.type.shape) shape.append(extent);
    result.emplace_back(io.name, name(io.type.dtype), nb::tuple(shape), io.type.bytes());
  }
  return result;
}

using Row =
    std::tuple<std::string, std::string, std::string, std::string, std::string, std::vector<std::string>>;

std::vector<Row> rows_of(unsigned user) {
  std::vector<Row> rows;
  for (const OptionRow& row : option_rows(user))
    rows.emplace_back(row.name, name(row.kind), row.preset, row.help, row.otherwise, row.words);
  return rows;
}

void check_option(unsigned user, const std::string& name, const std::string& value) {
  UserOptions nobody;
  set_option(nobody, user, name, value);
}

}  // namespace
}  // namespace korch::python

NB_MODULE(_korch, m) {
  using korch::python::MemorySamples;
  using korch::python::Network;
  nb::set_leak_warnings(false);  // executables may live until the interpreter ends
  nb::register_exception_translator(korch::python::translate);
  m.def(
      "numpy_name",
      [](const std::string& dtype) {
        korch::DType type;
        if (!korch::parse_dtype(dtype, &type)) throw nb::key_error(dtype.c_str());
        return korch::python::numpy_name(type);
      },
      "dtype"_a, "NumPy's name of an executable's dtype.");
  m.attr("PYTHON") = static_cast<unsigned>(korch::kPython);
  m.attr("TORCH") = static_cast<unsigned>(korch::kTorch);
  m.def("option_rows", korch::python::rows_of, "user"_a,
        "(name, kind, preset, help, what False does, words) of each option of PYTHON or TORCH.");
  m.def("check_option", korch::python::check_option, "user"_a, "name"_a, "value"_a,
        "Raises UsageError where the user has no such option, or it does not take this text.");
  m.def("end_calls", korch::python::end_calls,
        "Wait until no executable runs, and let none run any more: for the interpreter's end.");
  using korch::LoadedState;
  nb::class_<LoadedState>(m, "State", "What runs leave for the next ones.")
      .def("reset", &LoadedState::reset)
      .def("copy_from", &LoadedState::copy_from, "other"_a)
      .def("rewind", &LoadedState::rewind, "length"_a)
      .def_prop_ro("length", &LoadedState::length);
  nb::class_<Network>(m, "Network", "A loaded executable: korch.Executable without its comforts.")
      .def(nb::init<const std::string&, int, int>(), "path"_a, "threads"_a, "instances"_a)
      .def("run", nb::overload_cast<nb::handle, nb::handle, LoadedState*>(&Network::run), "inputs"_a,
           "outputs"_a.none(), "state"_a.none(),
           "Run on arrays in order; without outputs (None) new arrays are made. Returns the outputs. With a "
           "state "
           "the inputs and outputs that it has are left out.")
      .def("make_state", &Network::make_state, "An empty state.")
      .def("profile", &Network::profile, "inputs"_a, "Microseconds of every step in one run.")
      .def("explain", &Network::explain, "kernel"_a, "The plan for people; -1: all of it.")
      .def("explain_html", &Network::explain_html, "step_us"_a,
           "The plan as a page; times of its steps, or none.")
      .def("close", &Network::close, "No more calls.")
      .def_prop_ro(
          "inputs", [](const Network& n) { return korch::python::describe(n.code().inputs); },
          "(name, dtype, shape, bytes) of each.")
      .def_prop_ro(
          "outputs", [](const Network& n) { return korch::python::describe(n.code().outputs); },
          "(name, dtype, shape, bytes) of each.")
      .def_prop_ro(
          "states",
          [](const Network& n) {
            std::vector<std::tuple<int, int, int>> result;
            for (const korch::StatePair& s : n.code().states) result.emplace_back(s.input, s.output, s.axis);
            return result;
          },
          "(input, output, axis along which runs append or -1) of each.")
      .def_prop_ro(
          "threads", [](const Network& n) { return n.code().model->threads; }, "Workers it was compiled for.")
      .def_prop_ro("isa", [](const Network& n) { return std::string(n.code().model->isa); })
      .def_prop_ro(
          "needed", [](const Network& n) { return n.code().info.needed; },
          "Sonames of the shared libraries that it loads.")
      .def_prop_ro("plan_json", &Network::plan_json);
  korch::python::add_gpu_array(m);
  nb::class_<MemorySamples>(m, "MemorySamples", "Notices when memory that should not change is rewritten.")
      .def(nb::init<const std::vector<std::pair<uintptr_t, size_t>>&>(), "regions"_a,
           "Of each (address, bytes) a few bytes are kept; the memory must outlive this.")
      .def("changed", &MemorySamples::changed,
           "Numbers of the regions whose samples are no longer what they were.");
}
