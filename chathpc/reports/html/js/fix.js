// What chathpc fix tried: the change that was kept, and every attempt with its gates.

function attempts(page) {
  const found = page.fix;
  const card = (one, number) => el("details", { cls: "finding", open: one.accepted },
    el("summary", {}, el("span", { cls: "number" }, String(number)), el("span", { cls: "title" }, one.title),
      el("span", { cls: "where" }, el("span", { cls: `badge ${one.accepted ? "s-gone" : "s-same"}` }, one.verdict)), el("span", { cls: "cost num" }, one.speedup)),
    el("div", { cls: "body" }, el("p", {}, one.reason), el("dl", { cls: "rows" }, pairs([["For", one.finding], ["Files", one.files.join(", ")], ["Flags", one.flags], ["By", one.proposer], ["Id", one.id]])),
      el("h3", {}, "Gates"), el("ol", { cls: "plain gates" }, one.gates.map((gate) => el("li", {}, el("b", { cls: gate.passed ? "better" : "worse" }, `${gate.passed ? "✓" : "✗"} ${gate.gate}`), " ", gate.statement)))));
  return [
    found.figures.length ? el("dl", { cls: "figures" }, found.figures.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))) : "",
    found.patch.length ? section("patch", "Change", patch(found.patch)) : "",
    section("attempts", found.attempts.length ? "Tried" : "Nothing was tried", found.attempts.map((one, at) => card(one, at + 1))),
    found.baselines.length ? section("baselines", "The compiler alone", el("ul", { cls: "plain" }, found.baselines.map((one) => el("li", {}, el("code", {}, one.flags), " ", one.statement)))) : "",
  ];
}
