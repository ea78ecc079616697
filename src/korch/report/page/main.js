// The page's state: which view is shown, which step is selected, which steps were found.

const app = {
  selected: null,
  found: [],
  views: {},

  // A step, or null. From a link or a search the graph moves there; a mark that was clicked stays where it is.
  select(step, { from }) {
    app.selected = step;
    if (step === null) document.getElementById("details").hidden = true;
    else showDetails(app.plan, app.plan.steps[step], app);
    app.mark();
    if (step !== null && from !== "mark" && app.views.graph) app.views.graph.centre(step);
    if (step !== null && app.view === "timeline" && from !== "mark") {
      const row = document.querySelector(`tr[data-step="${step}"]`);
      if (row) row.scrollIntoView({ block: "center" });
    }
    history.replaceState(null, "", step === null ? "#" : `#${step}`);
  },

  // Marks `steps` and selects the first one.
  find(name, steps) {
    app.found = steps;
    if (name !== null && steps.length > 0) app.select(steps[0], { from: "search" });
    else app.mark();
  },

  mark() {
    const found = new Set(app.found);
    for (const mark of document.querySelectorAll("[data-step]")) {
      mark.classList.toggle("selected", +mark.dataset.step === app.selected);
      mark.classList.toggle("found", found.has(+mark.dataset.step));
    }
    const here = `s${app.selected}`;
    for (const edge of document.querySelectorAll("#graph .edge"))
      edge.classList.toggle("selected", edge.dataset.from === here || edge.dataset.to === here);
  },

  show(view) {
    app.view = view;
    hideTip();
    for (const tab of document.querySelectorAll("#tabs [data-view]")) {
      const active = tab.dataset.view === view;
      tab.setAttribute("aria-selected", active);
      document.getElementById(tab.dataset.view).hidden = !active;
      if (active) tab.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    if (app.views[view]) app.views[view].shown();
  },
};

function makeThemeButton() {
  const made = document.getElementById("theme");
  const kinds = ["auto", "light", "dark"], texts = { auto: "◐", light: "☀", dark: "☾" };
  const words = { auto: "light or dark as the system has it", light: "light", dark: "dark" };
  const next = (kind) => kinds[(kinds.indexOf(kind) + 1) % kinds.length];
  const set = (kind) => {
    document.documentElement.dataset.theme = kind;
    made.textContent = texts[kind];
    made.title = `Colours: ${words[kind]}. Press for: ${words[next(kind)]}.`;
    made.setAttribute("aria-label", made.title);
  };
  made.addEventListener("click", () => set(next(document.documentElement.dataset.theme)));
  set("auto");
}

const accuracyTexts = {
  strict: "sums may be added in another order",
  standard: "sums in another order, algorithms that multiply less (Winograd, Strassen), and numbers below 1.2e-38 become 0",
};

function showFacts(plan) {
  document.title = `${plan.model} · korch report`;
  document.getElementById("model").textContent = plan.model;
  const facts = [explained(stepsText(plan), ...stepsMeaning(plan))];
  if (plan.wasRun) facts.push(explained(`${timeText(plan.total)} run step by step`, "the sum of the steps' times, in runs that wait behind each step"));
  else if (plan.allMeasured) facts.push(explained(`${timeText(plan.predicted_us)} predicted`, "the sum of the times of all kernels, each measured alone"));
  else facts.push(explained(`${timeText(plan.predicted_us)} predicted`, plan.timeKind));
  if (plan.measured_us > 0) facts.push(explained(`${timeText(plan.measured_us)} measured whole`, "a whole run, when it was compiled"));
  if (plan.certified) facts.push(explained("proven best for these costs", "no plan of korch's kernels has a smaller sum of times"));
  else facts.push(explained(`gap ${percentText(plan.gap)}`, "by how much at most the plan's predicted time is above that of the best plan, if times and bounds of kernels hold"));
  facts.push(plan.target, explained(`accuracy ${plan.accuracy}`, accuracyTexts[plan.accuracy] || "what products may be rounded to"));
  document.getElementById("facts").replaceChildren(...facts.map((fact) => element("span", "", fact)));
  document.querySelector("#words pre").textContent = plan.text;
}

async function main() {
  makeThemeButton();
  app.plan = prepare(await inflate("data"));
  showFacts(app.plan);
  app.views.timeline = makeTimeline(app.plan, app);
  app.views.memory = makeMemory(app.plan, app);
  app.views.roofline = makeRoofline(app.plan, app);
  app.views.shares = makeShares(app.plan, app);
  makeSearch(app.plan, app);
  for (const tab of document.querySelectorAll("#tabs [data-view]")) tab.addEventListener("click", () => app.show(tab.dataset.view));
  new ResizeObserver(() => app.views[app.view] && app.views[app.view].shown()).observe(document.querySelector("main"));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hideTip();
    if (event.key === "Escape" && document.activeElement !== document.getElementById("search")) app.select(null, {});
    if (event.key === "/" && document.activeElement === document.body) {
      event.preventDefault();
      document.getElementById("search").focus();
    }
  });
  app.show("graph");
  const wanted = Number.parseInt(location.hash.slice(1), 10);
  if (wanted >= 0 && wanted < app.plan.steps.length) app.select(wanted, { from: "link" });
  app.views.graph = await makeGraph(app.plan, app);
  app.mark();
}

main().catch((error) => {
  document.getElementById("facts").textContent = `This page cannot be shown: ${error.message}`;
  throw error;
});
