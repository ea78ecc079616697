// Who may write to a file or a folder: code and other people's words are read only where nobody else can put
// them.
#pragma once

#include <string>

namespace korch {

// Whether it belongs to this user or root, and nobody else can write to it (a folder with the sticky bit
// guards its files); what is not there is.
bool only_ours(const std::string& path);

// Of a folder whose files are code: why others could put some there ("it belongs to user 1000"). "": nobody
// can. What is not there, or is no folder or a link to one, is a reason too.
std::string reason_to_distrust(const std::string& folder);
// Likewise of an open file.
std::string reason_to_distrust(int fd);

}  // namespace korch
