// The steps one after another, and what each worker does in a run; and as a table.

function makeTimeline(plan, app) {
  const section = document.getElementById("timeline");
  const lanes = [{ name: plan.wasRun ? "run" : "steps", time: (step) => step.time }];
  if (plan.wasRun) lanes.push({ name: "alone", time: (step) => step.us });
  for (const lane of lanes) {
    let at = 0;
    lane.spans = plan.steps.map((step) => ({ step, from: at, to: (at += lane.time(step)) }));
    lane.end = at;
  }
  (plan.workers || []).forEach((spans, worker) => {
    const lane = { name: `w${worker}`, worker: true };
    lane.spans = spans.map(([step, from, to]) => ({ step: plan.steps[step], from, to }));
    lane.end = d3.max(lane.spans, (span) => span.to) || 0;
    lanes.push(lane);
  });
  const workers = plan.workers ? "; what each worker (w) did in one run, with gaps where it waited" : "";
  const note = plan.wasRun ? `${plan.timeKind} (run), and each kernel alone while compiling (alone)${workers}` : plan.timeKind;
  const several = plan.shape_plans.length < 2 ? "" : ` Here are all plans; ${stepsMeaning(plan).join("; ")}.`;
  section.append(
    element("p", "note", `${stepsText(plan)}, ${timeText(plan.total)}: ${note}.${several} Wheel or pinch to zoom, drag to move.`),
    element("div", "chart"),
    element("div", "legend"),
    stepTable(plan, app),
  );
  legend(section.querySelector(".legend"), plan);
  return { shown: () => drawTimeline(section.querySelector(".chart"), plan, lanes, app) };
}

function drawTimeline(into, plan, lanes, app) {
  const width = into.clientWidth;
  if (width === 0 || +into.dataset.width === width) return;
  into.dataset.width = width;
  into.replaceChildren();
  const gap = 8, left = lanes.length > 1 ? 44 : 6, top = 6;
  let height = top;
  for (const lane of lanes) {
    lane.height = lane.worker ? 24 : 44;
    lane.top = height;
    height += lane.height + gap;
  }
  height += 22;
  const svg = d3.select(into).append("svg").attr("width", width).attr("height", height);
  const x = d3.scaleLinear().domain([0, d3.max(lanes, (lane) => lane.end) || 1]).range([left, width - 8]);
  const clip = svg.append("defs").append("clipPath").attr("id", "timeline-clip").append("rect");
  clip.attr("x", left).attr("width", width - left - 6).attr("height", height);
  const axis = svg.append("g").attr("class", "axis").attr("transform", `translate(0,${height - 22})`);
  const plot = svg.append("g").attr("clip-path", "url(#timeline-clip)");
  const groups = lanes.map((lane) => {
    if (lanes.length > 1) svg.append("text").attr("class", "axis-text").attr("x", 2).attr("y", lane.top + lane.height / 2 + 4).text(lane.name);
    const spans = plot.append("g").attr("transform", `translate(0,${lane.top})`).selectAll("g").data(lane.spans).enter().append("g");
    spans.append("rect").attr("height", lane.height).attr("class", ({ step }) => `fill-${step.category}${isBound(plan, step) ? " bound" : ""}`);
    spans.append("text").attr("class", "span-text").attr("y", lane.worker ? 16 : 18);
    if (!lane.worker) spans.append("text").attr("class", "span-text second").attr("y", 33);
    behaveAsSteps(spans.datum(({ step, from, to }) => Object.assign(Object.create(step), { from, to })), plan, app);
    return spans;
  });
  const draw = (scale) => {
    axis.call(d3.axisBottom(scale).ticks(Math.max(2, Math.floor(width / 90))).tickFormat((us) => (us === 0 ? "0" : timeText(us))).tickSizeOuter(0));
    for (const spans of groups) {
      const wide = (span) => Math.max(0.5, scale(span.to) - scale(span.from) - 0.5);
      spans.attr("transform", (span) => `translate(${scale(span.from)},0)`);
      spans.select("rect").attr("width", wide);
      const room = (span) => Math.floor((wide(span) - 6) / characterWidth);
      const title = (span) => (room(span) < 3 ? "" : clipped(span.title, room(span)));
      const time = (span) => (room(span) < timeText(span.to - span.from).length ? "" : timeText(span.to - span.from));
      spans.select("text").attr("x", 3).text(title);
      spans.select("text.second").attr("x", 3).text(time);
    }
  };
  draw(x);
  const zoom = d3.zoom().scaleExtent([1, 2000]).translateExtent([[left, 0], [width - 8, height]]).extent([[left, 0], [width - 8, height]]);
  svg.call(zoom.on("zoom", () => {
    hideTip();
    draw(d3.event.transform.rescaleX(x));
  }));
  app.mark();
}

function isBound(plan, step) {
  return !plan.wasRun && plan.someMeasured && !step.measured;
}

function stepTable(plan, app) {
  const most = d3.max(plan.steps, (step) => step.time) || 1;
  const bar = (step) => {
    const made = element("i", `fill-${step.category}`);
    made.style.width = `${(100 * step.time) / most}%`;
    return made;
  };
  const rate = (amount) => (step) => (step.time > 0 ? amount(step) / step.time : 0);
  const flops = rate((step) => step.flops), bytes = rate((step) => step.bytes);
  const columns = [
    { title: "step", className: "number", key: (step) => step.id, cell: (step) => `#${step.id}` },
    { title: "time", className: "number", key: (step) => step.time, cell: (step) => timeText(step.time), tip: plan.timeKind },
    { title: "share", className: "number", key: (step) => step.time, cell: (step) => percentText(step.time / plan.total), tip: "of the time of all steps" },
    { title: "", className: "bar", key: null, cell: bar },
    { title: "flop/s", className: "number wide-only", key: flops, cell: (step) => (flops(step) > 0 ? rateText(flops(step), "flop/s") : ""), tip: "floating-point operations in a second" },
    { title: "B/s", className: "number wide-only", key: bytes, cell: (step) => (bytes(step) > 0 ? rateText(bytes(step), "B/s") : ""), tip: "bytes that it must read and write, in a second" },
    { title: "kernel", className: "kernel", key: (step) => step.label, cell: (step) => element("b", "", clipped(shortLabel(step.label), 80)), tip: "the operators that it computes together" },
    { title: "implementation", className: "how", key: (step) => step.implementation, cell: (step) => implementationText(plan, step.implementation), tip: "the family of kernels, its numbers, and the layouts in memory of what is read -> written" },
    {
      title: "ONNX nodes",
      className: "nodes wide-only",
      key: (step) => step.onnx_nodes.join(", "),
      cell: (step) => clipped(step.onnx_nodes.map((node) => clippedFront(node, 48)).join(", "), 120),
    },
  ];
  return sortableTable({
    className: "steps",
    columns,
    items: plan.steps,
    sorted: { column: 0, descending: false },
    makeRow: (row, step) => {
      row.className = "step";
      row.dataset.step = step.id;
    },
    choose: (step) => app.select(step.id, { from: "mark" }),
  });
}
