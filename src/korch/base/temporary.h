// Files and folders that must not outlive the process. The registry knows all that are alive, so that a
// process that cannot unwind (a second Ctrl-C, a library that does not return) can still remove them.
#pragma once

#include <string>

namespace korch {

enum class TemporaryKind { file, folder };

// Makes `prefix` + ".XXXXXX" with the X replaced and returns its name; empty with errno set when it cannot be
// made. A folder is locked (flock) while its process lives.
std::string make_temporary(const std::string& prefix, TemporaryKind kind);

// Removes it with its content. Nothing happens when it is gone already (a file that was renamed into place).
void remove_temporary(const std::string& path);

// Removes folders that make_temporary made for this prefix in processes of this user that were killed: older
// than a minute, and locked by nobody. Links are not followed; what cannot be removed stays.
void remove_dead_temporaries(const std::string& prefix);

// Removes all that are alive; from then on none can be made: who tries waits for ever. For the end of the
// process.
void remove_all_temporaries_for_good();

}  // namespace korch
