#include "korch/base/deflate.h"

#include <zlib.h>

#include <new>

#include "korch/base/error.h"

namespace korch {
namespace {

const Bytef* data_of(std::string_view bytes) {
  return reinterpret_cast<const Bytef*>(bytes.data());
}

}  // namespace

std::string deflated(std::string_view bytes) {
  uLongf size = compressBound(bytes.size());
  std::string result(size, '\0');
  const int status = compress2(reinterpret_cast<Bytef*>(result.data()), &size, data_of(bytes), bytes.size(),
                               Z_BEST_COMPRESSION);
  if (status == Z_MEM_ERROR) throw std::bad_alloc();
  KORCH_ASSERT(status == Z_OK, "compressBound is enough room");
  result.resize(size);
  return result;
}

std::string inflated(std::string_view bytes, size_t size_bytes) {
  std::string result(size_bytes, '\0');
  uLongf size = size_bytes;
  const int status = uncompress(reinterpret_cast<Bytef*>(result.data()), &size, data_of(bytes), bytes.size());
  if (status == Z_MEM_ERROR) throw std::bad_alloc();
  if (status != Z_OK || size != size_bytes) throw Error(ErrorKind::io, "compressed bytes are damaged");
  return result;
}

}  // namespace korch
