// Places of kernels, their primitives and the edges between. dagre does it twice: for the primitives of each kernel, and
// for the kernels as boxes around them. Runs in a worker too, so it knows nothing of the page.
"use strict";

const boxHead = 40, boxPadding = 8, primitiveHeight = 20, labelHeight = 30, characterWidth = 6.4, boldCharacterWidth = 7.3;

function textWidth(text, perCharacter = characterWidth) {
  return Math.ceil(text.length * perCharacter);
}

function newGraph(options) {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph(options);
  graph.setDefaultEdgeLabel(() => ({}));
  return graph;
}

// Of one kernel: {width, height, nodes: [{x, y, width}], edges: [points]}. `known` keeps what was laid out: kernels of
// repeated blocks are alike.
function layOutPrimitives(primitives, known) {
  const makers = new Map();
  primitives.forEach((primitive, p) => (primitive.outputs || []).forEach((value) => makers.set(value, p)));
  const wires = primitives.map((primitive, p) =>
    (primitive.inputs || []).map((value) => makers.get(value)).filter((maker) => maker !== undefined && maker !== p),
  );
  const key = JSON.stringify([primitives.map(({ op }) => op), wires]);
  if (known.has(key)) return known.get(key);
  const graph = newGraph({ rankdir: "TB", nodesep: 8, ranksep: 14 });
  primitives.forEach(({ op }, p) => graph.setNode(String(p), { width: textWidth(op) + 14, height: primitiveHeight }));
  wires.forEach((makersOf, p) => makersOf.forEach((maker) => graph.setEdge(String(maker), String(p))));
  dagre.layout(graph);
  const size = graph.graph();
  const places = {
    width: Number.isFinite(size.width) ? size.width : 0,
    height: Number.isFinite(size.height) ? size.height : 0,
    nodes: primitives.map((_, p) => graph.node(String(p))).map(({ x, y, width }) => ({ x, y, width })),
    edges: graph.edges().map((edge) => graph.edge(edge).points),
  };
  known.set(key, places);
  return places;
}

// dagre lets some labels meet. Such a one goes to another point of its edge; where all are taken it is crowded: shown
// with its edge alone.
function placeLabels(plan, edges, boxes) {
  const meets = (a, b) =>
    Math.abs(a.x - b.x) < (a.width + b.width) / 2 && Math.abs(a.y - b.y) < (a.height + b.height) / 2;
  const taken = boxes.slice();
  edges.forEach((edge, e) => {
    const size = { width: Math.max(...plan.edges[e].label.map((text) => textWidth(text))), height: labelHeight };
    const places = [edge, ...edge.points.slice(1, -1)].map(({ x, y }) => ({ x, y, ...size }));
    const free = places.find((place) => !taken.some((other) => meets(place, other)));
    edge.crowded = free === undefined;
    if (free === undefined) return;
    edge.x = free.x;
    edge.y = free.y;
    taken.push(free);
  });
}

// `plan`: {ports: [{id, text}], steps: [{title, primitives}], edges: [{from, to, label: [line, line]}], labels}.
function layOut(plan) {
  const graph = newGraph({ rankdir: "TB", nodesep: 28, ranksep: plan.labels ? 34 : 46, edgesep: 30, marginx: 20, marginy: 20 });
  const known = new Map();
  const inner = plan.steps.map((step) => layOutPrimitives(step.primitives, known));
  plan.steps.forEach((step, s) => {
    const width = Math.max(inner[s].width, Math.min(textWidth(step.title, boldCharacterWidth), 280), 130) + 2 * boxPadding;
    graph.setNode("s" + s, { width, height: boxHead + inner[s].height + (inner[s].height ? boxPadding : 0) });
  });
  for (const port of plan.ports) graph.setNode(port.id, { width: textWidth(port.text) + 24, height: 26 });
  plan.edges.forEach((edge, e) => {
    const width = plan.labels ? Math.max(...edge.label.map((text) => textWidth(text))) + 6 : 0;
    graph.setEdge(edge.from, edge.to, { width, height: plan.labels ? labelHeight : 0, labelpos: "c" }, String(e));
  });
  dagre.layout(graph);
  const size = graph.graph();
  const place = ({ x, y, width, height }) => ({ x, y, width, height });
  const steps = plan.steps.map((_, s) => Object.assign(place(graph.node("s" + s)), { inner: inner[s] }));
  const ports = plan.ports.map((port) => place(graph.node(port.id)));
  const edges = plan.edges.map((edge, e) => {
    const { points, x, y } = graph.edge({ v: edge.from, w: edge.to, name: String(e) });
    const middle = points[Math.floor(points.length / 2)];
    return { points, x: x === undefined ? middle.x : x, y: y === undefined ? middle.y : y };
  });
  placeLabels(plan, edges, [...steps, ...ports]);
  return { width: size.width, height: size.height, steps, ports, edges };
}
