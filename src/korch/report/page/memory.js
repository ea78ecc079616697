// What the arena, the memory that a run shares among its tensors, holds at each step.

function makeMemory(plan, app) {
  const section = document.getElementById("memory");
  if (!plan.memory) {
    section.append(element("p", "note", "This plan keeps nothing between its steps, or the page was not told."));
    return { shown: () => {} };
  }
  const memory = plan.memory;
  memory.peak = d3.max(memory.live);
  memory.list = memory.buffers.map(([tensor, first, last, offset, bytes]) => ({ tensor, first, last, offset, bytes }));
  const whole = memory.arena_bytes > memory.peak ? `${bytesText(memory.peak)} of its ${bytesText(memory.arena_bytes)}` : `all of its ${bytesText(memory.peak)}`;
  section.append(
    element(
      "p",
      "note",
      `The arena is the memory that the tensors between steps share. At most ${whole} are in use at once, ` +
        `in step #${memory.peak_step}. Each box is a tensor: its bytes, from the step that makes it to the last that needs it. ` +
        `Inputs and outputs lie with the caller; weights take ${bytesText(memory.weights_bytes)} of the file. ` +
        "Wheel or pinch to zoom, drag to move.",
    ),
    element("div", "chart"),
    element("div", "legend"),
    bufferTable(plan, memory, app),
  );
  legend(section.querySelector(".legend"), plan);
  return { shown: () => drawMemory(section.querySelector(".chart"), plan, memory, app) };
}

function bufferName(plan, buffer) {
  return buffer.tensor < 0 ? `(what #${buffer.first} needs for itself)` : plan.tensors[buffer.tensor].name;
}

function bufferTip(plan, buffer) {
  const tensor = plan.tensors[buffer.tensor];
  const steps = buffer.first === buffer.last ? `in #${buffer.first} alone` : `from #${buffer.first} to #${buffer.last}`;
  return [
    clippedFront(bufferName(plan, buffer), 70),
    ...(tensor ? [`${tensor.type}, layout ${tensor.layout}`] : []),
    `${bytesText(buffer.bytes)} ${steps}`,
    `made by ${clipped(plan.steps[buffer.first].title, 70)}`,
  ];
}

