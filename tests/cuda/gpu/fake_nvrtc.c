/* NVRTC as a test plays it. It refuses a kernel whose text has what KORCH_FAKE_NVRTC_REFUSES says; of others
 * it makes bytes that no GPU takes, which an emulated one does not read. KORCH_FAKE_NVRTC_VERSION: its minor
 * version of 12. */
#include <stdlib.h>
#include <string.h>

static const char kLog[] = "kernel.cu(1): error: refused by the test";
static const char kCode[] = "no machine code";

int nvrtcVersion(int* major, int* minor) {
  const char* version = getenv("KORCH_FAKE_NVRTC_VERSION");
  *major = 12;
  *minor = version == NULL ? 9 : atoi(version);
  return 0;
}
int nvrtcCreateProgram(void** program, const char* source, const char* name, int headers,
                       const char* const* texts, const char* const* names) {
  (void)name, (void)headers, (void)texts, (void)names;
  *program = strdup(source);
  return *program == NULL;
}
int nvrtcCompileProgram(void* program, int count, const char* const* options) {
  const char* refused = getenv("KORCH_FAKE_NVRTC_REFUSES");
  (void)count, (void)options;
  return refused != NULL && strstr(program, refused) != NULL ? 6 : 0;
}
int nvrtcDestroyProgram(void** program) {
  free(*program);
  *program = NULL;
  return 0;
}
int nvrtcGetProgramLogSize(void* program, size_t* size) {
  (void)program;
  *size = sizeof kLog;
  return 0;
}
int nvrtcGetProgramLog(void* program, char* log) {
  (void)program;
  memcpy(log, kLog, sizeof kLog);
  return 0;
}
int nvrtcGetCUBINSize(void* program, size_t* size) {
  (void)program;
  *size = sizeof kCode;
  return 0;
}
int nvrtcGetCUBIN(void* program, char* code) {
  (void)program;
  memcpy(code, kCode, sizeof kCode);
  return 0;
}
