// Verdict, findings with their facts, what models suspect, and what was not examined.

function facts(page) {
  const byId = new Map(page.evidence.map((one) => [one.id, one]));
  /** A fact; where it comes from is a click away. */
  return (id) => {
    const one = byId.get(id);
    if (!one) return el("li", {}, id);
    return el("li", {}, el("details", { cls: "fact" }, el("summary", {}, el("b", {}, id), " ", one.statement),
      el("dl", { cls: "rows" }, pairs([["From", one.source], ["Metric", one.metric], ["Place", one.place], ...one.parts.map((part) => [part.label, part.value])]))));
  };
}

function pairs(list) {
  return list.filter(([, value]) => value && (!Array.isArray(value) || value.length)).map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)));
}

/** `text` with numbers and their units on one line. */
function tied(text) {
  return text.replace(/(\d) (?=(%|[numk]?s|µs|h|[kMGTPE]?B)(\W|$))/g, "$1\u00a0");
}

function place(where, state) {
  const shown = [where.name ? (state && state.find && where.find ? button(where.name, () => state.find(where.find), { cls: "link", title: "Show in the call tree" }) : el("code", {}, where.name)) : "",
    where.place ? el("code", { cls: "dim" }, where.place) : ""];
  return el("span", { cls: "where" }, shown);
}

function head(page) {
  return el("header", { cls: "verdict" }, el("p", { cls: "run" }, page.run.join(" · ")),
    el("h1", {}, el("span", { cls: `badge v-${page.verdict}` }, page.verdict_words), " ", tied(page.headline)));
}

/** The largest functions by themselves: name, share and class of each. */
function functionParts(view, metric) {
  const rows = view.functions, own = rows.exclusive[metric.id];
  return own.map((_, at) => at).filter((at) => own[at] >= 0.015 * metric.total && own[at] > 0).sort((a, b) => own[b] - own[a]).slice(0, 7)
    .map((at) => [view.names[rows.name[at]], own[at] / metric.total, `g-${view.groups[rows.group[at]]}`]);
}

/** Where the metric is spent, as one bar: of the first metric the flat profile, of any other the largest functions by themselves. */
function timeBar(page, view, state) {
  const holder = el("div", { cls: "split" });
  function build() {
    const metric = state.metric, parts = page.flat.length && metric === view.metrics[0]
      ? page.flat.map(([name, share, own]) => [name, share, own ? "g-own" : "g-library"]) : functionParts(view, metric);
    const rest = 1 - parts.reduce((sum, one) => sum + one[1], 0);
    if (rest > 0.001) parts.push(["all others", rest, "g-other"]);
    const line = el("div", { cls: "stack", "aria-hidden": "true" }, parts.map(([name, share, cls]) => {
      const piece = el("i", { cls });
      piece.style.flexGrow = String(share);
      piece.addEventListener("mousemove", (event) => showTip(event, [name, percent(share)]));
      piece.addEventListener("mouseleave", hideTip);
      return piece;
    }));
    holder.replaceChildren(line, el("ul", { cls: "legend" }, parts.map(([name, share, cls]) =>
      el("li", {}, el("i", { cls: `swatch ${cls}` }), cut(name, 48), el("span", { cls: "dim" }, percent(share))))));
  }
  state.onMetric(build);
  build();
  return holder;
}

function findings(page, state) {
  const fact = facts(page);
  const parts = page.findings.map((one, at) => el("details", { cls: "finding", open: at === 0 },
    el("summary", {}, el("span", { cls: "number" }, at + 1), el("span", { cls: "title" }, one.title), place(one.where, null),
      el("span", { cls: "cost num" }, one.cost, bar(one.share, "hurt"))),
    el("div", { cls: "body" },
      one.summary ? el("p", {}, one.summary) : "",
      el("h3", {}, "Evidence"), el("ul", { cls: "plain facts" }, one.evidence.map(fact)),
      el("dl", { cls: "rows" }, pairs([
        ["Place", one.where.name || one.where.place ? place(one.where, state) : ""],
        ["Path", one.path], ["Code", one.source ? el("code", {}, one.source) : ""],
        ["Change", one.diff.length ? [el("p", {}, one.proposed), patch(one.diff, `Lines of change ${at + 1}`)] : ""],
        [one.diff.length ? "Or" : "Change", one.advice.length ? el("ul", { cls: "plain" }, one.advice.map((text) => el("li", {}, text))) : ""],
        ["Gain", one.gain], ["Confidence", one.sure], ["Next", one.next],
      ])))));
  return section("findings", page.findings.length ? "Findings" : "No finding", ...parts, page.findings.length ? "" : el("p", { cls: "dim" }, "No cause was found that costs enough to be worth a change."));
}

function suspicions(page, state) {
  return section("suspected", "Suspected", el("p", { cls: "dim" }, page.readers),
    page.suspected.map((one) => el("details", { cls: "finding reading", open: true },
      el("summary", {}, el("span", { cls: "number" }, one.id), el("span", { cls: "title" }, one.title), place(one.where, null)),
      el("div", { cls: "body" }, el("p", { cls: "said" }, one.mechanism),
        el("dl", { cls: "rows" }, pairs([["Place", place(one.where, state)], ["Confidence", one.standing],
          ["Against", one.against.length ? el("ul", { cls: "plain" }, one.against.map((text) => el("li", {}, text))) : ""], ["Trial", one.trial]])),
        one.change.length ? el("h3", {}, "Proposed, not tried") : "", one.change.length ? patch(one.change, `Lines of the change of ${one.id}`) : ""))),
    page.statements.length ? el("h3", {}, "Read in the source") : "",
    page.statements.length ? el("ul", { cls: "plain" }, page.statements.map((one) => el("li", { cls: "said" }, one.text, one.cites ? el("span", { cls: "dim" }, ` [${one.cites}]`) : ""))) : "");
}

/** Lines of a change, coloured by their first character; each region of a page has a name of its own. */
function patch(lines, label = "Lines of the change") {
  return el("div", { cls: "scroll", role: "region", tabindex: 0, "aria-label": label }, el("pre", { cls: "patch" }, lines.map((line) =>
    el("span", { cls: /^(---|\+\+\+) /.test(line) ? "" : line.startsWith("+") ? "plus" : line.startsWith("-") ? "minus" : "" }, `${line}\n`))));
}

function short(page) {
  if (!page.short.length && !page.note) return "";
  return el("div", { cls: "short" }, page.author ? el("p", { cls: "dim" }, page.author) : "",
    page.short.length ? el("p", {}, page.short.flatMap((one) => [one.text, one.cites ? el("span", { cls: "dim" }, ` [${one.cites}] `) : " "])) : "",
    page.note ? el("p", { cls: "dim" }, page.note) : "");
}

function limits(page) {
  const fact = facts(page);
  return section("limits", "Facts and limits",
    page.uncited.length ? [el("h3", {}, "Also measured"), el("ul", { cls: "plain facts" }, page.uncited.map(fact))] : "",
    page.limits.length ? [el("h3", {}, "Bear in mind"), el("ul", {}, page.limits.map((text) => el("li", {}, text)))] : "",
    page.missing.length ? [el("h3", {}, "Not collected"), el("dl", { cls: "rows wide" }, page.missing.map(([what, how, why]) => el("div", {}, el("dt", {}, what), el("dd", {}, el("code", {}, how), " ", why))))] : "",
    page.examined.length ? [el("h3", {}, "Examined"), el("ul", { cls: "plain" }, page.examined.map((text) => el("li", {}, text)))] : "",
    el("details", {}, el("summary", {}, "How this was made"), el("dl", { cls: "rows" }, pairs(page.making))));
}
