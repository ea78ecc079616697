"""The report page in a headless Chromium: browser_test.py REPORT_PAGES. Exit code 77: there is no browser."""
import os
import subprocess
import sys
import tempfile

from browser import Page, find_browser

HOSTILE = "document.title='broken in'"


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def expect_quiet(page):
    expect(page.problems == [], f"the console and the network stay quiet, but: {page.problems}")


def expect_safe(page):
    expect(page.ask("document.title").endswith("korch report"), "no script of the model ran")
    expect(page.ask("document.querySelectorAll('img').length") == 0, "no element of the model's stands in the page")


def look_at_the_graph(page):
    expect(page.ask("document.querySelectorAll('#graph .box').length") == 3, "a box per kernel")
    expect(page.ask("document.querySelectorAll('#graph .edge').length") == 4, "an edge per tensor between them")
    expect(page.ask("document.querySelectorAll('#graph .primitive').length") == 4, "primitives inside")
    text = page.ask("document.querySelectorAll('#graph .edge')[2].textContent")
    expect("f32[1x8x16x16]" in text and "8.19 kB" in text and " rm " in text, f"type, layout and bytes: {text}")
    apart = page.ask("""[...document.querySelectorAll('#graph .box')].every((a, i, all) => all.every((b, j) => {
      const p = a.getBoundingClientRect(), q = b.getBoundingClientRect();
      return i === j || p.right <= q.left || q.right <= p.left || p.bottom <= q.top || q.bottom <= p.top;
    }))""")
    expect(apart, "boxes do not overlap")


def click_a_kernel(page):
    expect(page.ask("document.getElementById('details').hidden"), "no details before a click")
    page.click("#graph .box[data-step='1'] .box-title")
    page.wait_for("!document.getElementById('details').hidden && document.querySelector('.source pre')")
    text = page.ask("document.getElementById('details').textContent")
    for part in ("#1 Relu + Add", "%c = Add(%a, %a)", "× 1.50", "loop() rm->rm <i>", "/add<b>", "also in #0",
                 "a < b && \"</script>\""):
        expect(part in text, f"details tell {part!r}: {text}")
    expect(page.ask("location.hash") == "#1", "the address leads to the step")
    page.click("#details .close")
    expect(page.ask("document.getElementById('details').hidden"), "closed again")


def search(page, what, expected_step):
    page.ask(f"document.getElementById('search').value = '{what}'; "
             "document.getElementById('search').dispatchEvent(new Event('input')); 0")
    expect(page.ask("document.querySelectorAll('#found li:not(.none)').length") > 0, f"{what} is found")
    page.click("#found li")
    shown = page.ask("document.querySelector('#details h2').textContent")
    expect(shown.startswith(f"#{expected_step} "), f"{what} is in #{expected_step}, shown is {shown}")
    expect(page.ask(f"document.querySelector('#graph [data-step=\"{expected_step}\"]').classList.contains('found')"),
           "the kernel is marked")


def look_at_every_view(page):
    for view in ("timeline", "memory", "roofline", "shares", "words", "graph"):
        page.click(f"#tabs [data-view='{view}']")
        expect(not page.ask(f"document.getElementById('{view}').hidden"), f"{view} is shown")
        overflow = page.ask("document.documentElement.scrollWidth - innerWidth")
        expect(overflow <= 0, f"{view} is {overflow} pixels too wide")


def count(page, selector):
    return page.ask(f"document.querySelectorAll({selector!r}).length")


def press(page, key):
    for kind in ("keyDown", "keyUp"):
        page.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, text="\r" if key == "Enter" else "",
                  windowsVirtualKeyCode=13 if key == "Enter" else 0)


def column(page, table, number):
    return page.ask(f"[...document.querySelectorAll('{table} tbody tr')].map((row) => row.children[{number}].textContent)")


def sorted_by(page, table):
    return page.ask(f"[...document.querySelectorAll('{table} th')].map((head) => head.getAttribute('aria-sort'))")


