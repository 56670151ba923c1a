// Flame graph and icicle on a canvas: search, zoom, from the leaves up, colours of a comparison.

const ROW = 18;
const FADED = 0.28;

function flameGraph(view, state) {
  const canvas = el("canvas");
  const stage = el("div", {
    cls: "stage flame", tabindex: 0, role: "application", "aria-roledescription": "flame graph",
    "aria-label": "Call tree. Arrow keys move, Enter zooms in, Escape zooms out.", "aria-describedby": "frame",
  }, canvas);
  const frame = el("p", { id: "frame", cls: "frame", "aria-live": "polite" });
  const matches = el("span", { cls: "dim", role: "status" });
  const trail = el("nav", { cls: "trail", "aria-label": "Zoom" });
  const legend = el("ul", { cls: "legend", "aria-label": "Colours" });
  const differs = Object.keys(view.tree.before).length > 0;
  let shape = "icicle", tree, zoomed = 0, selected = 0, found = null, cells = [], width = 0;

  const unit = () => state.metric.unit;
  const nameOf = (node) => (tree.name[node] === ROOT ? "the whole run" : view.names[tree.name[node]]);

  function rebuild() {
    const down = topDown(view, state.metric.id);
    tree = shape === "callers" ? bottomUp(down) : down;
    zoomed = selected = 0;
    look(input.value);
    describe();
    key(down);
  }

  function look(text) {
    found = null;
    matches.textContent = "";
    if (text.trim()) {
      const [nodes, share] = search(tree, view.names, text.trim());
      found = nodes;
      matches.textContent = nodes.size ? `${plural(nodes.size, "place")}, ${percent(share)} in total` : "No match";
    }
    draw();
  }

  /** What each group of places has of the whole. */
  function key(down) {
    if (differs) {
      legend.replaceChildren(...[["less", "less than before"], ["even", "as before"], ["more", "more than before"]].map(
        ([cls, text]) => el("li", {}, el("i", { cls: `swatch ${cls}` }), text)));
      return;
    }
    const sums = new Map();
    for (let i = 1; i < down.own.length; i++) sums.set(down.group[i], (sums.get(down.group[i]) || 0) + down.own[i]);
    legend.replaceChildren(...[...sums].filter(([, sum]) => sum > 0).sort((a, b) => b[1] - a[1]).map(([group, sum]) =>
      el("li", {}, el("i", { cls: `swatch g-${view.groups[group]}` }), GROUP_WORDS[view.groups[group]], el("span", { cls: "dim" }, percent(sum / down.all[0])))));
  }

  function fill(node, palette) {
    if (tree.name[node] === ROOT) return palette.whole;
    if (differs) {
      const change = tree.allAfter[node] - tree.allBefore[node];
      const part = Math.min(1, Math.abs(change) / (0.1 * tree.all[0]));
      if (part < 0.02) return palette.even;
      return `color-mix(in srgb, ${change > 0 ? palette.more : palette.less} ${Math.round(25 + 75 * part)}%, ${palette.even})`;
    }
    return palette.groups[tree.group[node]];
  }

  function rows() {
    let deepest = 1;
    for (let i = zoomed; i < tree.end[zoomed]; i++) {
      if (tree.all[i] * width >= 0.5 * tree.all[zoomed]) deepest = Math.max(deepest, tree.depth[i] + 1);
    }
    return Math.min(deepest, 400);
  }

  function draw() {
    if (!stage.isConnected) return;
    width = Math.max(50, stage.clientWidth);
    const levels = rows();
    const height = levels * ROW + 1;
    const [context] = prepared(canvas, height);
    const palette = {
      groups: view.groups.map((group) => colour(`g-${group}`)), whole: colour("whole"), text: colour("cell-text"),
      less: colour("less"), more: colour("more"), even: colour("even"), mark: colour("mark"), paper: colour("paper"), focus: colour("focus"),
    };
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    const left = tree.left[zoomed], span = tree.all[zoomed] / (tree.all[0] || 1) || 1;
    const path = new Set();
    for (let i = zoomed; i >= 0; i = tree.parent[i]) path.add(i);
    cells = [];
    let i = 0;
    while (i < tree.parent.length) {
      const above = path.has(i);
      const x = above ? 0 : ((tree.left[i] - left) / span) * width;
      const w = above ? width : (tree.all[i] / (tree.all[0] || 1) / span) * width;
      if (w < 0.4 || x > width || x + w < 0 || tree.depth[i] >= levels) { i = tree.end[i]; continue; }
      const y = shape === "flame" ? height - (tree.depth[i] + 1) * ROW : tree.depth[i] * ROW;
      const shown = Math.max(0.7, w - (w > 3 ? 1 : 0));
      context.globalAlpha = (found && !found.has(i)) || (above && i !== zoomed) ? FADED : 1;
      context.fillStyle = fill(i, palette);
      context.fillRect(x, y, shown, ROW - 1);
      context.globalAlpha = 1;
      if (found && found.has(i)) {
        context.fillStyle = palette.mark;
        context.fillRect(x, y + ROW - 4, shown, 3);
      }
      if (w > 26) {
        context.fillStyle = palette.text;
        context.globalAlpha = found && !found.has(i) ? 0.55 : 1;
        context.fillText(fitted(context, labelled(i, w), w - 8), x + 4, y + ROW / 2);
        context.globalAlpha = 1;
      }
      if (i === selected && document.activeElement === stage) {
        context.strokeStyle = palette.focus;
        context.lineWidth = 2;
        context.strokeRect(x + 1, y + 1, Math.max(1, w - 3), ROW - 3);
      }
      cells.push(i, x, y, w);
      i++;
    }
    canvas.dataset.cells = String(cells.length / 4);
  }

  function labelled(node, w) {
    const name = nameOf(node).slice(0, Math.ceil(w / 4));
    return w > 160 ? `${name}  ${percent(tree.all[node] / tree.all[0])}` : name;
  }

  function lines(node) {
    const place = placed(view.files, tree.file[node], tree.line[node]);
    const all = quantity(tree.all[node], unit());
    const share = percent(tree.all[node] / tree.all[0]);
    if (differs) {
      const change = tree.allAfter[node] - tree.allBefore[node];
      return [nameOf(node), place, `${quantity(tree.allBefore[node], unit())} → ${quantity(tree.allAfter[node], unit())} (${signed(change, unit())})`];
    }
    if (tree.inverted) return [nameOf(node), place, `${all}, ${share} of the whole on this path`];
    return [nameOf(node), place, `${all}, ${share} of the whole; exclusive ${quantity(tree.own[node], unit())}`];
  }

  function describe() {
    const [name, place, values] = lines(selected);
    frame.replaceChildren(el("b", {}, name), place ? el("code", {}, place) : "", el("span", {}, values));
    const path = [];
    for (let i = zoomed; i >= 0; i = tree.parent[i]) path.unshift(i);
    const shown = path.length > 6 ? [path[0], null, ...path.slice(-4)] : path;
    trail.replaceChildren(...(zoomed === 0 ? [] : shown.map((node) => node === null ? el("span", {}, "…")
      : node === zoomed ? el("span", { "aria-current": "location" }, cut(nameOf(node), 40)) : button(cut(nameOf(node), 28), () => zoom(node)))));
  }

  function zoom(node) {
    zoomed = selected = node;
    describe();
    draw();
    if (shape === "flame") stage.scrollTop = stage.scrollHeight;
  }

  function at(event) {
    const box = canvas.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    for (let c = cells.length - 4; c >= 0; c -= 4) {
      if (y >= cells[c + 2] && y < cells[c + 2] + ROW && x >= cells[c + 1] && x <= cells[c + 1] + Math.max(1, cells[c + 3])) return cells[c];
    }
    return -1;
  }

  canvas.addEventListener("mousemove", (event) => {
    const node = at(event);
    canvas.style.cursor = node < 0 ? "default" : "pointer";
    if (node < 0) hideTip(); else showTip(event, lines(node));
  });
  canvas.addEventListener("mouseleave", hideTip);
  canvas.addEventListener("click", (event) => {
    const node = at(event);
    if (node >= 0) zoom(node);
  });
  stage.addEventListener("focus", draw);
  stage.addEventListener("blur", draw);
  stage.addEventListener("keydown", (event) => {
    const deeper = shape === "flame" ? "ArrowUp" : "ArrowDown", higher = shape === "flame" ? "ArrowDown" : "ArrowUp";
    const above = tree.parent[selected];
    const siblings = above < 0 ? [selected] : tree.children[above].filter((node) => tree.all[node] > 0);
    let next = selected;
    if (event.key === deeper) next = tree.children[selected] ? tree.children[selected][0] : selected;
    else if (event.key === higher) next = above < 0 ? selected : above;
    else if (event.key === "ArrowRight") next = siblings[Math.min(siblings.length - 1, siblings.indexOf(selected) + 1)];
    else if (event.key === "ArrowLeft") next = siblings[Math.max(0, siblings.indexOf(selected) - 1)];
    else if (event.key === "Home") next = 0;
    else if (event.key === "Enter") { event.preventDefault(); return zoom(selected); }
    else if (event.key === "Escape" || event.key === "Backspace") { event.preventDefault(); return zoom(Math.max(0, tree.parent[zoomed])); }
    else return undefined;
    event.preventDefault();
    if (tree.depth[next] < tree.depth[zoomed]) zoomed = next;
    selected = next;
    describe();
    draw();
    const c = cells.indexOf(next);
    if (c >= 0) {
      const y = cells[c + 2];
      if (y < stage.scrollTop || y + ROW > stage.scrollTop + stage.clientHeight) stage.scrollTop = y - stage.clientHeight / 2;
    }
    return undefined;
  });

  const input = el("input", { type: "search", placeholder: "Search", "aria-label": "Search the call tree", spellcheck: "false", oninput: () => look(input.value) });
  const shapes = switcher("Shape", [["icicle", "Icicle"], ["flame", "Flame graph"], ["callers", "Bottom-up"]], (key) => {
    shape = key;
    rebuild();
    if (shape === "flame") stage.scrollTop = stage.scrollHeight;
  }, shape);
  state.onMetric(rebuild);
  drawn(draw);
  state.find = (name) => {
    input.value = name;
    look(name);
    let best = -1;
    for (const node of found || []) if (best < 0 || tree.all[node] > tree.all[best]) best = node;
    if (best >= 0) zoom(best);
    stage.scrollIntoView({ block: "center" });
  };
  rebuild();
  return {
    draw: rebuild,
    element: section("tree", "Call tree",
      el("div", { cls: "tools" }, shapes, input, matches, button("Reset", () => { input.value = ""; look(""); zoom(0); })),
      trail, stage, frame, legend,
      el("p", { cls: "dim note" }, `${plural(view.tree.parent.length, "place")} stand for ${plural(view.tree.contexts, "context")}; places too small to see are merged into “… more”.`)),
  };
}

const GROUP_WORDS = {
  own: "program", math: "mathematics", library: "libraries", memory: "memory and copies", io: "input and output", mpi: "MPI", openmp: "OpenMP runtime",
  wait: "waiting", gpu: "GPU", runtime: "GPU runtime", other: "other",
};

function cut(text, most) {
  return text.length <= most ? text : most < 3 ? "" : `${text.slice(0, most - 1)}…`;
}
