// What clang and lld refer to and korch leaves out: LLVM's processors but x86, and Polly.
#include <llvm/Config/llvm-config.h>
#include <llvm/Passes/PassPlugin.h>

// Those of x86 are LLVM's own: here they get other names.
#define LLVMInitializeX86TargetInfo korch_x86_target_info
#define LLVMInitializeX86Target korch_x86_target
#define LLVMInitializeX86TargetMC korch_x86_target_mc
#define LLVMInitializeX86AsmPrinter korch_x86_asm_printer
#define LLVMInitializeX86AsmParser korch_x86_asm_parser

#define KORCH_ABSENT(processor, part) \
  extern "C" void LLVMInitialize##processor##part() {}
#define LLVM_TARGET(processor)        \
  KORCH_ABSENT(processor, TargetInfo) \
  KORCH_ABSENT(processor, Target)     \
  KORCH_ABSENT(processor, TargetMC)
#include <llvm/Config/Targets.def>
#define LLVM_ASM_PRINTER(processor) KORCH_ABSENT(processor, AsmPrinter)
#include <llvm/Config/AsmPrinters.def>
#define LLVM_ASM_PARSER(processor) KORCH_ABSENT(processor, AsmParser)
#include <llvm/Config/AsmParsers.def>

llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "Polly", LLVM_VERSION_STRING, [](llvm::PassBuilder&) {}};
}