def sort_tables(page):
    page.click("#tabs [data-view='timeline']")
    expect(column(page, ".steps", 0) == ["#0", "#1", "#2"], "steps in their order")
    expect(sorted_by(page, ".steps") == ["ascending"] + 8 * [None], "the head says so")
    page.click(".steps th:nth-child(2) button")
    expect(column(page, ".steps", 1) == ["60 µs", "30 µs", "10 µs"], "the longest first")
    page.click(".steps th:nth-child(7) button")
    expect(column(page, ".steps", 0) == ["#0", "#1", "#2"], "texts from A to Z")
    page.ask("document.querySelector('.steps th:nth-child(2) button').focus(); 0")
    press(page, "Enter")
    press(page, "Enter")
    expect(column(page, ".steps", 1) == ["10 µs", "30 µs", "60 µs"], "the other way round, by the keyboard")
    expect(sorted_by(page, ".steps") == [None, "ascending"] + 7 * [None], "one head alone says so")
    page.click("#tabs [data-view='shares']")
    page.click("#shares .shares th:nth-child(1) button")
    names = column(page, "#shares .shares", 0)
    expect([name[0] for name in names[:4]] == ["(", "/", "/", "…"], f"nodes by name: {names}")
    expect(names[4:] == ["Conv", "Relu", "Add", "reorder"], f"operators still by time: {names}")


def read_explanations(page):
    page.click("#tabs [data-view='graph']")
    page.click("#graph .box[data-step='1'] .box-title")
    # The details have moved the graph: a browser tells boxes some frames later that the pointer left them, and that
    # closes a tip.
    page.point_at(1, 1)
    told = []
    for number in range(page.ask("document.querySelectorAll('#details dd .explained').length")):
        page.ask(f"document.querySelectorAll('#details dd .explained')[{number}].focus(); 0")
        expect(not page.ask("document.getElementById('tip').hidden"), "the keyboard gets the tip, too")
        told.append(page.ask("document.getElementById('tip').textContent"))
    expect(len(told) == 3 and told[0] == "loop()loops over memory", f"family and layouts are explained: {told}")
    expect("row-major" in told[1], f"a layout in words: {told[1]}")
    press(page, "Escape")
    expect(page.ask("document.getElementById('tip').hidden"), "Escape closes it")


def look_at_memory(page):
    page.click("#tabs [data-view='memory']")
    expect(count(page, "#memory .buffer") == 3, "a box per buffer")
    expect(count(page, "#memory .live") == 3, "a bar per step")
    expect(page.ask("document.querySelector('#memory .live.peak').dataset.step") == "1", "the peak is marked")
    expect("150 B of its 400 B" in page.ask("document.querySelector('#memory .note').textContent"), "and told")
    heights = page.ask("[...document.querySelectorAll('#memory .live')].map((bar) => +bar.getAttribute('height'))")
    expect(abs(heights[0] / heights[1] - 100 / 150) < 1e-3, f"bars are as high as bytes are many: {heights}")
    expect(column(page, ".buffers", 1) == ["100 B", "100 B", "10 B"], "the largest first")


def look_from_afar(page):
    page.click("#tabs [data-view='graph']")
    for _ in range(6):
        page.click("[data-zoom='out']")
        page.wait_for("!document.querySelector('#graph svg').__transition")
    expect(page.ask("getComputedStyle(document.querySelector('.far-marks')).display") != "none", "marks from afar")
    areas = page.ask("""Object.fromEntries([...document.querySelectorAll('.far-mark')].map((mark) =>
      [mark.dataset.step, mark.getAttribute('width') * mark.getAttribute('height')]))""")
    expect(abs(areas["0"] / areas["1"] - 2) < 1e-3 and abs(areas["1"] / areas["2"] - 3) < 1e-3,
           f"areas are in proportion to 60, 30 and 10 us: {areas}")


