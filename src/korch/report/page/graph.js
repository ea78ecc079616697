// The plan as a graph: kernels as boxes over the primitives that they cover, edges with the tensors between.

const mostLabelledSteps = 400; // beyond, edges do not reserve room for their labels: the layout takes twice as long
const nearScale = 0.45; // from here on texts can be read

function graphInput(plan) {
  const port = (kind, names) => names.map((name, i) => ({ id: kind + i, text: clippedFront(name, 40) }));
  return {
    labels: plan.steps.length <= mostLabelledSteps,
    ports: [...port("i", plan.inputs), ...port("o", plan.outputs)],
    steps: plan.steps.map((step) => ({
      title: step.title,
      primitives: step.primitives.map(({ op, inputs, outputs }) => ({ op, inputs, outputs })),
    })),
    edges: plan.edges.map((edge) => ({ from: edge.from, to: edge.to, label: edgeLabel(plan.tensors[edge.tensor]) })),
  };
}

function edgeLabel(tensor) {
  const shape = tensor.view ? `${tensor.type} view` : tensor.type;
  return [clippedFront(tensor.name, 34), `${shape} ${tensor.layout} · ${bytesText(tensor.bytes)}`];
}

// In a worker, so that the page answers meanwhile; here where there are no workers.
function layOutApart(input) {
  return new Promise((resolve, reject) => {
    let worker;
    try {
      const parts = ["dagre", "layout"].map((id) => document.getElementById(id).textContent);
      const work = "\nonmessage = (event) => postMessage(layOut(event.data));";
      worker = new Worker(URL.createObjectURL(new Blob([parts.join("\n"), work], { type: "text/javascript" })));
    } catch (error) {
      resolve(layOut(input));
      return;
    }
    worker.onmessage = (event) => {
      worker.terminate();
      resolve(event.data);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      worker.terminate();
      try {
        resolve(layOut(input));
      } catch (error) {
        reject(error);
      }
    };
    worker.postMessage(input);
  });
}

async function makeGraph(plan, app) {
  const section = document.getElementById("graph");
  legend(section.querySelector(".legend"), plan);
  section.querySelector(".legend").append(element("span", "from-afar", "from afar, areas are times"));
  const input = graphInput(plan);
  const places = await layOutApart(input);
  document.getElementById("graph-state").remove();

  const svg = d3.select(section).insert("svg", ":first-child");
  const arrow = svg.append("defs").append("marker").attr("id", "arrow").attr("viewBox", "0 0 8 8");
  arrow.attr("refX", 7).attr("refY", 4).attr("markerUnits", "userSpaceOnUse").attr("markerWidth", 8).attr("markerHeight", 8).attr("orient", "auto");
  arrow.append("path").attr("d", "M0,0L8,4L0,8z").attr("class", "arrow");
  const world = svg.append("g");
  const line = d3.line().x((point) => point.x).y((point) => point.y).curve(d3.curveBasis);
  drawEdges(world, plan, input, places, line);
  drawPorts(world, input, places);
  drawSteps(world, plan, places, line, app);
  drawFarMarks(world, plan, places, app);

  const size = () => section.getBoundingClientRect();
  const zoom = d3.zoom().scaleExtent([0.01, 3]).on("zoom", () => {
    hideTip();
    world.attr("transform", d3.event.transform);
    section.classList.toggle("far", d3.event.transform.k < nearScale);
  });
  // A transition that starts when the view has just been hidden meets a size of 0, by which d3 divides.
  zoom.extent(() => [[0, 0], [Math.max(size().width, 1), Math.max(size().height, 1)]]);
  svg.call(zoom).on("dblclick.zoom", null);

  // A network is often a hundred times as high as wide: not so small that kernels vanish.
  const fitScale = () => Math.max(Math.min(size().width / places.width, size().height / places.height, 1), 0.04);
  // On a phone the details cover the lower part.
  const visibleHeight = (box) => {
    const details = document.getElementById("details").getBoundingClientRect();
    return details.width > 0 && details.left < box.right ? Math.max(details.top - box.top, 40) : box.height;
  };
  const show = (x, y, scale, smooth) => {
    const box = size();
    if (box.width === 0) return;
    const middle = visibleHeight(box) / 2;
    const to = d3.zoomIdentity.translate(box.width / 2 - scale * x, middle - scale * y).scale(scale);
    (smooth ? svg.transition().duration(300) : svg).call(zoom.transform, to);
  };
  // The beginning of the network, wide enough to be read.
  const start = () => {
    const scale = Math.max(Math.min(size().width / places.width, 1), 0.6);
    const first = places.ports[0] || { x: places.width / 2 };
    const x = places.width * scale <= size().width ? places.width / 2 : first.x;
    show(x, visibleHeight(size()) / 2 / scale - 8, scale, false);
  };
  for (const made of section.querySelectorAll("[data-zoom]")) {
    made.addEventListener("click", () => {
      if (made.dataset.zoom === "fit") show(places.width / 2, places.height / 2, fitScale(), true);
      else svg.transition().duration(150).call(zoom.scaleBy, made.dataset.zoom === "in" ? 1.5 : 1 / 1.5);
    });
  }
  let started = false;
  const shown = () => {
    if (started || size().width === 0) return;
    started = true;
    start();
    if (app.selected !== null) centre(app.selected, false);
  };
  const centre = (step, smooth) => {
    const place = places.steps[step];
    show(place.x, place.y, Math.max(d3.zoomTransform(svg.node()).k, 0.8), smooth);
  };
  shown();
  section.dataset.ready = "yes";
  return { shown, centre: (step) => started && centre(step, true) };
}

