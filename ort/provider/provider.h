// Provider: the execution provider of one session.
#pragma once

#include <memory>

#include "api.h"
#include "compute.h"
#include "executables.h"

namespace korch::ort {

inline constexpr const char* kProviderName = "KorchExecutionProvider";

class Provider : public OrtEp {
 public:
  Provider(const Api& api, const OrtLogger* logger, const Options& options);

 private:
  void get_capability(const OrtGraph* graph, OrtEpGraphSupportInfo* support);
  std::unique_ptr<class Compute> compile(const OrtGraph* graph, const OrtNode* fused);

  const Api api_;
  const Logger logger_;
  Executables executables_;
};

}  // namespace korch::ort
