#include "korch/report/report.h"

#include <algorithm>
#include <numeric>

#include "korch/base/deflate.h"
#include "korch/base/error.h"
#include "korch/base/json.h"
#include "korch/report/embedded.h"

namespace korch {
namespace {

using Json = nlohmann::ordered_json;

// Of sources, deflated: with the libraries and a plan of 1,000 kernels a page stays below 3 MB.
constexpr size_t kMostSourceBytes = 1400 << 10;

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);  // names from a model may not be UTF-8
}

std::string base64(std::string_view bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < count ? static_cast<uint8_t>(bytes[i + k]) : uint8_t{0});
    for (size_t k = 0; k < 4; ++k) text += k <= count ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

// The kernels by the time of their steps, most expensive first.
std::vector<size_t> kernels_by_time(const Plan& plan) {
  std::vector<double> us(plan.kernels.size(), 0);
  for (const PlanStep& step : plan.steps) us[static_cast<size_t>(step.kernel)] += step.predicted_us;
  std::vector<size_t> order(plan.kernels.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return us[a] > us[b]; });
  return order;
}

// `page` with the line {{name}} replaced.
void fill(std::string& page, const std::string& name, std::string_view content) {
  // Nothing that goes in is from a model, but in base64; still, what would end its element is a bug.
  KORCH_ASSERT(
      content.find("</script") == std::string_view::npos && content.find("</style") == std::string_view::npos,
      "the part '" + name + "' would end the element that it stands in");
  const std::string place = "{{" + name + "}}";
  const size_t at = page.find(place);
  KORCH_ASSERT(at != std::string::npos, "the page has no place for '" + name + "'");
  page.replace(at, place.size(), content);
}

}  // namespace

std::string report_sources(const ReportInput& input) {
  const std::vector<size_t> order = kernels_by_time(*input.plan);
  for (size_t kept = input.sources.empty() ? 0 : order.size();; kept = kept * 3 / 4) {
    Json sources = Json::array();
    for (size_t i = 0; i < order.size(); ++i) sources.push_back(nullptr);
    for (size_t i = 0; i < kept; ++i) sources[order[i]] = input.sources.at(order[i]);
    std::string text = dumped(sources);
    if (kept == 0 || deflated(text).size() <= kMostSourceBytes) return text;
  }
}

std::string report_page(const ReportInput& input) {
  std::string page(page_html());
  fill(page, "css", page_css());
  fill(page, "d3", d3_js());
  fill(page, "dagre", dagre_js());
  fill(page, "layout", page_layout_js());
  std::string script;
  for (std::string_view part :
       {page_model_js(), page_tables_js(), page_graph_js(), page_timeline_js(), page_memory_js(),
        page_roofline_js(), page_shares_js(), page_details_js(), page_search_js(), page_main_js()})
    script += part;
  fill(page, "script", script);
  fill(page, "data", base64(deflated(report_data(input))));
  fill(page, "sources", base64(deflated(report_sources(input))));
  return page;
}

}  // namespace korch
