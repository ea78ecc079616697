#include "korch/backend/cpu/compiler.h"

#include <clang/Basic/DiagnosticOptions.h>
#include <clang/Basic/Version.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <fmt/format.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <llvm/Support/raw_ostream.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "korch/base/error.h"
#include "korch/base/hash.h"
#include "korch/base/interrupt.h"
#include "korch/base/shortage.h"
#include "korch/codegen/cpu/shared_function.h"
#include "korch/device/device.h"

namespace korch {
namespace {

constexpr const char* kSourceName = "kernel.cpp";

// LLVM does not unwind: where it gives up, the process ends, in order.
[[noreturn]] void on_bad_alloc(void*, const char*, bool) {
  end_at_once(ErrorKind::resource, "out of memory while compiling a kernel");
}
[[noreturn]] void on_fatal_error(void*, const char* reason, bool) {
  end_at_once(ErrorKind::internal, reason);
}

void initialize_llvm() {
  static const bool done = [] {
    llvm::install_bad_alloc_error_handler(on_bad_alloc);
    llvm::install_fatal_error_handler(on_fatal_error);
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
    return true;
  }();
  (void)done;
}

Isa isa_of(const std::string& code) {
  const std::optional<Isa> isa = isa_named(code);
  KORCH_ASSERT(isa.has_value(), "no CPU takes '" + code + "'");
  return *isa;
}

// Of instruction sets beyond those that the compiler has a name for.
struct IsaFeature {
  Isa first;
  const char *of_front_end, *of_driver;
};
constexpr IsaFeature kFeatures[] = {{Isa::x86_64_v4_vnni, "+avx512vnni", " -mavx512vnni"},
                                    {Isa::x86_64_v4_bf16, "+avx512bf16", " -mavx512bf16"},
                                    {Isa::x86_64_v4_amx, "+amx-tile", " -mamx-tile"},
                                    {Isa::x86_64_v4_amx, "+amx-bf16", " -mamx-bf16"},
                                    {Isa::x86_64_v4_amx, "+amx-int8", " -mamx-int8"}};

// Front-end (cc1) arguments: what the driver makes of -O1 -fPIC -fno-exceptions -fno-rtti, without asking the
// machine where its headers are. Loops are spelled with explicit vectors, so the vectorizers stay off (as -O1
// has them).
std::vector<const char*> front_end_arguments(Isa isa) {
  std::vector<const char*> arguments = {"-triple",
                                        "x86_64-unknown-linux-gnu",
                                        "-emit-obj",
                                        "-disable-llvm-verifier",
                                        "-discard-value-names",
                                        "-target-cpu",
                                        name(std::min(isa, Isa::x86_64_v4)),
                                        "-O1",
                                        "-std=c++20",
                                        "-mprefer-vector-width=512",
                                        "-ffp-contract=fast-honor-pragmas",
                                        "-mrelocation-model",
                                        "pic",
                                        "-pic-level",
                                        "2",
                                        "-mframe-pointer=none",
                                        "-fno-rtti",
                                        "-relaxed-aliasing",
                                        "-fno-threadsafe-statics",
                                        "-nostdsysteminc",
                                        "-nobuiltininc",
                                        "-Qn",
                                        "-w",
                                        "-main-file-name",
                                        kSourceName,
                                        "-x",
                                        "c++",
                                        kSourceName};
  for (const IsaFeature& feature : kFeatures)
    if (isa >= feature.first) arguments.insert(arguments.begin(), {"-target-feature", feature.of_front_end});
  return arguments;
}

Result<std::string> compile_text(const std::string& source, Isa isa,
                                 const std::vector<const char*>& more = {}) {
  const EndOnShortage scope;
  initialize_llvm();
  std::string messages;
  llvm::raw_string_ostream message_stream(messages);
  llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> options(new clang::DiagnosticOptions);
  clang::TextDiagnosticPrinter printer(message_stream, options.get());

  clang::CompilerInstance compiler;
  compiler.createDiagnostics(&printer, /*ShouldOwnClient=*/false);
  std::vector<const char*> arguments = front_end_arguments(isa);
  arguments.insert(arguments.begin(), more.begin(), more.end());
  if (!clang::CompilerInvocation::CreateFromArgs(compiler.getInvocation(), arguments,
                                                 compiler.getDiagnostics()))
    return Refusal{RefusalReason::compile_failed, messages};
  compiler.setVerboseOutputStream(message_stream);
  // Nothing is read from disk: the source is the only file of a file system in memory.
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  files->addFile(kSourceName, 0, llvm::MemoryBuffer::getMemBuffer(source, kSourceName));
  compiler.createFileManager(files);
  compiler.getFrontendOpts().Inputs = {
      clang::FrontendInputFile(kSourceName, clang::InputKind(clang::Language::CXX))};
  llvm::SmallString<0> object;
  compiler.setOutputStream(std::make_unique<llvm::raw_svector_ostream>(object));
  clang::EmitObjAction action;
  if (!compiler.ExecuteAction(action)) return Refusal{RefusalReason::compile_failed, messages};
  return std::string(object.str());
}

// Machine code that runs wherever it stands.
struct FunctionCode {
  std::string bytes;
  uint64_t alignment = 1;
};

constexpr const char* kFunctionName = "function";

// Nothing where the code refers to something outside itself.
std::optional<FunctionCode> only_function(const std::string& object) {
  using llvm::object::ObjectFile;
  const std::unique_ptr<ObjectFile> file =
      llvm::cantFail(ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, kFunctionName)));
  std::optional<FunctionCode> code;
  for (const llvm::object::SectionRef& section : file->sections()) {
    if (section.relocation_begin() != section.relocation_end()) return std::nullopt;
    if (section.isText() && section.getSize() > 0)
      code = FunctionCode{llvm::cantFail(section.getContents()).str(), section.getAlignment().value()};
  }
  return code;
}

