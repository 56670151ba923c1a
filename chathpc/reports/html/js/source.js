// Source with the time of each line, and what compilers remark.

function sourcePart(view, state) {
  const holder = el("div");
  function build() {
    const metric = state.metric;
    holder.replaceChildren(...view.sources.map((source, at) => file(source, at, metric)));
  }
  function file(source, at, metric) {
    const heat = new Map(source.heat[metric.id] || []);
    const most = Math.max(...heat.values(), 0), sum = [...heat.values()].reduce((all, one) => all + one, 0);
    const remarks = new Map();
    for (const one of source.remarks) remarks.set(one.line, [...(remarks.get(one.line) || []), one]);
    const rows = [];
    source.pieces.forEach((piece, number) => {
      if (number) rows.push(el("tr", { cls: "gap" }, el("td", { colspan: 3 }, "⋯")));
      piece.lines.forEach((text, offset) => {
        const line = piece.first + offset, value = heat.get(line) || 0;
        const share = el("td", { cls: "num heat" }, value ? percentCell(value / metric.total) : "");
        if (value) share.style.backgroundColor = `color-mix(in oklab, var(--heat) ${Math.round(12 + 70 * Math.sqrt(value / most))}%, transparent)`;
        const said = (remarks.get(line) || []).map((one) =>
          el("div", { cls: `remark ${one.good ? "good" : "bad"}` }, el("b", {}, `${one.by}: ${one.said}`), one.text ? el("span", {}, one.text) : ""));
        rows.push(el("tr", { id: `L${at}-${line}`, tabindex: -1 }, share, el("td", { cls: "num ln" }, line), el("td", {}, el("code", {}, text || " "), said)));
      });
    });
    const title = view.files[source.file];
    return el("details", { open: at < 2, cls: "file" },
      el("summary", {}, el("code", {}, title), el("span", { cls: "dim" }, `${percent(sum / metric.total)} in these lines${source.origin === "found" ? "; found by its name" : ""}${source.remarks.length ? `; ${plural(source.remarks.length, "remark")} of the compiler` : ""}`)),
      el("div", { cls: "scroll", role: "region", tabindex: 0, "aria-label": `Source of ${base(title)}` }, el("table", { cls: "code" },
        el("thead", {}, el("tr", {}, el("th", { scope: "col", cls: "num" }, "Time"), el("th", { scope: "col", cls: "num" }, "Line"), el("th", { scope: "col" }, "Source"))), el("tbody", {}, rows))));
  }
  state.onMetric(build);
  build();
  // A link to a line opens the file that it is in.
  const open = () => {
    const row = location.hash.startsWith("#L") ? document.getElementById(location.hash.slice(1)) : null;
    if (!row) return;
    row.closest("details").open = true;
    row.scrollIntoView({ block: "center" });
    row.focus({ preventScroll: true });
  };
  window.addEventListener("hashchange", open);
  document.addEventListener("click", (event) => { if (event.target.closest && event.target.closest('a[href^="#L"]')) setTimeout(open); });
  return section("source", "Source", holder);
}

function kernelRemarks(view) {
  const list = view.kernel_remarks;
  const most = 12;
  const items = list.map((one, at) => el("li", { hidden: at >= most }, el("b", {}, one.remark.said), " ", el("code", {}, view.names[one.name]),
    el("p", {}, one.remark.text), one.speedup ? el("p", { cls: "dim" }, `${one.remark.by} estimates ${percent(one.speedup)} of the kernel's time`) : ""));
  const more = button(`Show all ${list.length}`, () => { for (const item of items) item.hidden = false; more.hidden = true; }, { cls: "more", hidden: list.length <= most });
  return section("remarks", "Remarks of the profiler", el("ul", { cls: "plain remarks" }, items), more);
}
