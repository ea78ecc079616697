// A compiler for GPUs that makes nothing: for tests that run kernels on the emulator alone, where NVRTC would
// take most of the time.
#include <cstddef>
#include <cstring>

namespace {

constexpr char kImage[] = "no machine code";

}  // namespace

extern "C" {

int nvrtcVersion(int* major, int* minor) {
  *major = 12;
  *minor = 9;
  return 0;
}
int nvrtcCreateProgram(void** program, const char*, const char*, int, const char* const*,
                       const char* const*) {
  *program = nullptr;
  return 0;
}
int nvrtcCompileProgram(void*, int, const char* const*) {
  return 0;
}
int nvrtcDestroyProgram(void**) {
  return 0;
}
int nvrtcGetProgramLogSize(void*, size_t* size) {
  *size = 1;
  return 0;
}
int nvrtcGetProgramLog(void*, char* log) {
  *log = 0;
  return 0;
}
int nvrtcGetCUBINSize(void*, size_t* size) {
  *size = sizeof kImage;
  return 0;
}
int nvrtcGetCUBIN(void*, char* image) {
  std::memcpy(image, kImage, sizeof kImage);
  return 0;
}

}  // extern "C"
