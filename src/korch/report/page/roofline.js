// Kernels by arithmetic per byte and by the speed that they reach, under what the machine can do at best.

function makeRoofline(plan, app) {
  const section = document.getElementById("roofline");
  const counted = plan.steps.filter((step) => step.flops > 0 && step.bytes > 0 && step.time > 0);
  const rest = plan.steps.filter((step) => !counted.includes(step));
  const lines = [`Speed of each kernel over its arithmetic per byte; the area of a mark is its time, ${plan.timeKind}.`];
  if (plan.device.flops_per_us > 0)
    lines.push(`Lines: ${peaksText(plan)}, ${plan.threads} ${plan.threads === 1 ? "thread" : "threads"}.`);
  else lines.push("The executable does not tell what the machine can do at best.");
  if (rest.length > 0)
    lines.push(`Without arithmetic, and so not shown: ${rest.length} ${rest.length === 1 ? "step" : "steps"}, ${timeText(d3.sum(rest, (step) => step.time))}.`);
  section.append(element("p", "note", lines.join(" ")), element("div", "chart"), element("div", "legend"));
  legend(section.querySelector(".legend"), plan);
  return { shown: () => drawRoofline(section.querySelector(".chart"), plan, counted, app) };
}

function peaksText(plan) {
  const isMeasured = plan.peaks_are === "" || plan.peaks_are.startsWith("measured");
  const rest = plan.peaks_are.startsWith("measured ") ? `, ${plan.peaks_are}` : "";
  return isMeasured ? `the best that the machine that compiled was seen to do${rest}` : plan.peaks_are;
}

function roofs(device) {
  return device.memory
    .map((level) => ({ name: level.name, rate: level.bytes_per_us }))
    .filter((roof) => roof.rate > 0);
}

function drawRoofline(into, plan, steps, app) {
  const width = into.clientWidth;
  const height = Math.max(280, Math.min(560, innerHeight - into.getBoundingClientRect().top - 60));
  const size = `${width} ${height}`;
  if (width === 0 || into.dataset.size === size) return;
  into.dataset.size = size;
  into.replaceChildren();
  if (steps.length === 0) {
    into.append(element("p", "note", "No kernel of this plan computes anything."));
    return;
  }
  const left = 56, right = 12, top = 12, bottom = 40;
  const intensity = (step) => step.flops / step.bytes, speed = (step) => step.flops / step.time / 1e3;
  const peak = plan.device.flops_per_us / 1e3;
  const across = d3.extent(steps, intensity), up = d3.extent(steps, speed);
  const x = d3.scaleLog().domain([Math.min(across[0] / 2, 0.1), Math.max(across[1] * 2, 100)]).range([left, width - right]);
  const y = d3.scaleLog().domain([up[0] / 2, Math.max(up[1], peak) * 1.6]).range([height - bottom, top]);
  const svg = d3.select(into).append("svg").attr("width", width).attr("height", height);
  const tick = (value) => (Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-9 ? d3.format("~g")(value) : "");
  const axisX = svg.append("g").attr("class", "axis").attr("transform", `translate(0,${height - bottom})`);
  axisX.call(d3.axisBottom(x).tickFormat(tick).tickSizeOuter(0));
  svg.append("g").attr("class", "axis").attr("transform", `translate(${left},0)`).call(d3.axisLeft(y).tickFormat(tick).tickSizeOuter(0));
  svg.append("text").attr("class", "axis-text").attr("x", width - right).attr("y", height - 6).attr("text-anchor", "end").text("flop / byte");
  svg.append("text").attr("class", "axis-text").attr("x", left + 6).attr("y", top + 4).text("Gflop/s");

  const [first, last] = x.domain();
  const texts = []; // drawn last, over the marks
  roofs(plan.device).forEach((roof, r) => {
    const rate = roof.rate / 1e3; // GB/s
    const from = Math.max(first, y.domain()[0] / rate), to = Math.min(last, peak / rate);
    if (from >= to) return;
    svg.append("line").attr("class", "roof").attr("x1", x(from)).attr("y1", y(from * rate)).attr("x2", x(to)).attr("y2", y(to * rate));
    const part = [0.8, 0.6, 0.4, 0.2][r]; // apart from the others'
    const at = Math.exp((1 - part) * Math.log(from) + part * Math.log(to));
    const angle = (Math.atan2(y(to * rate) - y(from * rate), x(to) - x(from)) * 180) / Math.PI;
    const place = `translate(${x(at)},${y(at * rate)}) rotate(${angle})`;
    texts.push({ place, anchor: "middle", text: `${roof.name} ${rateText(roof.rate, "B/s")}` });
  });
  if (peak > 0) {
    const from = Math.min(...roofs(plan.device).map((roof) => peak / (roof.rate / 1e3)), last);
    svg.append("line").attr("class", "roof").attr("x1", x(Math.max(first, from))).attr("x2", x(last)).attr("y1", y(peak)).attr("y2", y(peak));
    const text = `multiply-adds ${rateText(plan.device.flops_per_us, "flop/s")}`;
    texts.push({ place: `translate(${x(Math.max(first, from)) + 4},${y(peak)})`, anchor: "start", text });
  }
  const most = d3.max(steps, (step) => step.time);
  const radius = d3.scaleSqrt().domain([0, most]).range([2.5, width < 500 ? 14 : 22]);
  const largestFirst = steps.slice().sort((a, b) => b.time - a.time);
  const marks = svg.append("g").selectAll("circle").data(largestFirst).enter().append("circle");
  marks
    .attr("class", (step) => `mark fill-${step.category}`)
    .attr("cx", (step) => x(intensity(step)))
    .attr("cy", (step) => y(speed(step)))
    .attr("r", (step) => radius(step.time));
  behaveAsSteps(marks, plan, app);
  for (const { place, anchor, text } of texts)
    svg.append("text").attr("class", "roof-text").attr("transform", place).attr("dy", -5).attr("text-anchor", anchor).text(text);
  app.mark();
}
