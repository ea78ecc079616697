// report_pages FOLDER: writes the pages that browser_test.py looks at.
#include "korch/base/files.h"
#include "made_plan.h"

int main(int argc, char** argv) {
  using namespace korch;
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  const Plan small = small_plan(), large = long_plan(1000);
  const std::string text = "in words: " + kHostile;
  const std::vector<std::string> sources = {"", "int main() { return a < b && \"</script>\"; }",
                                            "// reorder"};
  write_file(folder + "/small.html", report_page({&small, text, sources, {}}));
  write_file(folder + "/run.html", report_page({&small, text, sources, {50, 40, 10}, {{0, 0, 0, 50}, {1, 1, 55, 90}}}));
  write_file(folder + "/large.html", report_page({&large, text, long_sources(large), {}}));
  return 0;
}
