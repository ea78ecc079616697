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
      shareList("By ONNX node", plan, plan.by_node, nodeName, (share) => app.find(share.name, share.steps)),
      shareList("By operator", plan, plan.by_operator, (name) => name, (share) => app.find(share.name, share.steps)),
    ),
  );
  return { shown: () => {} };
}

function shareList(title, plan, shares, text, choose) {
  const most = d3.max(shares, (share) => share.us) || 1;
  const row = (share) => {
    const bar = element("i", "share");
    bar.style.width = `${(100 * share.us) / most}%`;
    const made = button(
      "row",
      element("span", "name", clippedFront(text(share.name), 60)),
      () => choose(share),
    );
    const count = share.steps.length === 1 ? `#${share.steps[0]}` : `${share.steps.length} steps`;
    made.append(
      element("span", "value", `${timeText(share.us)} · ${percentText(share.us / plan.total)} · ${count}`),
      element("span", "bar", bar),
    );
    made.title = text(share.name);
    return made;
  };
  const list = element("div", "shares", element("h2", "", title), ...shares.slice(0, sharesShown).map(row));
  if (shares.length > sharesShown) {
    const more = button("more", `${shares.length - sharesShown} more`, () => {
      more.replaceWith(...shares.slice(sharesShown).map(row));
    });
    list.append(more);
  }
  return list;
}
