// A limit on this process' memory, so that what does not fit ends in an error and not in the system killing a
// process.
#pragma once

namespace korch {

// From now on allocations beyond what the machine (or the control group) has available fail.
void limit_memory_to_available();

}  // namespace korch
