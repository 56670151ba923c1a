// Ranks × threads: a heat map and the distribution of the chosen place.

function threadsPart(view, state) {
  const data = view.threads;
  const metric = view.metrics.find((one) => one.id === data.metric) || { unit: "s" };
  const ranks = [...new Set(data.rank)], threads = [...new Set(data.thread)];
  const grid = ranks.length > 1 && threads.length > 1;
  const names = data.places.map((place) => (place < 0 ? "the whole program" : view.names[place]));
  let chosen = data.places.length > 1 ? 1 : 0, order = "number", boxes = [];
  const map = el("canvas", { role: "img" }), bars = el("canvas", { role: "img" });
  const figures = el("dl", { cls: "figures" });
  const values = el("div");
  const label = (at) => [data.rank[at] >= 0 ? `rank ${data.rank[at]}` : "", data.thread[at] >= 0 && (threads.length > 1 || data.rank[at] < 0) ? `thread ${data.thread[at]}` : ""].filter(Boolean).join(", ") || `location ${at}`;

  function draw() {
    const list = data.values[chosen];
    const top = Math.max(...list, 0), low = Math.min(...list), mean = list.reduce((sum, one) => sum + one, 0) / list.length;
    const busiest = list.indexOf(top), idle = list.indexOf(low);
    const said = `${names[chosen]}: ${quantity(low, metric.unit)} at least (${label(idle)}), ${quantity(mean, metric.unit)} on average, ${quantity(top, metric.unit)} at most (${label(busiest)})`;
    figures.replaceChildren(...[
      ["Minimum", `${quantity(low, metric.unit)}`, label(idle)], ["Mean", quantity(mean, metric.unit), ""], ["Maximum", quantity(top, metric.unit), label(busiest)],
      ["Maximum/mean", mean > 0 ? `${digits(top / mean)}x` : "–", ""],
    ].flatMap(([name, value, where]) => el("div", {}, el("dt", {}, name), el("dd", {}, value, where ? el("span", { cls: "dim" }, where) : ""))));
    map.setAttribute("aria-label", `Heat map. ${said}.`);
    bars.setAttribute("aria-label", `Distribution. ${said}.`);
    heat(list, top);
    distribution(list, top, mean);
  }

  function shade(part) {
    return `color-mix(in oklab, ${colour("hot")} ${Math.round(part * 100)}%, ${colour("cold")})`;
  }

  function heat(list, top) {
    boxes = [];
    if (!map.isConnected) return;
    const room = map.parentElement.clientWidth - 58;
    const columns = grid ? threads.length : Math.min(list.length, 64, Math.max(8, Math.floor(room / 14)));
    const lines = grid ? ranks.length : Math.ceil(list.length / columns);
    const size = Math.max(2, Math.min(grid ? 28 : 34, Math.floor(room / columns), Math.floor(420 / lines)));
    const [context, width] = prepared(map, lines * size + 22);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    const rankAt = new Map(ranks.map((one, at) => [one, at])), threadAt = new Map(threads.map((one, at) => [one, at]));
    const gap = size > 5 ? 1 : 0;
    list.forEach((value, at) => {
      const x = 50 + (grid ? threadAt.get(data.thread[at]) : at % columns) * size;
      const y = (grid ? rankAt.get(data.rank[at]) : Math.floor(at / columns)) * size;
      context.fillStyle = shade(top > 0 ? value / top : 0);
      context.fillRect(x, y, size - gap, size - gap);
      boxes.push([x, y, size, at]);
    });
    context.fillStyle = colour("soft");
    const every = Math.max(1, Math.ceil(14 / size));
    for (let line = 0; line < lines && (grid || lines > 1); line += every) {
      context.fillText(String(grid ? ranks[line] : ranks.length > 1 ? data.rank[line * columns] : data.thread[line * columns]), 24, line * size + size / 2);
    }
    context.save();
    context.translate(8, (lines * size) / 2);
    context.rotate(-Math.PI / 2);
    context.textAlign = "center";
    if (grid && lines * size > 30) context.fillText(grid || ranks.length > 1 ? "rank" : "thread", 0, 0);
    context.restore();
    if (grid) context.fillText(`thread ${threads[0]} to ${threads[threads.length - 1]}`, 50, lines * size + 12);
    else context.fillText(`${plural(list.length, ranks.length > 1 ? "rank" : "thread")}, ${Math.min(columns, list.length)} a line`, 50, lines * size + 12);
    map.dataset.width = String(width);
  }

  /** Few locations: a bar for each. Many: how many lie in each part of the range. */
  function distribution(list, top, mean) {
    if (!bars.isConnected) return;
    const high = 150;
    const [context, width] = prepared(bars, high + 20);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    const left = 58;
    const few = list.length <= 128;
    const sorted = order === "size" ? [...list].sort((a, b) => b - a) : list;
    let heights = sorted, highest = top || 1;
    if (!few) {
      heights = new Array(40).fill(0);
      for (const value of list) heights[Math.min(39, Math.floor((value / (top || 1)) * 40))]++;
      highest = Math.max(...heights);
    }
    const step = Math.min(56, (width - left - 4) / heights.length);
    context.strokeStyle = colour("line");
    context.fillStyle = colour("soft");
    for (const part of [0, 0.5, 1]) {
      const y = 6 + (high - 6) * (1 - part);
      context.beginPath();
      context.moveTo(left, Math.round(y) + 0.5);
      context.lineTo(width, Math.round(y) + 0.5);
      context.stroke();
      context.textAlign = "right";
      context.fillText(few ? quantity(highest * part, metric.unit) : String(Math.round(highest * part)), left - 6, y);
    }
    context.fillStyle = colour("accent");
    heights.forEach((value, at) => {
      const tall = (value / highest) * (high - 6);
      context.fillRect(left + at * step, high - tall, Math.max(1, step - (step > 4 ? 2 : 0)), tall);
    });
    context.textAlign = "left";
    context.fillStyle = colour("soft");
    if (few) {
      const y = 6 + (high - 6) * (1 - mean / highest);
      context.setLineDash([4, 3]);
      context.strokeStyle = colour("ink");
      context.beginPath();
      context.moveTo(left, y);
      context.lineTo(left + step * heights.length, y);
      context.stroke();
      context.setLineDash([]);
      context.fillText(`${order === "size" ? "largest first" : "by number"}; dashed: mean`, left, high + 11);
    } else {
      context.fillText(`0 to ${quantity(top, metric.unit)}; height: number of ${ranks.length > 1 && !grid ? "ranks" : "threads"}`, left, high + 11);
    }
  }

  map.addEventListener("mousemove", (event) => {
    const box = map.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const hit = boxes.find(([left, above, size]) => x >= left && x < left + size && y >= above && y < above + size);
    if (hit) showTip(event, [label(hit[3]), quantity(data.values[chosen][hit[3]], metric.unit)]); else hideTip();
  });
  map.addEventListener("mouseleave", hideTip);

  const table = el("details", { ontoggle: () => listValues() }, el("summary", {}, "Values as a table"), values);
  function listValues() {
    if (!table.open) return;
    const rows = data.rank.map((_, at) => at);
    values.replaceChildren(sortable("Values by rank and thread", [
      { title: "Where", key: (at) => at, text: label }, { title: "Value", number: true, key: (at) => data.values[chosen][at], text: (at) => quantity(data.values[chosen][at], metric.unit) },
    ], rows, 1).element);
  }
  drawn(draw);
  queueMicrotask(draw);
  return section("threads", ranks.length > 1 ? (grid ? "Ranks and threads" : "Ranks") : "Threads",
    el("div", { cls: "tools" },
      choice("Place", names.map((name, at) => [String(at), cut(name, 70)]), (value) => { chosen = Number(value); draw(); listValues(); }, String(chosen)),
      switcher("Order of the bars", [["number", "By number"], ["size", "By size"]], (key) => { order = key; draw(); }, order)),
    figures, el("div", { cls: "pair" }, el("div", {}, map), el("div", {}, bars)), table,
    el("p", { cls: "dim note" }, "Inclusive time of the place.", data.left_out ? ` ${plural(data.left_out, "location")} between those shown omitted.` : ""));
}
