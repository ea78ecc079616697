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
  ReportInput looked_at{&small, text, sources, {}};
  looked_at.memory = {400, 1000, {{2, 0, 1, 0, 100}, {4, 1, 2, 50, 100}, {-1, 2, 2, 300, 10}}};
  looked_at.families = {{"loop", {"loops over memory", ""}}};
  ReportInput run{&small, text, sources, {50, 40, 10}, {{0, 0, 0, 50}, {1, 1, 55, 90}}};
  ReportInput many{&large, text, long_sources(large), {}};
  many.memory.arena_bytes = 3 * 8192;
  for (int s = 0; s < 999; ++s) many.memory.buffers.push_back({1 + s, s, s + 1, s % 2 * 8192, 8192});
  write_file(folder + "/small.html", report_page(looked_at));
  write_file(folder + "/run.html", report_page(run));
  write_file(folder + "/large.html", report_page(many));
  return 0;
}
