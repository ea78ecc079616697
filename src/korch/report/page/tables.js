// Tables that sort: a press on a head sorts by its column, another one the other way round.

// `columns`: [{title, key: (item) => what to sort by, or null: not sortable; cell: (item) => its content, className,
// tip}]. Numbers come largest first, texts in the alphabet's order. `sorted`: {column, descending}, what the items are
// sorted by already; `choose`: what a press on a row does; `most`: rows that are shown at first.
function sortableTable({ className, columns, items, sorted, makeRow, choose, most = Infinity }) {
  const rows = new Map(); // each made when it is first shown
  const body = element("tbody"), foot = element("p", "more-rows");
  let order = items.slice(), shown = most;

  const rowOf = (item) => {
    if (rows.has(item)) return rows.get(item);
    const row = element("tr", "", ...columns.map((column) => element("td", column.className, ...[column.cell(item)].flat())));
    if (makeRow) makeRow(row, item);
    for (const made of row.querySelectorAll(".explained")) made.tabIndex = -1; // the details have them for the keyboard
    row.tabIndex = 0;
    row.addEventListener("click", () => choose(item));
    row.addEventListener("keydown", (event) => event.key === "Enter" && event.target === row && choose(item));
    rows.set(item, row);
    return row;
  };
  const show = () => {
    body.replaceChildren(...order.slice(0, shown).map(rowOf));
    const hidden = order.length - Math.min(shown, order.length);
    foot.replaceChildren(...(hidden === 0 ? [] : [button("more", `${hidden} more`, () => ((shown = Infinity), show()))]));
    app.mark();
  };
  const heads = columns.map((column) => {
    const head = element("th", column.className);
    head.scope = "col";
    if (column.key === null) head.append(column.title);
    else head.append(button("sort", column.title, () => sortBy(column)));
    if (column.tip) explain(column.key === null ? head : head.firstChild, [column.title, column.tip]);
    return head;
  });
  const markHeads = () => {
    heads.forEach((head, c) => {
      if (c === sorted.column) head.setAttribute("aria-sort", sorted.descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
  };
  const sortBy = (column) => {
    const c = columns.indexOf(column);
    const keys = new Map(items.map((item) => [item, column.key(item)]));
    const numbers = items.every((item) => typeof keys.get(item) === "number");
    sorted = { column: c, descending: sorted.column === c ? !sorted.descending : numbers };
    const sign = sorted.descending ? -1 : 1;
    const compare = numbers ? (a, b) => a - b : (a, b) => String(a).localeCompare(String(b), "en", { numeric: true });
    order = items.slice().sort((a, b) => sign * compare(keys.get(a), keys.get(b)));
    markHeads();
    show();
  };
  markHeads();
  show();
  const table = element("table", className, element("thead", "", element("tr", "", ...heads)), body);
  return element("div", "sortable", table, foot);
}
