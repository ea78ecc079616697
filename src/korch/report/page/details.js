// One step: what it computes, from what, how fast, and what else could have been.

let sourcesPromise = null; // decompressed when somebody wants to read one

function showDetails(plan, step, app) {
  const panel = document.getElementById("details");
  panel.hidden = false;
  const title = element("h2", "", step.title);
  panel.replaceChildren(
    element("div", "panel-head", title, button("close", "×", () => app.select(null, {}))),
    numbers(plan, step),
    ...tensorLists(plan, step, app),
    section("ONNX nodes", nodeChips(plan, step, app)),
    section(`Primitives (${step.primitives.length})`, primitiveList(step)),
    section("Computed more than once", recomputation(step, app)),
    section("Rejected alternatives", rejectedTable(plan, step)),
    section(step.library ? "Library call" : "Generated source", sourceOf(step)),
  );
  panel.scrollTop = 0;
}

function section(title, ...content) {
  const shown = content.filter((part) => part !== null);
  return shown.length === 0 ? "" : element("section", "", element("h3", "", title), ...shown);
}

function numbers(plan, step) {
  const rows = [];
  const add = (name, ...value) => rows.push(element("dt", "", name), element("dd", "", ...value));
  if (step.run_us !== undefined) add("run in the plan", `${timeText(step.run_us)} (${percentText(step.run_us / plan.total)})`);
  const share = step.run_us === undefined ? ` (${percentText(step.us / plan.total)})` : "";
  const words = {measured: "measured alone", bound: "lower bound", carried: "measured elsewhere", modelled: "by a model", estimated: "estimated"};
  add(words[step.cost], timeText(step.us) + share);
  if (step.cost !== "bound" && step.bound_us > 0)
    add(step.measured ? "bound before measuring" : "lower bound", timeText(step.bound_us));
  const peak = plan.device.flops_per_us;
  if (step.flops > 0) {
    const ofPeak = peak > 0 ? `, ${percentText(step.flops / step.time / peak)} of peak` : "";
    add("arithmetic", `${flopsText(step.flops)}: ${rateText(step.flops / step.time, "flop/s")}${ofPeak}`);
  }
  if (step.bytes > 0) add("data", `${bytesText(step.bytes)}: ${rateText(step.bytes / step.time, "B/s")}`);
  add("implementation", ...implementationText(plan, step.implementation));
  if (step.library) add("library call", `${step.library} ${step.function}`);
  if (step.grids.length > 0) add("slices per phase", step.grids.join(", "));
  return element("dl", "", ...rows);
}

function stepLink(id, app) {
  return button("link", `#${id}`, () => app.select(id, { from: "link" }));
}

function tensorLists(plan, step, app) {
  const row = (index, ends) => {
    const tensor = plan.tensors[index];
    const text = [`${tensor.type} `, ...implementationText(plan, tensor.layout), `, ${bytesText(tensor.bytes)}`];
    return element("li", "", element("code", "", tensor.name), element("small", "", ...text, ...ends));
  };
  const list = (items) => (items.length === 0 ? null : element("ul", "tensors", ...items));
  const here = `s${step.id}`;
  const reads = step.inputs.map((index) => {
    const edge = plan.edges.find((e) => e.to === here && e.tensor === index);
    if (!edge) return row(index, []);
    return row(index, edge.from[0] === "s" ? [" from ", stepLink(+edge.from.slice(1), app)] : [" input of the network"]);
  });
  const readers = plan.edges.filter((edge) => edge.from === here);
  const ends = readers.flatMap((edge) =>
    edge.to[0] === "s" ? [" ", stepLink(+edge.to.slice(1), app)] : [" output of the network"],
  );
  const writes = step.outputs.map((index, i) => row(index, i + 1 === step.outputs.length && ends.length ? [" to", ...ends] : []));
  return [
    section("Reads", list(reads)),
    section("Weights", list(step.constants.map((index) => row(index, [])))),
    section("Writes", list(writes)),
  ];
}

function nodeChips(plan, step, app) {
  if (step.onnx_nodes.length === 0) return null;
  const steps = (name) => (plan.by_node.find((share) => share.name === name) || { steps: [step.id] }).steps;
  return element("div", "chips", ...step.onnx_nodes.map((name) => button("chip", name, () => app.find(name, steps(name)))));
}

function primitiveList(step) {
  if (step.primitives.length === 0) return null;
  return element(
    "ol",
    "primitives",
    ...step.primitives.map((primitive) =>
      element("li", "", element("i", `fill-${primitive.category}`), element("code", "", primitive.text), element("small", "", percentText(primitive.part))),
    ),
  );
}

function recomputation(step, app) {
  const again = step.primitives.filter((primitive) => primitive.also_in);
  if (again.length === 0) return element("p", "", "Nothing here is computed by another step too.");
  return element(
    "ul",
    "",
    ...again.map((primitive) =>
      element("li", "", element("code", "", primitive.text.split(" : ")[0]), " also in ", ...primitive.also_in.flatMap((id) => [stepLink(id, app), " "])),
    ),
  );
}

function rejectedTable(plan, step) {
  if (step.rejected.length === 0) return element("p", "", "No other kernel makes the same outputs.");
  const row = (other) =>
    element(
      "tr",
      "",
      element("td", "number", timeText(other.us)),
      element("td", "number", step.us > 0 ? `× ${(other.us / step.us).toFixed(2)}` : ""),
      element("td", "", shortLabel(other.what.split(" ")[0]), element("small", "", ...implementationText(plan, other.what.slice(other.what.indexOf(" ") + 1)))),
    );
  const group = (title, others) =>
    others.length === 0 ? [] : [element("tr", "", Object.assign(element("th", "", title), { colSpan: 3 })), ...others.map(row)];
  const table = element(
    "table",
    "rejected",
    element(
      "tbody",
      "",
      ...group("in its place, from the same tensors", step.rejected.filter((other) => other.same_inputs)),
      ...group("for its outputs, from tensors that others must make", step.rejected.filter((other) => !other.same_inputs)),
    ),
  );
  const cheaper = step.rejected.some((other) => other.same_inputs && other.us < step.us);
  const why = "A cheaper one was not taken where it has a layout, or leaves out a tensor, that costs more elsewhere.";
  return element("div", "", table, cheaper ? element("p", "", why) : "");
}

// Scrolled to where what all kernels begin with ends.
function sourceText(text) {
  const shown = element("pre", "", element("code", "", text));
  requestAnimationFrame(() => {
    const lines = text.split("\n");
    const line = lines.findIndex((candidate) => candidate.startsWith('extern "C"'));
    if (line > 0) shown.scrollTop = (line / lines.length) * shown.scrollHeight - 10;
  });
  return shown;
}

function sourceOf(step) {
  if (step.library) return element("p", "", `${step.library} ${step.function}: no source.`);
  const place = element("div", "source", element("p", "", "…"));
  sourcesPromise = sourcesPromise || inflate("sources");
  sourcesPromise.then(
    (sources) => {
      const text = sources[step.kernel];
      if (!text) place.replaceChildren(element("p", "", text === "" ? "No source." : "This page has no room for it."));
      else place.replaceChildren(sourceText(text));
    },
    (error) => place.replaceChildren(element("p", "", `The sources cannot be read: ${error.message}`)),
  );
  return place;
}