function drawEdges(world, plan, input, places, line) {
  const edges = world.append("g").selectAll("g").data(plan.edges.map((edge, e) => ({ edge, e }))).enter().append("g");
  edges
    .attr("class", ({ e }) => (places.edges[e].crowded ? "edge crowded" : "edge"))
    .attr("data-from", ({ edge }) => edge.from)
    .attr("data-to", ({ edge }) => edge.to)
    .on("mousemove", ({ edge }) => {
      const tensor = plan.tensors[edge.tensor];
      showTip(d3.event, [
        tensor.name,
        `${tensor.type}, layout ${tensor.layout}, ${bytesText(tensor.bytes)}${tensor.view ? ", a view" : ""}`,
        known(plan.layouts, tensor.layout) || "",
      ]);
    })
    .on("mouseleave", hideTip);
  edges.append("path").attr("class", "wide").attr("d", ({ e }) => line(places.edges[e].points));
  edges.append("path").attr("class", "line").attr("d", ({ e }) => line(places.edges[e].points)).attr("marker-end", "url(#arrow)");
  for (const row of [0, 1]) {
    edges
      .append("text")
      .attr("class", row === 0 ? "edge-text edge-name" : "edge-text")
      .attr("x", ({ e }) => places.edges[e].x)
      .attr("y", ({ e }) => places.edges[e].y + (row === 0 ? -2 : 11))
      .text(({ e }) => input.edges[e].label[row]);
  }
}

function drawPorts(world, input, places) {
  const ports = world.append("g").selectAll("g").data(input.ports.map((port, p) => ({ port, place: places.ports[p] })));
  const entered = ports.enter().append("g").attr("class", "port");
  entered.attr("transform", ({ place }) => `translate(${place.x},${place.y})`);
  entered
    .append("rect")
    .attr("x", ({ place }) => -place.width / 2)
    .attr("y", ({ place }) => -place.height / 2)
    .attr("width", ({ place }) => place.width)
    .attr("height", ({ place }) => place.height)
    .attr("rx", 13);
  entered.append("text").attr("dy", 4).text(({ port }) => port.text);
}

// From afar a step is an area in proportion to its time, of the shape of its box. At most twice as wide and high: where
// few steps take most of the time, all others would vanish if these stayed within their boxes.
const farGrowth = 2;

function drawFarMarks(world, plan, places, app) {
  const size = (step) => places.steps[step.id].width * places.steps[step.id].height;
  const timed = plan.steps.filter((step) => step.time > 0).sort((a, b) => b.time - a.time); // small ones lie above large ones
  const area = farGrowth ** 2 * (d3.min(timed, (step) => size(step) / step.time) || 0);
  const side = (step, length) => length * Math.sqrt((area * step.time) / size(step));
  const marks = world.append("g").attr("class", "far-marks").selectAll("rect").data(timed).enter().append("rect");
  behaveAsSteps(marks, plan, app);
  marks
    .classed("far-mark", true)
    .each(function (step) {
      const place = places.steps[step.id], width = side(step, place.width), height = side(step, place.height);
      this.classList.add(`fill-${step.category}`);
      d3.select(this).attr("x", place.x - width / 2).attr("y", place.y - height / 2).attr("width", width).attr("height", height);
    });
}

function drawSteps(world, plan, places, line, app) {
  const steps = world.append("g").selectAll("g.box").data(plan.steps).enter().append("g").attr("class", "box");
  const place = (step) => places.steps[step.id];
  behaveAsSteps(steps, plan, app);
  steps.attr("transform", (step) => `translate(${place(step).x - place(step).width / 2},${place(step).y - place(step).height / 2})`);
  steps
    .append("rect")
    .attr("class", (step) => `frame pale-${step.category}`)
    .attr("width", (step) => place(step).width)
    .attr("height", (step) => place(step).height)
    .attr("rx", 6);
  // How much of the whole time: a bar along the top.
  const most = d3.max(plan.steps, (step) => step.time) || 1;
  steps
    .append("rect")
    .attr("class", (step) => `time-bar fill-${step.category}`)
    .attr("width", (step) => Math.max(3, (step.time / most) * place(step).width))
    .attr("height", 4)
    .attr("rx", 2);
  steps
    .append("text")
    .attr("class", "box-title")
    .attr("x", boxPadding)
    .attr("y", 18)
    .text((step) => clipped(step.title, Math.floor((place(step).width - 2 * boxPadding) / boldCharacterWidth)));
  steps
    .append("text")
    .attr("class", "box-time")
    .attr("x", boxPadding)
    .attr("y", 32)
    .text((step) => `${timeText(step.time)} · ${percentText(step.time / plan.total)}`);
  const inside = steps
    .append("g")
    .attr("class", "inside")
    .attr("transform", (step) => `translate(${(place(step).width - place(step).inner.width) / 2},${boxHead})`);
  inside
    .selectAll("path")
    .data((step) => place(step).inner.edges)
    .enter()
    .append("path")
    .attr("class", "line")
    .attr("d", line);
  const primitives = inside
    .selectAll("g")
    .data((step) => step.primitives.map((primitive, p) => ({ primitive, place: place(step).inner.nodes[p] })))
    .enter()
    .append("g")
    .attr("class", ({ primitive }) => `primitive${primitive.also_in ? " again" : ""}`);
  primitives.attr("transform", (d) => `translate(${d.place.x},${d.place.y})`);
  primitives
    .append("rect")
    .attr("class", ({ primitive }) => `pale-${primitive.category}`)
    .attr("x", (d) => -d.place.width / 2)
    .attr("y", -primitiveHeight / 2)
    .attr("width", (d) => d.place.width)
    .attr("height", primitiveHeight)
    .attr("rx", 4);
  primitives.append("text").attr("dy", 4).text(({ primitive }) => primitive.op);
}