// What was compiled by itself in this process, by text and instruction set.
class SharedFunctions {
 public:
  // `rest`: from the parameters' parenthesis on. Waits where another thread is compiling the same.
  const std::optional<FunctionCode>& compile(std::string_view rest, Isa isa) {
    const std::string text = fmt::format("extern \"C\" void {}{}", kFunctionName, rest);
    Entry& entry = entry_of(hash_text(name(isa) + text));
    std::call_once(entry.once, [&] {
      if (const Result<std::string> object = compile_text(text, isa))
        entry.code = only_function(object.value());
    });
    return entry.code;
  }

 private:
  struct Entry {
    std::once_flag once;
    std::optional<FunctionCode> code;
  };
  Entry& entry_of(const Hash& key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return entries_[key];  // stays where it is
  }

  std::mutex mutex_;
  std::unordered_map<Hash, Entry, HashHasher> entries_;
};

std::string assembly_of(std::string_view function, const FunctionCode& code) {
  std::string text =
      fmt::format("__asm__(\".balign {}\\n.type {},@function\\n{}:\\n", code.alignment, function, function);
  for (size_t i = 0; i < code.bytes.size(); ++i)
    text += fmt::format("{}{}", i % 32 == 0 ? "\\n.byte " : ",", static_cast<unsigned char>(code.bytes[i]));
  return text + fmt::format("\\n.size {0},.-{0}\\n\");\n", function);
}

// The source with the code of its shared functions instead of their text.
std::string with_code_of_shared_functions(std::string_view source, Isa isa) {
  static SharedFunctions functions;
  std::string result;
  for (;;) {
    const size_t marker = source.find(kSharedFunction);
    if (marker == source.npos) return result.append(source);
    const size_t begin = marker + sizeof kSharedFunction - 1, end = source.find(kEndOfSharedFunction, begin);
    KORCH_ASSERT(end != source.npos, "a shared function that does not end");
    const std::string_view function = source.substr(begin, end - begin);
    const size_t parameters = function.find('(', function.find("void ")),
                 body = function.find('{', parameters);
    KORCH_ASSERT(body != function.npos, "a shared function of another form");
    const size_t name_begin = function.rfind(' ', parameters) + 1;
    const std::string_view name = function.substr(name_begin, parameters - name_begin);
    result.append(source.substr(0, marker));
    if (const auto& code = functions.compile(function.substr(parameters), isa))
      result += fmt::format("{}extern \"C\" __attribute__((visibility(\"hidden\"))) void {}{};\n",
                            assembly_of(name, *code), name, function.substr(parameters, body - parameters));
    else
      result.append(function);
    source.remove_prefix(end + sizeof kEndOfSharedFunction - 1);
  }
}

}  // namespace

Result<std::string> compile_object(const std::string& source, const std::string& code,
                                   const std::vector<const char*>& more) {
  const Isa isa = isa_of(code);
  return compile_text(more.empty() ? with_code_of_shared_functions(source, isa) : source, isa, more);
}

std::string compile_command(const std::string& code) {
  const Isa isa = isa_of(code);
  std::string features;
  for (const IsaFeature& feature : kFeatures)
    if (isa >= feature.first) features += feature.of_driver;
  return fmt::format(
      "clang++-19 -std=c++20 -O1 -march={}{} -mprefer-vector-width=512 -ffp-contract=fast-honor-pragmas "
      "-fno-strict-aliasing "
      "-fno-rtti -fPIC -w -c",
      name(std::min(isa, Isa::x86_64_v4)), features);
}

std::string compiler_version() {
  std::string text = clang::getClangFullVersion();
  for (const char* argument : front_end_arguments(Isa::portable)) text += std::string(" ") + argument;
  return text;
}

}  // namespace korch
