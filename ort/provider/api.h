// ONNX Runtime's functions, and the border to it: its statuses become exceptions here, ours statuses there.
#pragma once

#include <onnxruntime_c_api.h>

#include <string>

namespace korch::ort {

// The oldest version that has all that is used here. Newer headers and newer runtimes keep it.
inline constexpr uint32_t kApiVersion = 24;

struct Api {
  const OrtApi* ort = nullptr;
  const OrtEpApi* ep = nullptr;
};

// Throws Error{internal} with the message of a status, and releases it. Null is success.
void check(const Api& api, OrtStatus* status);

// A status for the exception that is being handled.
OrtStatus* status_of_exception(const Api& api) noexcept;

// What every function does that ONNX Runtime calls.
template <typename F>
OrtStatus* guarded(const Api& api, const F& work) noexcept {
  try {
    work();
    return nullptr;
  } catch (...) {
    return status_of_exception(api);
  }
}

class Logger {
 public:
  Logger(const Api& api, const OrtLogger* logger) : api_(api), logger_(logger) {}
  void inform(const std::string& text) const { log(ORT_LOGGING_LEVEL_INFO, text); }
  void warn(const std::string& text) const { log(ORT_LOGGING_LEVEL_WARNING, text); }

 private:
  void log(OrtLoggingLevel level, const std::string& text) const;
  Api api_;
  const OrtLogger* logger_;  // the session's
};

}  // namespace korch::ort
