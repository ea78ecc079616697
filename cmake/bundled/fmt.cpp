// All of fmt, compiled once (with -fkeep-inline-functions: what its library has are inline functions here).
#define FMT_HEADER_ONLY
#include <fmt/format.h>
