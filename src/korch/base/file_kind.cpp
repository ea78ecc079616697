#include "korch/base/file_kind.h"

#include <algorithm>
#include <cctype>

namespace korch {
namespace {

using namespace std::string_view_literals;

struct FileKind {
  size_t offset;  // of `mark`
  std::string_view mark;
  const char* text;
};

constexpr FileKind kKinds[] = {
    {0, "version https://git-lfs"sv, "it is a Git LFS pointer: git lfs pull gets the file itself"},
    {0,
     "\x7f"
     "ELF"sv,
     "it is a program or a shared library"},
    {0, "PK\3\4"sv, "it is a zip archive, as those that PyTorch saves: torch.onnx.export writes ONNX"},
    {0, "\x80\2"sv, "it is a Python pickle, as those that PyTorch saved: torch.onnx.export writes ONNX"},
    {4, "TFL3"sv, "it is a TensorFlow Lite model: tf2onnx converts it"},
    {4, "ORTM"sv, "it is a model in ONNX Runtime's own format: give the .onnx file that it was made of"},
    {0, "\x89HDF"sv, "it is an HDF5 file, as Keras saves: tf2onnx converts such models"},
    {8, "{\"__metadata__\""sv, "it holds weights alone (safetensors), and no network"},
    {0, "\x1f\x8b"sv, "it is compressed: gunzip unpacks it"},
};

bool is_html(std::string_view bytes) {
  std::string head(bytes.substr(0, 64));
  std::transform(head.begin(), head.end(), head.begin(), [](unsigned char c) { return std::tolower(c); });
  head.erase(0, head.find_first_not_of(" \t\r\n"));
  return head.starts_with("<!doctype html") || head.starts_with("<html");
}

}  // namespace

std::string kind_of_file(std::string_view bytes) {
  if (bytes.empty()) return "it is empty";
  for (const FileKind& kind : kKinds)
    if (bytes.size() >= kind.offset && bytes.substr(kind.offset).starts_with(kind.mark)) return kind.text;
  return is_html(bytes) ? "it is a web page: the download went wrong" : "";
}

}  // namespace korch
