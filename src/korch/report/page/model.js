// What the page knows of the plan, and how it spells it. Texts from the model go into the page as text alone.

const categories = ["linear", "reduce", "elementwise", "layout", "other"];
const categoryTexts = {
  linear: "matrix products, convolutions",
  reduce: "reductions, windows",
  elementwise: "elementwise",
  layout: "data movement",
  other: "other",
};

async function inflate(id) {
  const text = atob(document.getElementById(id).textContent.trim());
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

// The plan with what several views ask for: `time` of a step is that of the run where there was one.
function prepare(plan) {
  plan.wasRun = plan.steps.some((step) => step.run_us !== undefined);
  plan.steps.forEach((step, s) => {
    step.id = s;
    step.time = step.run_us === undefined ? step.us : step.run_us;
    step.title = `#${s} ${shortLabel(step.label)}`;
    step.before = [];
    step.after = [];
  });
  for (const edge of plan.edges) {
    if (edge.from[0] === "s" && edge.to[0] === "s") {
      plan.steps[+edge.to.slice(1)].before.push(+edge.from.slice(1));
      plan.steps[+edge.from.slice(1)].after.push(+edge.to.slice(1));
    }
  }
  plan.total = d3.sum(plan.steps, (step) => step.time) || 1;
  const measured = plan.steps.filter((step) => step.measured).length;
  plan.someMeasured = measured > 0;
  const carried = plan.steps.filter((step) => step.cost === "carried").length;
  const modelled = plan.steps.filter((step) => step.cost === "modelled" || step.cost === "estimated").length;
  plan.allMeasured = measured === plan.steps.length;
  plan.timeKind = plan.wasRun
    ? "measured while the whole plan ran"
    : plan.allMeasured
      ? "measured while compiling, each kernel alone"
      : plan.someMeasured
        ? `measured while compiling, each kernel alone; ${plan.steps.length - measured} steps by a lower bound (fainter)`
        : carried + modelled > 0
          ? `nothing was measured while compiling: ${carried} steps by measurements elsewhere, ${modelled} by a model`
          : "lower bounds: nothing was measured while compiling";
  return plan;
}

// "Slice+Slice+Concat" -> "2× Slice + Concat".
function shortLabel(label) {
  const parts = [];
  for (const op of label.split("+")) {
    const last = parts[parts.length - 1];
    if (last && last.op === op) last.count += 1;
    else parts.push({ op, count: 1 });
  }
  return parts.map(({ op, count }) => (count > 1 ? `${count}× ${op}` : op)).join(" + ");
}

function clipped(text, length) {
  return text.length <= length ? text : text.slice(0, length - 1) + "…";
}

// The end of a name tells more than its beginning.
function clippedFront(text, length) {
  return text.length <= length ? text : "…" + text.slice(text.length - length + 1);
}

function withUnit(value, units, base) {
  let unit = 0;
  while (unit + 1 < units.length && value >= base) {
    value /= base;
    unit += 1;
  }
  const digits = value >= 100 || (unit === 0 && Number.isInteger(value)) ? 0 : value >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${units[unit]}`;
}

const timeText = (us) => withUnit(us, ["µs", "ms", "s"], 1000);
const bytesText = (bytes) => withUnit(bytes, ["B", "kB", "MB", "GB"], 1000);
const flopsText = (flops) => withUnit(flops, ["flop", "kflop", "Mflop", "Gflop", "Tflop"], 1000);
const rateText = (perUs, unit) => withUnit(perUs * 1e6, ["", "k", "M", "G", "T"].map((p) => p + unit), 1000);
const percentText = (part) => (part > 0 && part < 0.0005 ? "< 0.1 %" : `${(100 * part).toFixed(part < 0.0995 ? 1 : 0)} %`);

function nodeName(name) {
  return name === "" ? "(no ONNX node: changes of layout)" : name;
}

// An element with a class and text or children.
function element(tag, className, ...content) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...content.filter((part) => part !== null && part !== undefined));
  return made;
}

function button(className, text, action) {
  const made = element("button", className, text);
  made.addEventListener("click", action);
  return made;
}

function showTip(event, lines) {
  const tip = document.getElementById("tip");
  tip.replaceChildren(...lines.map((line, i) => element("div", i === 0 ? "tip-head" : "", line)));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 8))}px`;
  const below = event.clientY + 14;
  tip.style.top = `${below + box.height > innerHeight ? Math.max(4, event.clientY - box.height - 10) : below}px`;
}

function hideTip() {
  const tip = document.getElementById("tip");
  tip.hidden = true;
  tip.classList.remove("asked");
}

// Makes an element tell what it is: where the pointer rests on it, it has the focus or a finger taps it.
function explain(made, lines) {
  const told = (event) => {
    const box = made.getBoundingClientRect();
    showTip({ clientX: box.left, clientY: box.bottom - 8 }, lines);
    document.getElementById("tip").classList.toggle("asked", event.type !== "pointerenter");
  };
  made.classList.add("explained");
  made.setAttribute("aria-description", lines.slice(1).join(". "));
  for (const kind of ["pointerenter", "focus", "click"]) made.addEventListener(kind, told);
  for (const kind of ["pointerleave", "blur"]) made.addEventListener(kind, hideTip);
  return made;
}

// Words that are not everybody's, with what they mean; with the keyboard, too.
function explained(text, ...lines) {
  const made = element("span", "", text);
  made.tabIndex = 0;
  return explain(made, [text, ...lines]);
}

const known = (table, word) => (Object.hasOwn(table, word) ? table[word] : null);

// "conv_direct(3,9) p0231->rm": the family, its numbers and the layouts, explained.
function implementationText(plan, text) {
  const parts = text.split(/([\w.]+(?:\([^()]*\))?)/).map((part) => {
    const [word] = part.split("(");
    const family = known(plan.families, word), layout = known(plan.layouts, word);
    if (layout !== null && word === part) return explained(part, layout);
    if (family === null) return part;
    return explained(part, family.what, ...(family.numbers && part.length > word.length + 2 ? [`(numbers: ${family.numbers})`] : []));
  });
  return parts;
}

function familyText(plan, step) {
  const family = known(plan.families, step.implementation.split("(")[0]);
  return family === null ? [] : [family.what];
}

// "38 steps", or of several plans how many; and what a run does with them.
function stepsText(plan) {
  const steps = `${plan.steps.length} ${plan.steps.length === 1 ? "step" : "steps"}`;
  return plan.shape_plans.length < 2 ? steps : `${steps} in ${plan.shape_plans.length} plans`;
}

function stepsMeaning(plan) {
  if (plan.shape_plans.length < 2) return ["kernels that a run executes, in this order"];
  const parts = plan.shape_plans.map((part) => `#${part.first_step} to #${part.end_step - 1}: ${part.bounds}`);
  return ["a run executes the steps of one plan, by its shapes", ...parts];
}

function stepTip(plan, step) {
  return [
    clipped(step.title, 90),
    `${timeText(step.time)} · ${percentText(step.time / plan.total)}`,
    step.implementation,
    ...familyText(plan, step),
    ...step.onnx_nodes.slice(0, 4).map((node) => clippedFront(node, 70)),
    ...(step.onnx_nodes.length > 4 ? [`and ${step.onnx_nodes.length - 4} more ONNX nodes`] : []),
  ];
}

// d3 marks that stand for steps: a tip, a click and a mark when selected.
function behaveAsSteps(marks, plan, app) {
  marks
    .classed("step", true)
    .attr("data-step", (step) => step.id)
    .on("mousemove", (step) => showTip(d3.event, stepTip(plan, step)))
    .on("mouseleave", hideTip)
    .on("click", (step) => {
      hideTip();
      app.select(step.id, { from: "mark" });
    });
}

function legend(into, plan) {
  const used = new Set(plan.steps.flatMap((step) => [step.category, ...step.primitives.map(({ category }) => category)]));
  into.replaceChildren(
    ...categories.filter((name) => used.has(name)).map((name) => element("span", "", element("i", `fill-${name}`), categoryTexts[name])),
  );
}
