// The timeline: a lane for each device queue, rank and thread; zoomed by buttons, keys, dragging and the wheel with Ctrl.

const LANE = 20;

function timelinePart(view) {
  const data = view.timeline;
  const canvas = el("canvas");
  const stage = el("div", {
    cls: "stage lanes", tabindex: 0, role: "application", "aria-roledescription": "timeline",
    "aria-label": "Timeline. Left and right move, plus and minus zoom, up and down choose a lane, 0 shows all.", "aria-describedby": "span",
  }, canvas);
  const said = el("p", { id: "span", cls: "frame", "aria-live": "polite" });
  let from = 0, to = data.length, lane = 0, drag = null, gutter = 150;
  const nameOf = (one, at) => view.names[one.name[at]];
  const owners = data.lanes.map((one) => one.owner);

  function rows() {
    let y = 4;
    return data.lanes.map((one, at) => {
      if (at === 0 || owners[at] !== owners[at - 1]) y += 18;
      const top = y;
      y += LANE;
      return top;
    });
  }

  function draw() {
    if (!stage.isConnected) return;
    const tops = rows();
    const height = tops[tops.length - 1] + LANE + 24;
    const [context, width] = prepared(canvas, height);
    gutter = width < 560 ? 86 : 190;
    const scale = (width - gutter) / (to - from);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    const ink = colour("ink"), soft = colour("soft"), line = colour("line"), text = colour("cell-text");
    const groups = new Map(view.groups.map((group) => [group, colour(`g-${group}`)]));
    const base = height - 14;
    context.fillStyle = soft;
    const step = nice(((to - from) / Math.max(2, (width - gutter) / 110)));
    for (let tick = Math.ceil(from / step) * step; tick <= to; tick += step) {
      const x = gutter + (tick - from) * scale;
      context.fillStyle = line;
      context.fillRect(Math.round(x), 20, 1, base - 26);
      context.fillStyle = soft;
      context.textAlign = x > width - 30 ? "right" : "center";
      if (x > gutter - 1) context.fillText(quantity(tick / 1e9, "s"), Math.min(x, width), base + 2);
    }
    context.textAlign = "left";
    data.lanes.forEach((one, at) => {
      const y = tops[at];
      if (at === 0 || owners[at] !== owners[at - 1]) {
        context.fillStyle = ink;
        context.font = "600 11px system-ui, sans-serif";
        context.fillText(one.owner, 2, y - 9);
        context.font = "11px system-ui, sans-serif";
      }
      context.fillStyle = at === lane && document.activeElement === stage ? ink : soft;
      context.fillText(fitted(context, one.title, gutter - 14), 8, y + LANE / 2);
      context.fillStyle = line;
      context.fillRect(gutter, y + LANE - 1, width - gutter, 1);
      let last = -1;
      for (let i = first(one); i < one.start.length && one.start[i] < to; i++) {
        const stop = one.start[i] + one.length[i];
        if (stop < from) continue;
        const x = Math.max(gutter, gutter + (one.start[i] - from) * scale);
        const w = Math.min(width, gutter + (stop - from) * scale) - x;
        if (w < 0.5 && Math.round(x) === last) continue;
        last = Math.round(x);
        context.fillStyle = groups.get(one.groups.length ? view.groups[one.groups[i]] : one.group);
        context.globalAlpha = one.count[i] > 1 ? 0.8 : 1;
        context.fillRect(x, y + 2, Math.max(0.7, w - (w > 4 ? 0.6 : 0)), LANE - 5);
        context.globalAlpha = 1;
        if (w > 34) {
          context.fillStyle = text;
          context.fillText(fitted(context, (one.count[i] > 1 ? `${one.count[i]} × ${nameOf(one, i)}` : nameOf(one, i)).slice(0, Math.ceil(w / 4)), w - 6), x + 3, y + LANE / 2 - 0.5);
        }
      }
    });
    said.textContent = describe();
  }

  /** The first interval of a lane that may be in view: lanes are sorted by start, long intervals may begin before. */
  function first(one) {
    if (from === 0) return 0;
    one.longest ??= one.length.reduce((most, length) => Math.max(most, length), 0);
    let low = 0, high = one.start.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (one.start[middle] < from - one.longest) low = middle + 1; else high = middle;
    }
    return low;
  }

  function describe() {
    const one = data.lanes[lane];
    let busy = 0, events = 0, reached = from;
    const longest = new Map();
    for (let i = first(one); i < one.start.length && one.start[i] < to; i++) {
      const begin = Math.max(one.start[i], reached), stop = Math.min(to, one.start[i] + one.length[i]);
      if (stop <= from) continue;
      events += one.count[i];
      if (stop > begin) { busy += stop - begin; reached = stop; longest.set(one.name[i], (longest.get(one.name[i]) || 0) + stop - begin); }
    }
    const most = [...longest].sort((a, b) => b[1] - a[1])[0];
    return `${one.owner}, ${one.title}: ${quantity(from / 1e9, "s")} to ${quantity(to / 1e9, "s")}, busy ${percent(busy / (to - from))}, ${plural(events, "event")}${most ? `, most ${cut(view.names[most[0]], 60)}` : ""}`;
  }

  function nice(raw) {
    const ten = 10 ** Math.floor(Math.log10(raw));
    return [1, 2, 5, 10].map((one) => one * ten).find((one) => one >= raw);
  }

  function show(begin, end) {
    const span = Math.min(data.length, Math.max(Math.max(100, data.resolution / 50), end - begin));
    from = Math.max(0, Math.min(begin, data.length - span));
    to = from + span;
    draw();
  }

  function zoom(factor, middle = (from + to) / 2) {
    show(middle - (middle - from) * factor, middle + (to - middle) * factor);
  }

  const timeAt = (event) => from + ((event.clientX - canvas.getBoundingClientRect().left - gutter) / (canvas.clientWidth - gutter)) * (to - from);

  function laneAt(event) {
    const y = event.clientY - canvas.getBoundingClientRect().top;
    return rows().findIndex((top) => y >= top && y < top + LANE);
  }

  canvas.addEventListener("mousedown", (event) => {
    drag = { x: event.clientX, from, to };
    const hit = laneAt(event);
    if (hit >= 0) lane = hit;
  });
  window.addEventListener("mouseup", () => { drag = null; });
  canvas.addEventListener("mousemove", (event) => {
    if (drag) {
      const moved = ((event.clientX - drag.x) / (canvas.clientWidth - gutter)) * (drag.to - drag.from);
      hideTip();
      return show(drag.from - moved, drag.to - moved);
    }
    const hit = laneAt(event), time = timeAt(event);
    if (hit < 0 || time < from) return hideTip();
    const one = data.lanes[hit];
    const slack = (1.5 * (to - from)) / canvas.clientWidth;
    let found = -1;
    for (let i = first(one); i < one.start.length && one.start[i] <= time + slack; i++) if (one.start[i] + one.length[i] + slack >= time) found = i;
    if (found < 0) return hideTip();
    const together = one.count[found] > 1;
    return showTip(event, [together ? `${one.count[found]} events, longest ${nameOf(one, found)}` : nameOf(one, found), `${quantity(one.length[found] / 1e9, "s")}${together ? " in all" : ""}, at ${quantity(one.start[found] / 1e9, "s")}`, `${one.owner} · ${one.title}`]);
  });
  canvas.addEventListener("mouseleave", hideTip);
  canvas.addEventListener("dblclick", (event) => zoom(0.4, timeAt(event)));
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : 0.8, timeAt(event));
  }, { passive: false });
  stage.addEventListener("keydown", (event) => {
    const span = to - from;
    if (event.key === "ArrowLeft") show(from - span / 5, to - span / 5);
    else if (event.key === "ArrowRight") show(from + span / 5, to + span / 5);
    else if (event.key === "+" || event.key === "=") zoom(0.6);
    else if (event.key === "-") zoom(1.6);
    else if (event.key === "0" || event.key === "Home") show(0, data.length);
    else if (event.key === "ArrowDown") { lane = Math.min(data.lanes.length - 1, lane + 1); draw(); }
    else if (event.key === "ArrowUp") { lane = Math.max(0, lane - 1); draw(); }
    else return;
    event.preventDefault();
  });
  stage.addEventListener("focus", draw);
  stage.addEventListener("blur", draw);
  drawn(draw);
  queueMicrotask(draw);
  return section("timeline", "Timeline",
    el("div", { cls: "tools" }, button("Zoom in", () => zoom(0.5)), button("Zoom out", () => zoom(2)), button("All", () => show(0, data.length))),
    stage, said,
    el("p", { cls: "dim note" }, `Drag to move; Ctrl and the wheel zoom. Events shorter than ${quantity(data.resolution / 1e9, "s")} are drawn with their neighbours.`,
      data.left_out ? ` ${plural(data.left_out, "lane")} not shown.` : ""));
}
