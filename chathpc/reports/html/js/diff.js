// A comparison: where the difference is, and what became of the findings.

function changeTable(title, rows, unit, what) {
  const largest = Math.max(...rows.map((row) => Math.abs(row.change)), 0) || 1;
  return sortable(title, [
    { title: what, key: (row) => row.name, cls: "name", cell: (row) => [row.name, row.place ? el("code", { cls: "dim" }, ` ${row.place}`) : ""] },
    { title: "Change", number: true, key: (row) => Math.abs(row.change), cell: (row) => el("span", { cls: row.beyond_noise ? (row.change > 0 ? "worse" : "better") : "dim" }, signed(row.change, unit)),
      share: (row) => Math.abs(row.change) / largest, tone: (row) => (row.change > 0 ? "more" : "less") },
    { title: "±", number: true, key: (row) => row.error, text: (row) => quantity(row.error, unit) },
    { title: "Before", number: true, key: (row) => row.before, text: (row) => quantity(row.before, unit) },
    { title: "After", number: true, key: (row) => row.after, text: (row) => quantity(row.after, unit) },
  ], rows, 1, { filter: (row) => row.name }).element;
}

function comparison(found) {
  const unit = found.unit || "";
  const parts = [];
  if (found.shares.length) parts.push(section("shares", "Where it changed", el("p", { cls: "dim" }, "Each second is counted once; the rows add up to the difference between the runs."), changeTable("Where it changed", found.shares, unit, "What")));
  if (found.findings.length) {
    parts.push(section("findings", "Findings", el("ul", { cls: "plain changes" }, found.findings.map((one) =>
      el("li", {}, el("span", { cls: `badge s-${one.status}` }, one.status_words), " ", el("b", {}, one.title), one.place ? el("code", { cls: "dim" }, ` ${one.place}`) : "", el("p", {}, one.cost))))));
  }
  for (const [id, title, rows, what] of [["functions", "Functions (exclusive)", found.functions, "Function"], ["activities", "Kinds of work", found.activities, "Kind"], ["kernels", "GPU kernels", found.kernels, "Kernel"]]) {
    if (rows.length) parts.push(section(id, title, changeTable(title, rows, unit, what)));
  }
  return parts;
}

function sides(found) {
  return el("div", { cls: "pair sides" }, [["Before", found.before], ["After", found.after]].map(([title, side]) =>
    el("div", {}, el("h2", {}, title), el("dl", { cls: "rows" }, pairs([["Run", side.title], ["Total", side.total], ["Read from", side.paths.join(", ")], ["On its own", side.headline]])))));
}
