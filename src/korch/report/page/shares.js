// Where the time goes, by operator and by ONNX node.

const sharesShown = 25;

function makeShares(plan, app) {
  const section = document.getElementById("shares");
  section.append(
    element(
      "p",
      "note",
      `A kernel's time (${plan.timeKind}) is shared out among its primitives by their work: the elements that their definition ` +
        "reads. A primitive of several ONNX nodes counts for each alike.",
    ),
    element(
      "div",
      "columns",
      shareTable("ONNX node", plan, plan.by_node, nodeName, app),
      shareTable("operator", plan, plan.by_operator, (name) => name, app),
    ),
  );
  return { shown: () => {} };
}

function shareTable(title, plan, shares, text, app) {
  const most = d3.max(shares, (share) => share.us) || 1;
  const name = (share) => {
    const bar = element("i", "share");
    bar.style.width = `${(100 * share.us) / most}%`;
    return [clippedFront(text(share.name), 60), element("span", "bar", bar)];
  };
  const steps = (share) => (share.steps.length === 1 ? `#${share.steps[0]}` : `${share.steps.length} steps`);
  return sortableTable({
    className: "shares",
    items: shares,
    sorted: { column: 1, descending: true },
    most: sharesShown,
    makeRow: (row, share) => {
      row.className = "row";
      row.title = text(share.name);
    },
    choose: (share) => app.find(share.name, share.steps),
    columns: [
      { title, className: "name", key: (share) => text(share.name), cell: name },
      { title: "time", className: "number", key: (share) => share.us, cell: (share) => timeText(share.us) },
      { title: "share", className: "number", key: (share) => share.us, cell: (share) => percentText(share.us / plan.total), tip: "of the time of all steps" },
      { title: "steps", className: "number", key: (share) => share.steps.length, cell: steps, tip: "the kernels that compute a part of it" },
      { title: "primitives", className: "number wide-only", key: (share) => share.primitives, cell: (share) => `${share.primitives}`, tip: "the parts that korch divides it into, in all kernels" },
    ],
  });
}
