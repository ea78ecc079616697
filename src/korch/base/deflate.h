// Bytes made smaller, in zlib's format (RFC 1950).
#pragma once

#include <string>
#include <string_view>

namespace korch {

// Equal bytes give equal bytes.
std::string deflated(std::string_view bytes);

// The `size_bytes` bytes that `bytes` were made from. Throws Error{io} when they are not.
std::string inflated(std::string_view bytes, size_t size_bytes);

}  // namespace korch
