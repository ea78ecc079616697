// The page's parts, and the JavaScript libraries that travel in it, as bytes.
#pragma once

#include <string_view>

namespace korch {

std::string_view page_html();  // with a line {{name}} where each other part goes
std::string_view page_css();
std::string_view page_model_js();
std::string_view page_layout_js();
std::string_view page_graph_js();
std::string_view page_timeline_js();
std::string_view page_tables_js();
std::string_view page_memory_js();
std::string_view page_roofline_js();
std::string_view page_shares_js();
std::string_view page_details_js();
std::string_view page_search_js();
std::string_view page_main_js();
std::string_view d3_js();
std::string_view dagre_js();

}  // namespace korch
