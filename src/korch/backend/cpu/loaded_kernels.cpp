#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/Support/MemoryBuffer.h>

#include <utility>

#include "korch/backend/cpu/compiler.h"
#include "korch/backend/cpu/foreign_error.h"
#include "korch/base/interrupt.h"
#include "korch/base/shortage.h"

namespace korch {
namespace {

// An Error of LLVM here means that the host itself is unusable (no memory to map, no dynamic loader).
template <typename T>
T must(llvm::Expected<T> value, const char* what) {
  if (value) return std::move(*value);
  throw_load_error(std::string(what) + ": " + llvm::toString(value.takeError()));
}

[[noreturn]] void end_out_of_memory() {
  end_at_once(ErrorKind::resource, "out of memory while loading a kernel");
}

}  // namespace

struct LoadedKernels::State {
  State()
      : session(must(llvm::orc::SelfExecutorProcessControl::Create(), "executor process control")),
        layer(session, session.getExecutorProcessControl().getMemMgr()),
        process_symbols(session.createBareJITDylib("process")) {
    session.setErrorReporter([this](llvm::Error error) {
      llvm::handleAllErrors(std::move(error), [this](const llvm::ErrorInfoBase& part) {
        if (part.convertToErrorCode() == std::errc::not_enough_memory) end_out_of_memory();
        reported += part.message() + "\n";
      });
    });
    process_symbols.addGenerator(
        must(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(/*GlobalPrefix=*/'\0'), "dlsym"));
  }
  ~State() { llvm::cantFail(session.endSession()); }

  llvm::orc::ExecutionSession session;
  llvm::orc::ObjectLinkingLayer layer;
  llvm::orc::JITDylib& process_symbols;
  std::string reported;  // what the session says besides the errors it returns
  int count = 0;
};

LoadedKernels::LoadedKernels() {
  const EndOnShortage scope;
  state_ = new State;
}
LoadedKernels::~LoadedKernels() {
  const EndOnShortage scope;
  delete state_;
}

Result<std::vector<void*>> LoadedKernels::load(const std::string& object,
                                               const std::vector<std::string>& symbols) {
  const EndOnShortage scope;
  namespace orc = llvm::orc;
  auto refused = [this](llvm::Error error) {
    const std::string reported = std::exchange(state_->reported, {});
    return Refusal{RefusalReason::compile_failed,
                   "cannot load object: " + llvm::toString(std::move(error)) + reported};
  };
  const std::string name = "kernel" + std::to_string(state_->count++);
  orc::JITDylib& library = state_->session.createBareJITDylib(name);
  library.addToLinkOrder(state_->process_symbols);
  std::unique_ptr<llvm::MemoryBuffer> copy = llvm::MemoryBuffer::getMemBufferCopy(object, name);
  if (copy == nullptr) end_out_of_memory();
  if (llvm::Error error = state_->layer.add(library, std::move(copy))) return refused(std::move(error));
  std::vector<void*> addresses;
  for (const std::string& symbol : symbols) {
    auto found = state_->session.lookup({&library}, state_->session.intern(symbol));
    if (!found) return refused(found.takeError());
    addresses.push_back(found->getAddress().toPtr<void*>());
  }
  return addresses;
}

}  // namespace korch
