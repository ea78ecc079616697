#include <fmt/format.h>
#include <korch/compile.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "boundary.h"
#include "compiler_process.h"
#include "korch/base/files.h"

namespace korch {
namespace {

using Json = nlohmann::ordered_json;

std::string text_or(const char* text, const char* otherwise) {
  return text != nullptr ? text : otherwise;
}

std::string line_of(const Json& request) {
  try {
    return request.dump();
  } catch (const Json::exception&) {
    throw Error(ErrorKind::usage, "a path or a name is not UTF-8, in which the compiler is asked");
  }
}

Json shapes_of(const korch_shape* shapes, uint32_t count) {
  Json result = Json::object();
  for (uint32_t i = 0; i < count; ++i) {
    const korch_shape& shape = shapes[i];
    if (shape.name == nullptr || (shape.rank > 0 && shape.dims == nullptr))
      throw Error(ErrorKind::usage, "a shape without a name or dims");
    if (result.contains(shape.name))
      throw Error(ErrorKind::usage, fmt::format("the shape of '{}' is given twice", shape.name));
    result[shape.name] = std::vector<int64_t>(shape.dims, shape.dims + shape.rank);
  }
  return result;
}

Json least_shapes_of(const korch_compile_options& options, const Json& most) {
  Json least = shapes_of(options.least_shapes, options.least_shape_count);
  for (const auto& [name, dims] : least.items())
    if (!most.contains(name) || most.at(name).size() != dims.size())
      throw Error(ErrorKind::usage, fmt::format("the least shape of '{}' has no shape of its rank", name));
  return least;
}

// By the names of korch's table of options, as texts; what is not set keeps its preset. The fields of the
// struct are options too.
Json options_of(const korch_compile_options& given) {
  Json options = Json::object();
  const auto add = [&](const char* name, const std::string& value) {
    if (!options.contains(name)) {
      options[name] = value;
      return;
    }
    // The compiler knows which take several.
    if (!options[name].is_array()) options[name] = Json::array({options[name]});
    options[name].push_back(value);
  };
  if (given.threads != 0) add("threads", std::to_string(given.threads));
  if (given.accuracy != nullptr) add("accuracy", given.accuracy);
  if (given.target != nullptr) add("target", given.target);
  if (given.database != nullptr) add("database", given.database);
  if (given.budget_s != 0) add("budget", fmt::format("{}", given.budget_s));
  if (given.no_measure != 0) add("measure", "0");
  if (given.no_verify != 0) add("verify", "0");
  for (uint32_t i = 0; i < given.option_count; ++i) {
    const korch_option& option = given.options[i];
    if (option.name == nullptr || option.value == nullptr)
      throw Error(ErrorKind::usage, "an option without a name or a value");
    add(option.name, option.value);
  }
  return options;
}

// The process shares the caller's working directory, and its database's default.
Json request_of(const korch_compile_options& options, const std::string& model) {
  const Json shapes = shapes_of(options.shapes, options.shape_count);
  return {{"verb", "compile"},
          {"model", model},
          {"output", options.output_path},
          {"shapes", shapes},
          {"least_shapes", least_shapes_of(options, shapes)},
          {"options", options_of(options)}};
}

void check(const korch_compile_options& options) {
  if ((options.model_path != nullptr) == (options.model_bytes != nullptr))
    throw Error(ErrorKind::usage, "give either model_path or model_bytes");
  if (options.output_path == nullptr) throw Error(ErrorKind::usage, "output_path is not set");
  if (options.reserved[0] != 0 || options.reserved[1] != 0)
    throw Error(ErrorKind::usage, "reserved is 0 in this version of libkorch; it is older than the program");
  if (options.shape_count > 0 && options.shapes == nullptr)
    throw Error(ErrorKind::usage, "shapes is not set");
  if (options.least_shape_count > 0 && options.least_shapes == nullptr)
    throw Error(ErrorKind::usage, "least_shapes is not set");
  if (options.option_count > 0 && options.options == nullptr)
    throw Error(ErrorKind::usage, "options is not set");
}

// What the compiler printed when it failed, as an Error.
[[noreturn]] void fail(const CompilerEnd& end) {
  const std::string& messages = end.messages;
  constexpr std::string_view kOwn = "korch: ", kLoader = "error while loading shared libraries: ";
  if (const size_t at = messages.find(kLoader); at != std::string::npos) {
    const size_t name = at + kLoader.size();
    throw Error(ErrorKind::io, fmt::format("korch's compiler needs {}, which this machine lacks",
                                           messages.substr(name, messages.find(':', name) - name)));
  }
  // Libraries may print before it; the program's own message is last and may have several lines.
  const size_t own = messages.find(kOwn);
  std::string text = own == std::string::npos ? messages : messages.substr(own + kOwn.size());
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (end.code < 0)
    throw Error(ErrorKind::internal, fmt::format("the compiler died of signal {}: {}", -end.code, text));
  for (const ErrorKind kind :
       {ErrorKind::usage, ErrorKind::invalid, ErrorKind::unsupported, ErrorKind::accuracy,
        ErrorKind::resource, ErrorKind::io, ErrorKind::interrupted})
    if (end.code == static_cast<int>(kind)) throw Error(kind, text);
  throw Error(ErrorKind::internal,
              text.empty() ? fmt::format("the compiler ended with code {} and no answer", end.code) : text);
}

void compile(const korch_compile_options& options) {
  check(options);
  std::optional<TempDir> folder;
  std::string model = text_or(options.model_path, "");
  if (options.model_bytes != nullptr) {
    folder.emplace();
    model = folder->path() + "/model.onnx";
    write_file(model, {static_cast<const char*>(options.model_bytes), options.model_size_bytes});
  }
  const std::string program = options.program != nullptr ? options.program : installed_program();
  std::optional<Json> result;
  bool is_wanted = true;
  try {
    const std::string request = line_of(request_of(options, model));
    const CompilerEnd end = converse(program, request, [&](const std::string& line) {
      const Json event = Json::parse(line);
      if (!event.contains("progress")) {
        result = event.at("result");
        return true;
      }
      const Json& at = event.at("progress");
      if (options.progress != nullptr)
        is_wanted = options.progress(options.user, at.at(0).get<std::string>().c_str(),
                                     at.at(1).get<int64_t>(), at.at(2).get<int64_t>()) == 0;
      return is_wanted;
    });
    if (!is_wanted) throw Error(ErrorKind::interrupted, "interrupted");
    if (!result) fail(end);
    for (const Json& warning : result->at("warnings"))
      if (options.warn != nullptr) options.warn(options.user, warning.get<std::string>().c_str());
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::internal,
                fmt::format("'{}' and libkorch do not understand each other: {}", program, error.what()));
  }
}

}  // namespace
}  // namespace korch

extern "C" korch_error korch_compile(const korch_compile_options* options, char* message,
                                     size_t message_bytes) {
  return korch::guarded([&] { korch::compile(korch::read_options(options)); }, message, message_bytes);
}
