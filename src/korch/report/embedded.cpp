#include "korch/report/embedded.h"

#include "korch/base/embed.h"

KORCH_EMBED(page_html, KORCH_PAGE_FOLDER "/page.html")
KORCH_EMBED(page_css, KORCH_PAGE_FOLDER "/page.css")
KORCH_EMBED(page_model_js, KORCH_PAGE_FOLDER "/model.js")
KORCH_EMBED(page_layout_js, KORCH_PAGE_FOLDER "/layout.js")
KORCH_EMBED(page_graph_js, KORCH_PAGE_FOLDER "/graph.js")
KORCH_EMBED(page_timeline_js, KORCH_PAGE_FOLDER "/timeline.js")
KORCH_EMBED(page_tables_js, KORCH_PAGE_FOLDER "/tables.js")
KORCH_EMBED(page_memory_js, KORCH_PAGE_FOLDER "/memory.js")
KORCH_EMBED(page_roofline_js, KORCH_PAGE_FOLDER "/roofline.js")
KORCH_EMBED(page_shares_js, KORCH_PAGE_FOLDER "/shares.js")
KORCH_EMBED(page_details_js, KORCH_PAGE_FOLDER "/details.js")
KORCH_EMBED(page_search_js, KORCH_PAGE_FOLDER "/search.js")
KORCH_EMBED(page_main_js, KORCH_PAGE_FOLDER "/main.js")
KORCH_EMBED(d3_js, KORCH_LIBRARIES_FOLDER "/d3/usr/share/nodejs/d3/dist/d3.min.js")
KORCH_EMBED(dagre_js, KORCH_LIBRARIES_FOLDER "/dagre/usr/share/nodejs/dagre/dist/dagre.min.js")
