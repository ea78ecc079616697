// A few independent jobs on several threads.
#pragma once

#include <cstddef>
#include <functional>

namespace korch {

// Calls job(0) ... job(count - 1), each once, on up to `threads` threads, the caller's among them; on fewer
// where the system has no more. The first exception is thrown when all threads are done; jobs that had not
// begun by then are left out.
void run_in_parallel(size_t count, int threads, const std::function<void(size_t)>& job);

}  // namespace korch
