// Puts the page together: what is there is shown, what was not measured has no place.

// Until the browser has painted what is there.
function painted() {
  return new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
}

async function start() {
  const page = JSON.parse(document.getElementById("data").textContent);
  const view = page.view;
  const listeners = [];
  const state = { metric: view && view.metrics.length ? view.metrics[0] : null, find: null, onMetric: (call) => listeners.push(call) };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  root.dataset.theme = dark.matches ? "dark" : "light";

  const tools = el("div", { cls: "bar-tools" },
    view && view.metrics.length > 1 ? choice("Metric", view.metrics.map((one) => [one.id, `${one.title} (${quantity(one.total, one.unit)})`].map((text) => cut(text, 64))), (id) => {
      state.metric = view.metrics.find((one) => one.id === id);
      for (const call of listeners) call();
    }, state.metric.id) : "",
    button("Dark or light", () => { root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark"; redraw(); }),
    button("Print", () => print()));
  dark.addEventListener("change", () => { root.dataset.theme = dark.matches ? "dark" : "light"; redraw(); });

  const main = document.getElementById("main");
  const has = (name) => view && view[name] && (!Array.isArray(view[name]) || view[name].length > 0);
  main.append(head(page), page.comparison ? sides(page.comparison) : "", short(page), has("functions") && state.metric && page.kind === "report" ? timeBar(page, view, state) : "");
  await painted(); // The verdict is read while the rest is built.
  const tree = has("tree") && view.tree.parent.length && state.metric ? flameGraph(view, state) : null;
  const parts = [
    page.kind === "report" ? findings(page, state) : "",
    page.suspected.length || page.statements.length ? suspicions(page, state) : "",
    page.kind === "fix" ? attempts(page) : "",
    page.comparison ? comparison(page.comparison) : "",
    tree ? tree.element : "",
    has("functions") && view.functions.name.length ? rowTable(view, state, view.functions, page.kind === "report" ? "functions" : "tree-functions", "Functions", "Function") : "",
    has("lines") && view.lines.file.some((file) => file >= 0) ? rowTable(view, state, view.lines, "lines", "Lines", "Line") : "",
    has("threads") ? threadsPart(view, state) : "",
    has("timeline") ? timelinePart(view) : "",
    has("roofline") ? rooflinePart(view) : "",
    has("kernel_remarks") ? kernelRemarks(view) : "",
    has("sources") ? sourcePart(view, state) : "",
    page.kind === "fix" && !page.limits.length ? "" : limits(page),
  ].flat().filter(Boolean);
  const links = parts.filter((part) => part.id).map((part) => el("li", {}, el("a", { href: `#${part.id}` }, part.querySelector("h2").textContent)));
  document.getElementById("top").append(el("nav", { "aria-label": "Parts of the page" }, el("ul", {}, links)), tools);
  main.append(...parts);
  main.append(el("footer", {}, el("p", { cls: "dim" }, page.checked)));
  document.body.append(tip);
  redraw();

  let pending = 0;
  window.addEventListener("resize", () => { cancelAnimationFrame(pending); pending = requestAnimationFrame(redraw); });
  let theme = "light", closed = [];
  window.addEventListener("beforeprint", () => {
    theme = root.dataset.theme;
    root.dataset.theme = "light";
    closed = [...document.querySelectorAll("details:not([open])")].filter((one) => !one.classList.contains("fact"));
    for (const one of closed) one.open = true;
    redraw();
  });
  window.addEventListener("afterprint", () => {
    root.dataset.theme = theme;
    for (const one of closed) one.open = false;
    redraw();
  });
  document.addEventListener("keydown", (event) => {
    const box = document.querySelector("#tree input[type=search]");
    if (event.key === "/" && box && !/INPUT|SELECT|TEXTAREA/.test(event.target.tagName)) { event.preventDefault(); box.focus(); }
  });
  root.dataset.ready = "true";
}

start();
