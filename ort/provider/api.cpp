#include "api.h"

#include <exception>
#include <korch/korch.hpp>
#include <new>

#include "korch/base/error.h"

namespace korch::ort {
namespace {

OrtErrorCode code_of(korch_error error) {
  switch (error) {
    case KORCH_ERROR_USAGE:
      return ORT_INVALID_ARGUMENT;
    case KORCH_ERROR_UNSUPPORTED:
      return ORT_NOT_IMPLEMENTED;
    case KORCH_ERROR_NONE:
    case KORCH_ERROR_INTERNAL:
    case KORCH_ERROR_INVALID:
    case KORCH_ERROR_ACCURACY:
    case KORCH_ERROR_RESOURCE:
    case KORCH_ERROR_IO:
    case KORCH_ERROR_INTERRUPTED:
      return ORT_EP_FAIL;
  }
  return ORT_EP_FAIL;
}

}  // namespace

void check(const Api& api, OrtStatus* status) {
  if (status == nullptr) return;
  const std::string message = api.ort->GetErrorMessage(status);
  api.ort->ReleaseStatus(status);
  throw Error(ErrorKind::internal, "ONNX Runtime: " + message);
}

OrtStatus* status_of_exception(const Api& api) noexcept {
  try {
    throw;
  } catch (const Error& error) {
    const std::string text = std::string("korch: ") + error.what();
    return api.ort->CreateStatus(code_of(static_cast<korch_error>(error.kind())), text.c_str());
  } catch (const Failure& failure) {
    const std::string text = std::string("korch: ") + failure.what();
    return api.ort->CreateStatus(code_of(failure.kind()), text.c_str());
  } catch (const std::bad_alloc&) {
    return api.ort->CreateStatus(ORT_EP_FAIL, "korch: out of memory");
  } catch (const std::exception& error) {
    const std::string text = std::string("korch: ") + error.what();
    return api.ort->CreateStatus(ORT_EP_FAIL, text.c_str());
  } catch (...) {
    return api.ort->CreateStatus(ORT_EP_FAIL, "korch: an exception of unknown type");
  }
}

void Logger::log(OrtLoggingLevel level, const std::string& text) const {
  const std::string line = "korch: " + text;
  OrtStatus* status = api_.ort->Logger_LogMessage(logger_, level, line.c_str(), "korch", 0, "");
  if (status != nullptr) api_.ort->ReleaseStatus(status);  // a line that is lost ends nothing
}

}  // namespace korch::ort
