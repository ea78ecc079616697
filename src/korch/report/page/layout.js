// Places of kernels, their primitives and the edges between. dagre does it twice: for the primitives of each kernel, and
// for the kernels as boxes around them. Runs in a worker too, so it knows nothing of the page.
"use strict";

const boxHead = 40, boxPadding = 8, primitiveHeight = 20, characterWidth = 6.4, boldCharacterWidth = 7.3;

function textWidth(text, perCharacter = characterWidth) {
  return Math.ceil(text.length * perCharacter);
}

function newGraph(options) {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph(options);
  graph.setDefaultEdgeLabel(() => ({}));
  return graph;
}

// Of one kernel: {width, height, nodes: [{x, y, width}], edges: [points]}.
function layOutPrimitives(primitives) {
  const graph = newGraph({ rankdir: "TB", nodesep: 8, ranksep: 14 });
  const makers = new Map();
  primitives.forEach((primitive, p) => {
    graph.setNode(String(p), { width: textWidth(primitive.op) + 14, height: primitiveHeight });
    for (const value of primitive.outputs || []) makers.set(value, p);
  });
  primitives.forEach((primitive, p) => {
    for (const value of primitive.inputs || []) {
      const maker = makers.get(value);
      if (maker !== undefined && maker !== p) graph.setEdge(String(maker), String(p));
    }
  });
  dagre.layout(graph);
  const size = graph.graph();
  return {
    width: Number.isFinite(size.width) ? size.width : 0,
    height: Number.isFinite(size.height) ? size.height : 0,
    nodes: primitives.map((_, p) => graph.node(String(p))).map(({ x, y, width }) => ({ x, y, width })),
    edges: graph.edges().map((edge) => graph.edge(edge).points),
  };
}

// `plan`: {ports: [{id, text}], steps: [{title, primitives}], edges: [{from, to, label: [line, line]}], labels}.
function layOut(plan) {
  const graph = newGraph({ rankdir: "TB", nodesep: 28, ranksep: plan.labels ? 34 : 46, edgesep: 14, marginx: 20, marginy: 20 });
  const inner = plan.steps.map((step) => layOutPrimitives(step.primitives));
  plan.steps.forEach((step, s) => {
    const width = Math.max(inner[s].width, Math.min(textWidth(step.title, boldCharacterWidth), 280), 130) + 2 * boxPadding;
    graph.setNode("s" + s, { width, height: boxHead + inner[s].height + (inner[s].height ? boxPadding : 0) });
  });
  for (const port of plan.ports) graph.setNode(port.id, { width: textWidth(port.text) + 24, height: 26 });
  plan.edges.forEach((edge, e) => {
    const width = plan.labels ? Math.max(...edge.label.map(textWidth)) + 6 : 0;
    graph.setEdge(edge.from, edge.to, { width, height: plan.labels ? 30 : 0, labelpos: "c" }, String(e));
  });
  dagre.layout(graph);
  const size = graph.graph();
  const place = ({ x, y, width, height }) => ({ x, y, width, height });
  return {
    width: size.width,
    height: size.height,
    steps: plan.steps.map((_, s) => Object.assign(place(graph.node("s" + s)), { inner: inner[s] })),
    ports: plan.ports.map((port) => place(graph.node(port.id))),
    edges: plan.edges.map((edge, e) => {
      const { points, x, y } = graph.edge({ v: edge.from, w: edge.to, name: String(e) });
      const middle = points[Math.floor(points.length / 2)];
      return { points, x: x === undefined ? middle.x : x, y: y === undefined ? middle.y : y };
    }),
  };
}
