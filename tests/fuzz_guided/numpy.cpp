#include "korch/tensor/npy.h"
#include "korch/tensor/npz.h"
#include "refusal.h"
#include "target.h"

namespace korch::fuzz {

void read_numpy(std::string_view bytes) {
  const MemoryFile file(bytes);
  expect_read_or_refused([&] { read_npy(file.path()); });
  expect_read_or_refused([&] { read_npz(file.path()); });
}

}  // namespace korch::fuzz
