// Finds steps by ONNX node, operator or tensor.

const foundShown = 40;

function makeSearch(plan, app) {
  const input = document.getElementById("search"), list = document.getElementById("found");
  const entries = [
    ...plan.by_node.filter((share) => share.name !== "").map(({ name, steps }) => ({ kind: "ONNX node", name, steps })),
    ...plan.by_operator.map(({ name, steps }) => ({ kind: "operator", name, steps })),
    ...tensorEntries(plan),
  ].map((entry) => Object.assign(entry, { key: entry.name.toLowerCase() }));
  let found = [], marked = 0;

  const choose = (entry) => {
    list.hidden = true;
    input.blur();
    app.find(entry.name, entry.steps);
  };
  const mark = (index) => {
    marked = Math.max(0, Math.min(index, found.length - 1));
    [...list.children].forEach((row, i) => row.classList.toggle("marked", i === marked));
    if (list.children[marked]) list.children[marked].scrollIntoView({ block: "nearest" });
  };
  const search = () => {
    const wanted = input.value.trim().toLowerCase();
    if (wanted === "") {
      list.hidden = true;
      app.find(null, []);
      return;
    }
    const rank = (entry) => (entry.key === wanted ? 0 : entry.key.startsWith(wanted) ? 1 : 2);
    const all = entries.filter((entry) => entry.key.includes(wanted));
    found = all.sort((a, b) => rank(a) - rank(b)).slice(0, foundShown);
    const rows = found.map((entry) => {
      const steps = entry.steps.length === 1 ? `#${entry.steps[0]}` : `${entry.steps.length} steps`;
      const row = element("li", "", element("span", "", clippedFront(entry.name, 60)), element("small", "", `${entry.kind} · ${steps}`));
      row.addEventListener("pointerdown", (event) => event.preventDefault());
      row.addEventListener("click", () => choose(entry));
      return row;
    });
    if (found.length === 0) rows.push(element("li", "none", "Nothing has that in its name."));
    else if (all.length > foundShown) rows.push(element("li", "none", `and ${all.length - foundShown} more`));
    list.replaceChildren(...rows);
    list.hidden = false;
    mark(0);
  };
  input.addEventListener("input", search);
  input.addEventListener("focus", () => input.value.trim() !== "" && search());
  input.addEventListener("blur", () => (list.hidden = true));
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && found.length > 0 && !list.hidden) choose(found[marked]);
    else if (event.key === "ArrowDown") mark(marked + 1);
    else if (event.key === "ArrowUp") mark(marked - 1);
    else if (event.key === "Escape") list.hidden = true;
    else return;
    event.preventDefault();
  });
}

// Of each tensor the step that writes it.
function tensorEntries(plan) {
  const steps = new Map();
  for (const step of plan.steps)
    for (const output of step.outputs) {
      const name = plan.tensors[output].name;
      if (!steps.has(name)) steps.set(name, []);
      steps.get(name).push(step.id);
    }
  return [...steps].map(([name, made]) => ({ kind: "tensor", name, steps: made }));
}