function drawMemory(into, plan, memory, app) {
  const width = into.clientWidth;
  if (width === 0 || +into.dataset.width === width) return;
  into.dataset.width = width;
  into.replaceChildren();
  const left = 62, right = 24, liveTop = 18, liveHeight = 90, mapTop = liveTop + liveHeight + 26, mapHeight = 260;
  const height = mapTop + mapHeight + 22;
  const svg = d3.select(into).append("svg").attr("width", width).attr("height", height);
  const steps = plan.steps.length;
  const x = d3.scaleLinear().domain([0, steps]).range([left, width - right]);
  const up = d3.scaleLinear().domain([0, memory.peak]).range([liveTop + liveHeight, liveTop]);
  const y = d3.scaleLinear().domain([0, memory.arena_bytes]).range([mapTop + mapHeight, mapTop]);
  const clip = svg.append("defs").append("clipPath").attr("id", "memory-clip").append("rect");
  clip.attr("x", left).attr("width", Math.max(0, width - left - right)).attr("height", height);
  const bytesAxis = (scale, ticks) => d3.axisLeft(scale).ticks(ticks).tickFormat((bytes) => (bytes === 0 ? "0" : bytesText(bytes))).tickSizeOuter(0);
  svg.append("g").attr("class", "axis").attr("transform", `translate(${left},0)`).call(bytesAxis(up, 3));
  svg.append("g").attr("class", "axis").attr("transform", `translate(${left},0)`).call(bytesAxis(y, 6));
  const text = (at, words) => svg.append("text").attr("class", "axis-text").attr("x", left + 6).attr("y", at).text(words);
  text(mapTop - 6, "where in the arena");
  const axis = svg.append("g").attr("class", "axis").attr("transform", `translate(0,${mapTop + mapHeight})`);
    const plot = svg.append("g").attr("clip-path", "url(#memory-clip)");

  const live = plot.append("g").selectAll("rect").data(plan.steps).enter().append("rect");
  live
    .attr("class", (step) => (step.id === memory.peak_step ? "live peak" : "live"))
    .attr("y", (step) => up(memory.live[step.id]))
    .attr("height", (step) => liveTop + liveHeight - up(memory.live[step.id]));
  behaveAsSteps(live, plan, app);
  live.on("mousemove", (step) => showTip(d3.event, [clipped(step.title, 90), `${bytesText(memory.live[step.id])} in use`]));

  const boxes = plot.append("g").selectAll("rect").data(memory.list).enter().append("rect");
  boxes
    .attr("class", (buffer) => `buffer fill-${plan.steps[buffer.first].category}${buffer.tensor < 0 ? " own" : ""}`)
    .attr("data-step", (buffer) => buffer.first)
    .attr("y", (buffer) => y(buffer.offset + buffer.bytes))
    .attr("height", (buffer) => Math.max(0.7, y(buffer.offset) - y(buffer.offset + buffer.bytes) - 0.4))
    .on("mousemove", (buffer) => showTip(d3.event, bufferTip(plan, buffer)))
    .on("mouseleave", hideTip)
    .on("click", (buffer) => app.select(buffer.first, { from: "mark" }));
  const peakLine = plot.append("line").attr("class", "peak-line").attr("y1", liveTop).attr("y2", mapTop + mapHeight);
  const peakText = svg.append("text").attr("class", "axis-text").attr("y", liveTop - 6);
  const draw = (scale) => {
    const wide = (first, last) => Math.max(0.7, scale(last + 1) - scale(first) - 0.4);
    live.attr("x", (step) => scale(step.id)).attr("width", (step) => wide(step.id, step.id));
    boxes.attr("x", (buffer) => scale(buffer.first)).attr("width", (buffer) => wide(buffer.first, buffer.last));
    const at = scale(memory.peak_step + 0.5), inside = at >= left && at <= width - right;
    peakLine.attr("x1", at).attr("x2", at);
    peakText
      .attr("x", at)
      .attr("text-anchor", at < left + 90 ? "start" : at > width - 90 ? "end" : "middle")
      .text(inside ? `most: ${bytesText(memory.peak)} in #${memory.peak_step}` : "");
    const whole = (value) => (Number.isInteger(value) ? `#${value}` : "");
    axis.call(d3.axisBottom(scale).ticks(Math.max(2, Math.min(steps, Math.floor(width / 70)))).tickFormat(whole).tickSizeOuter(0));
  };
  draw(x);
  const extent = [[left, 0], [width - right, height]];
  const zoom = d3.zoom().scaleExtent([1, Math.max(1, steps / 4)]).translateExtent(extent).extent(extent);
  svg.call(zoom.on("zoom", () => {
    hideTip();
    draw(d3.event.transform.rescaleX(x));
  }));
  app.mark();
}

function bufferTable(plan, memory, app) {
  const atPeak = (buffer) => buffer.first <= memory.peak_step && memory.peak_step <= buffer.last;
  const text = (buffer, part) => (buffer.tensor < 0 ? "" : plan.tensors[buffer.tensor][part]);
  const items = memory.list.slice().sort((a, b) => b.bytes - a.bytes);
  return sortableTable({
    className: "buffers",
    items,
    sorted: { column: 1, descending: true },
    most: 50,
    makeRow: (row, buffer) => (row.dataset.step = buffer.first),
    choose: (buffer) => app.select(buffer.first, { from: "mark" }),
    columns: [
      { title: "tensor", className: "name", key: (buffer) => bufferName(plan, buffer), cell: (buffer) => clippedFront(bufferName(plan, buffer), 60) },
      { title: "bytes", className: "number", key: (buffer) => buffer.bytes, cell: (buffer) => bytesText(buffer.bytes) },
      { title: "from", className: "number", key: (buffer) => buffer.first, cell: (buffer) => `#${buffer.first}`, tip: "the step that makes it" },
      { title: "to", className: "number", key: (buffer) => buffer.last, cell: (buffer) => `#${buffer.last}`, tip: "the last step that needs it" },
      { title: "at the peak", className: "", key: (buffer) => (atPeak(buffer) ? 1 : 0), cell: (buffer) => (atPeak(buffer) ? "yes" : ""), tip: `whether it is there in step #${memory.peak_step}, where most bytes are in use` },
      { title: "type", className: "wide-only", key: (buffer) => text(buffer, "type"), cell: (buffer) => text(buffer, "type") },
      { title: "layout", className: "wide-only", key: (buffer) => text(buffer, "layout"), cell: (buffer) => implementationText(plan, text(buffer, "layout")) },
    ],
  });
}
