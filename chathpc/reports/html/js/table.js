// Sortable tables.

const FIRST_ROWS = 25;

/** A table: columns {title, key(row), text(row) or cell(row), number, share(row)}; sorted by a click on a heading. */
function sortable(label, columns, rows, sortedBy, { filter = null, most = FIRST_ROWS } = {}) {
  let by = sortedBy, descending = true, all = false, wanted = "";
  const body = el("tbody");
  const heads = columns.map((column, at) => el("th", { scope: "col", cls: column.number ? "num" : column.cls || "" },
    column.key ? button(column.title, () => sort(at)) : column.title));
  const more = button("", () => { all = !all; fill(); }, { cls: "more" });
  const status = el("span", { cls: "dim", role: "status" });

  function sort(at) {
    descending = by === at ? !descending : Boolean(columns[at].number);
    by = at;
    fill();
  }

  function fill() {
    const key = columns[by].key;
    const kept = rows.filter((row) => !wanted || filter(row).toLowerCase().includes(wanted));
    kept.sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      const order = typeof x === "string" ? x.localeCompare(y) : x - y;
      return descending ? -order : order;
    });
    heads.forEach((head, at) => {
      if (at === by) head.setAttribute("aria-sort", descending ? "descending" : "ascending"); else head.removeAttribute("aria-sort");
    });
    const shown = all || wanted ? kept : kept.slice(0, most);
    body.replaceChildren(...shown.map((row) => el("tr", {}, columns.map((column, at) => {
      const content = column.cell ? column.cell(row) : column.text(row);
      const cell = el(at === 0 ? "th" : "td", { scope: at === 0 ? "row" : null, cls: column.number ? "num" : column.cls || "", title: column.cell ? null : column.title_ && column.title_(row) },
        column.share ? [bar(column.share(row), column.tone && column.tone(row)), el("span", { cls: "v" }, content)] : content);
      return cell;
    }))));
    more.hidden = Boolean(wanted) || kept.length <= most;
    more.textContent = all ? "Show fewer" : `Show all ${kept.length.toLocaleString("en")}`;
    status.textContent = wanted ? plural(kept.length, "row") : "";
  }

  const table = el("div", { cls: "scroll", role: "region", "aria-label": `Table: ${label}`, tabindex: 0 }, el("table", {}, el("thead", {}, el("tr", {}, heads)), body));
  const input = filter && rows.length > 10 ? el("input", {
    type: "search", placeholder: "Filter", "aria-label": `Filter: ${label}`, spellcheck: "false",
    oninput: () => { wanted = input.value.trim().toLowerCase(); fill(); },
  }) : null;
  fill();
  return { element: el("div", { cls: "sortable" }, input ? el("div", { cls: "tools" }, input, status) : "", table, more), fill };
}

/** A bar of a share of the whole, behind a number. */
function bar(share, tone) {
  const inner = el("i", { cls: tone || "", hidden: !(share > 0) });
  inner.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return el("span", { cls: "bar", "aria-hidden": "true" }, inner);
}

/** The tables of functions and of lines. */
function rowTable(view, state, rows, id, title, what) {
  const holder = el("div");
  function build() {
    const metric = state.metric;
    const own = rows.exclusive[metric.id], below = rows.inclusive[metric.id];
    const list = rows.name.map((_, at) => at).filter((at) => own[at] !== 0 || below[at] !== 0);
    const placeOf = (at) => placed(view.files, rows.file[at], rows.line[at]);
    const columns = [
      { title: what, key: (at) => (what === "Line" ? placeOf(at) : view.names[rows.name[at]]), cls: "name", cell: (at) => nameCell(at) },
      { title: "Exclusive", number: true, key: (at) => own[at], text: (at) => quantity(own[at], metric.unit) },
      { title: "% itself", number: true, key: (at) => own[at], text: (at) => percentCell(own[at] / metric.total), share: (at) => own[at] / metric.total, tone: (at) => `g-${view.groups[rows.group[at]]}` },
      { title: "Inclusive", number: true, key: (at) => below[at], text: (at) => quantity(below[at], metric.unit) },
      { title: "% with callees", number: true, key: (at) => below[at], text: (at) => percentCell(below[at] / metric.total) },
      what === "Line" ? { title: "Function", key: (at) => view.names[rows.name[at]], cls: "name", text: (at) => view.names[rows.name[at]] }
        : { title: "Place", key: placeOf, cls: "place", cell: (at) => linked(view, rows.file[at], rows.line[at]) },
      { title: "Module", key: (at) => (rows.module[at] < 0 ? "" : base(view.modules[rows.module[at]])), cls: "place", text: (at) => (rows.module[at] < 0 ? "" : base(view.modules[rows.module[at]])) },
    ];
    function nameCell(at) {
      if (what === "Line") return linked(view, rows.file[at], rows.line[at]) || "no line";
      const name = view.names[rows.name[at]];
      return state.find ? button(name, () => state.find(name), { cls: "link", title: `${name}\nShow in the call tree` }) : name;
    }
    const known = columns.filter((column) => column.cls !== "place" || list.some(column.key)); // without columns in which nothing is known
    holder.replaceChildren(sortable(title, known, list, 1, { filter: (at) => `${view.names[rows.name[at]]} ${placeOf(at)}` }).element);
  }
  state.onMetric(build);
  build();
  return section(id, title, holder, rows.left_out ? el("p", { cls: "dim note" }, `${plural(rows.left_out, "row")} with smaller values not listed.`) : "");
}

/** A place, which leads to its source where that is shown. */
function linked(view, file, line) {
  const text = placed(view.files, file, line);
  const at = view.sources.findIndex((source) => source.file === file);
  const has = at >= 0 && view.sources[at].pieces.some((piece) => line >= piece.first && line < piece.first + piece.lines.length);
  return has ? el("a", { href: `#L${at}-${line}` }, text) : text;
}
