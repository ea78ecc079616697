#include "korch/backend/cpu/link.h"

#include <lld/Common/Driver.h>
#include <llvm/ObjCopy/ConfigManager.h>
#include <llvm/ObjCopy/ObjCopy.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Signals.h>
#include <llvm/Support/raw_ostream.h>

#include <mutex>

#include "korch/backend/cpu/foreign_error.h"
#include "korch/backend/cpu/system_library.h"
#include "korch/base/files.h"
#include "korch/base/interrupt.h"
#include "korch/base/shortage.h"

LLD_HAS_DRIVER(elf)

namespace korch {
std::string with_symbol_prefix(const std::string& object, const std::string& prefix) {
  const EndOnShortage scope;
  const llvm::MemoryBufferRef buffer(object, "kernel.o");
  auto file = llvm::object::ObjectFile::createELFObjectFile(buffer);
  if (!file) throw_link_error("cannot read object: " + llvm::toString(file.takeError()));
  llvm::objcopy::ConfigManager config;
  std::vector<std::string> names;  // the configuration holds references
  for (const llvm::object::SymbolRef& symbol : (*file)->symbols()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    if (!flags || !name) throw_link_error("cannot read symbols of an object");
    using Flag = llvm::object::BasicSymbolRef;
    if ((*flags & Flag::SF_Global) == 0 || (*flags & Flag::SF_Undefined) != 0) continue;
    names.push_back(name->str());
  }
  std::vector<std::string> renamed;
  for (const std::string& name : names) renamed.push_back(prefix + name);
  for (size_t i = 0; i < names.size(); ++i) config.Common.SymbolsToRename[names[i]] = renamed[i];
  std::string result;
  llvm::raw_string_ostream stream(result);
  if (llvm::Error error = llvm::objcopy::executeObjcopyOnBinary(config, **file, stream))
    throw_link_error("cannot rename symbols: " + llvm::toString(std::move(error)));
  stream.flush();
  return result;
}

void link_shared(const LinkRequest& request) {
  std::string script = "{ global:";
  for (const std::string& symbol : request.exported) script += " " + symbol + ";";
  write_file(request.version_script, script + " local: *; };\n");

  std::vector<std::string> arguments = {"ld.lld",
                                        "-shared",
                                        "-m",
                                        "elf_x86_64",
                                        "--build-id=none",
                                        "--hash-style=gnu",
                                        "--eh-frame-hdr",
                                        "--gc-sections",
                                        "-Bsymbolic",
                                        "--as-needed",
                                        "--threads=1",
                                        "-z",
                                        "defs",
                                        "-z",
                                        "now",
                                        "-z",
                                        "noexecstack",
                                        "--version-script=" + request.version_script,
                                        "-o",
                                        request.output};
  for (const std::string& symbol : request.exported) arguments.push_back("--undefined=" + symbol);
  for (const std::string& object : request.objects) arguments.push_back(object);
  for (const std::string& archive : request.archives) arguments.push_back(archive);
  for (const std::string& soname : request.sonames) arguments.push_back(system_library_path(soname));
  std::vector<const char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());

  std::string messages;
  llvm::raw_string_ostream stream(messages);
  static std::mutex mutex;  // the linker keeps its state in globals
  const std::lock_guard<std::mutex> lock(mutex);
  const EndOnShortage scope;
  // LLVM installs its handlers with the first file that it writes, and loses a SIGQUIT: let it do so now.
  llvm::sys::SetInterruptFunction(nullptr);
  keep_interrupt_handler();
  const lld::Result result = lld::lldMain(pointers, stream, stream, {{lld::Gnu, &lld::elf::link}});
  stream.flush();
  if (result.retCode != 0) throw_link_error(messages);
}

}  // namespace korch
