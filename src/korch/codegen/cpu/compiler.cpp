#include "korch/codegen/cpu/compiler.h"

#include <clang/Basic/DiagnosticOptions.h>
#include <clang/Basic/Version.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <llvm/Support/raw_ostream.h>

#include <memory>

namespace korch {
namespace {

constexpr const char* kSourceName = "kernel.cpp";

void initialize_llvm() {
  static const bool done = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
    return true;
  }();
  (void)done;
}

// Front-end (cc1) arguments: what the driver makes of -O1 -fPIC -fno-exceptions -fno-rtti, without asking the
// machine where its headers are. Loops are spelled with explicit vectors, so the vectorizers stay off (as -O1
// has them).
std::vector<const char*> front_end_arguments(Isa isa) {
  return {"-triple",
          "x86_64-unknown-linux-gnu",
          "-emit-obj",
          "-target-cpu",
          name(isa),
          "-O1",
          "-std=c++20",
          "-mprefer-vector-width=512",
          "-ffp-contract=fast",
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
}

}  // namespace

Result<std::string> compile_object(const std::string& source, Isa isa) {
  initialize_llvm();
  std::string messages;
  llvm::raw_string_ostream message_stream(messages);
  llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> options(new clang::DiagnosticOptions);
  clang::TextDiagnosticPrinter printer(message_stream, options.get());

  clang::CompilerInstance compiler;
  compiler.createDiagnostics(&printer, /*ShouldOwnClient=*/false);
  if (!clang::CompilerInvocation::CreateFromArgs(compiler.getInvocation(), front_end_arguments(isa),
                                                 compiler.getDiagnostics()))
    return Refusal{RefusalReason::compile_failed, messages};
  compiler.setVerboseOutputStream(message_stream);
  // Nothing is read from disk: the source is a buffer, and the file system is an empty one in memory.
  compiler.createFileManager(llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>());
  compiler.getFrontendOpts().Inputs = {clang::FrontendInputFile(llvm::MemoryBufferRef(source, kSourceName),
                                                                clang::InputKind(clang::Language::CXX))};
  llvm::SmallString<0> object;
  compiler.setOutputStream(std::make_unique<llvm::raw_svector_ostream>(object));
  clang::EmitObjAction action;
  if (!compiler.ExecuteAction(action)) return Refusal{RefusalReason::compile_failed, messages};
  return std::string(object.str());
}

std::string compiler_version() {
  std::string text = clang::getClangFullVersion();
  for (const char* argument : front_end_arguments(Isa::portable)) text += std::string(" ") + argument;
  return text;
}

}  // namespace korch