def small(browser, folder):
    with Page(browser, 1280, 800) as page:
        page.open(f"{folder}/small.html")
        look_at_the_graph(page)
        click_a_kernel(page)
        search(page, "add<b>", 1)
        search(page, "reorder", 2)
        look_at_every_view(page)
        expect(count(page, "#timeline .chart g.step") == 3, "a span per step")
        expect(count(page, "#roofline circle") == 2, "a mark per kernel that computes")
        expect(count(page, "#roofline .roof") == 5, "roofs of three caches, of memory and of arithmetic")
        expect(count(page, "#shares .row") == 4 + 4, "shares of operators and nodes")
        sort_tables(page)
        look_at_memory(page)
        read_explanations(page)
        look_from_afar(page)
        expect(HOSTILE in page.ask("document.querySelector('#words pre').textContent"), "words as they are")
        expect_safe(page)
        expect_quiet(page)


def hidden_while_it_moves(browser, folder):
    with Page(browser, 1280, 800) as page:
        page.open(f"{folder}/small.html")
        search(page, "add<b>", 1)
        page.ask("document.querySelector('#found li').click(); "
                 "document.querySelector(\"#tabs [data-view='words']\").click(); 0")
        page.wait_for("!document.querySelector('#graph svg').__transition")
        expect_quiet(page)


def after_a_run(browser, folder):
    with Page(browser, 1280, 800) as page:
        page.open(f"{folder}/run.html")
        page.click("#tabs [data-view='timeline']")
        expect(count(page, "#timeline .chart g.step") == 8, "a lane of the run, one of the kernels alone, two of workers")
        expect("gaps where it waited" in page.ask("document.getElementById('timeline').textContent"),
               "waits are named by what they look like in light and dark")
        expect(count(page, "#memory .buffer") == 0, "nothing of a memory that is not known")
        expect("measured while the whole plan ran" in page.ask("document.getElementById('timeline').textContent"),
               "the time line tells what was measured")
        expect_quiet(page)


def phone_and_dark(browser, folder):
    colours = []
    for dark in (False, True):
        with Page(browser, 360, 640, phone=True, dark=dark) as page:
            page.open(f"{folder}/small.html")
            look_at_every_view(page)
            search(page, "add<b>", 1)
            title = page.ask("document.getElementById('theme').title")
            page.click("#theme")
            page.click("#theme")
            expect(page.ask("document.getElementById('theme').title") != title, f"the button says what it does: {title}")
            page.click("#theme")
            colours.append(page.ask("getComputedStyle(document.body).backgroundColor"))
            expect_quiet(page)
    expect(colours[0] != colours[1], f"dark is another colour than light: {colours}")


def a_thousand_kernels(browser, folder):
    with Page(browser, 1280, 800) as page:
        page.open(f"{folder}/large.html")
        expect(count(page, "#graph .box") == 1000, "all kernels")
        expect(count(page, "#graph .edge") == 1000 + 62 + 1, "all edges")
        search(page, "layer777/relu", 777)
        look_at_every_view(page)
        expect(count(page, "#timeline tbody tr") == 1000, "all rows")
        page.click("#tabs [data-view='memory']")
        expect(count(page, "#memory .buffer") == 999, "all buffers")
        expect(count(page, "#memory tbody tr") == 50, "the largest ones' rows")
        page.click("#memory .more")
        expect(count(page, "#memory tbody tr") == 999, "all rows, if wanted")
        expect_quiet(page)


def main():
    browser = find_browser()
    if browser is None:
        print("skipped: no Chromium here (Debian's package chromium-headless-shell, which scripts/install-deps installs)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([os.path.abspath(sys.argv[1]), folder], check=True)
        for look in (small, hidden_while_it_moves, after_a_run, phone_and_dark, a_thousand_kernels):
            look(browser, folder)
            print(f"{look.__name__}: as it should be")
    return 0


sys.exit(main())
