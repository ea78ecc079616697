// The two functions that ONNX Runtime looks up in the library, and the factory that it makes providers with.
#include <korch/korch.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <memory>

#include "korch/base/error.h"
#include "provider.h"

namespace korch::ort {
namespace {

constexpr const char* kContextOption = "ep.context_enable";  // a session that is to write compiled models

class Factory : public OrtEpFactory {
 public:
  explicit Factory(const Api& api) : OrtEpFactory{}, api_(api) {
    ort_version_supported = kApiVersion;
    GetName = [](const OrtEpFactory*) noexcept { return kProviderName; };
    GetVendor = [](const OrtEpFactory*) noexcept { return "korch"; };
    GetVendorId = [](const OrtEpFactory*) noexcept { return uint32_t{0}; };
    GetVersion = [](const OrtEpFactory*) noexcept { return KORCH_VERSION; };
    GetSupportedDevices = [](OrtEpFactory* self, const OrtHardwareDevice* const* devices, size_t count,
                             OrtEpDevice** made, size_t most, size_t* made_count) noexcept {
      auto* factory = static_cast<Factory*>(self);
      *made_count = 0;
      return guarded(factory->api_, [&] { factory->add_devices(devices, count, made, most, made_count); });
    };
    CreateEp = [](OrtEpFactory* self, const OrtHardwareDevice* const*, const OrtKeyValuePairs* const*, size_t,
                  const OrtSessionOptions* session, const OrtLogger* logger, OrtEp** ep) noexcept {
      auto* factory = static_cast<Factory*>(self);
      *ep = nullptr;
      return guarded(factory->api_,
                     [&] { *ep = new Provider(factory->api_, logger, factory->read_options(session)); });
    };
    ReleaseEp = [](OrtEpFactory*, OrtEp* ep) noexcept { delete static_cast<Provider*>(ep); };
    // Tensors are in the memory of ONNX Runtime's CPU provider.
    CreateAllocator = [](OrtEpFactory*, const OrtMemoryInfo*, const OrtKeyValuePairs*,
                         OrtAllocator** allocator) noexcept {
      *allocator = nullptr;
      return static_cast<OrtStatus*>(nullptr);
    };
    ReleaseAllocator = [](OrtEpFactory*, OrtAllocator*) noexcept {};
    CreateDataTransfer = [](OrtEpFactory*, OrtDataTransferImpl** transfer) noexcept {
      *transfer = nullptr;
      return static_cast<OrtStatus*>(nullptr);
    };
    IsStreamAware = [](const OrtEpFactory*) noexcept { return false; };
  }

 private:
  void add_devices(const OrtHardwareDevice* const* devices, size_t count, OrtEpDevice** made, size_t most,
                   size_t* made_count) {
    for (size_t i = 0; i < count && *made_count < most; ++i) {
      if (api_.ort->HardwareDevice_Type(devices[i]) != OrtHardwareDeviceType_CPU) continue;
      check(api_, api_.ep->CreateEpDevice(this, devices[i], nullptr, nullptr, &made[*made_count]));
      ++*made_count;
    }
  }

  // ONNX Runtime keeps a provider's options with the session's, behind a prefix in lower case.
  Options read_options(const OrtSessionOptions* session) const {
    std::string prefix = std::string("ep.") + kProviderName + ".";
    std::transform(prefix.begin(), prefix.end(), prefix.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    OrtKeyValuePairs* pairs = nullptr;
    check(api_, api_.ort->GetSessionOptionsConfigEntries(session, &pairs));
    const std::unique_ptr<OrtKeyValuePairs, decltype(api_.ort->ReleaseKeyValuePairs)> owner(
        pairs, api_.ort->ReleaseKeyValuePairs);
    const char* const* keys = nullptr;
    const char* const* values = nullptr;
    size_t count = 0;
    api_.ort->GetKeyValuePairs(pairs, &keys, &values, &count);
    std::map<std::string, std::string> given;
    for (size_t i = 0; i < count; ++i) {
      const std::string key = keys[i], value = values[i];
      if (key == kContextOption && value == "1")
        throw Error(ErrorKind::unsupported, "compiled models (" + key +
                                                ") are not written; the option "
                                                "`cache` keeps executables");
      if (key.starts_with(prefix)) given[key.substr(prefix.size())] = value;
    }
    return parse_options(given);
  }

  const Api api_;
};

// Before 1.24.4, subgraphs of one model that are in different branches of an If got the same name, and the
// session failed.
bool is_too_old(const std::string& version) {
  int numbers[3] = {};
  std::sscanf(version.c_str(), "%d.%d.%d", &numbers[0], &numbers[1], &numbers[2]);
  constexpr int kOldest[3] = {1, 24, 4};
  return std::lexicographical_compare(numbers, numbers + 3, kOldest, kOldest + 3);
}

}  // namespace
}  // namespace korch::ort

extern "C" {

__attribute__((visibility("default"))) OrtStatus* CreateEpFactories(const char*, const OrtApiBase* base,
                                                                    const OrtLogger*,
                                                                    OrtEpFactory** factories, size_t most,
                                                                    size_t* count) noexcept {
  using namespace korch;
  *count = 0;
  const OrtApi* ort = base->GetApi(ort::kApiVersion);
  const std::string version = base->GetVersionString();
  if (ort == nullptr || ort::is_too_old(version)) {
    const std::string text = "korch: needs ONNX Runtime 1.24.4 or later, and this is " + version;
    return base->GetApi(1)->CreateStatus(ORT_FAIL, text.c_str());
  }
  const ort::Api api{ort, ort->GetEpApi()};
  return ort::guarded(api, [&] {
    if (most < 1) throw Error(ErrorKind::internal, "no room for a factory");
    factories[0] = new ort::Factory(api);
    *count = 1;
  });
}

__attribute__((visibility("default"))) OrtStatus* ReleaseEpFactory(OrtEpFactory* factory) noexcept {
  delete static_cast<korch::ort::Factory*>(factory);
  return nullptr;
}

}  // extern "C"
