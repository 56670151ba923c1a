// Elements: all text goes in as text nodes, so no name can become markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element with properties (`class`, `on…`, attributes) and children; strings become text. */
function el(tag, props, ...children) {
  return filled(document.createElement(tag), props, children);
}

function svg(tag, props, ...children) {
  return filled(document.createElementNS(SVG, tag), props, children);
}

function filled(node, props, children) {
  for (const [key, value] of Object.entries(props || {})) {
    if (value === null || value === undefined) continue;
    if (key.startsWith("aria-")) node.setAttribute(key, String(value));
    else if (value === false) continue;
    else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key === "cls" ? "class" : key, value === true ? "" : String(value));
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false || child === "") continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

/** A section of the page with its heading, listed in the navigation. */
function section(id, title, ...children) {
  return el("section", { id, "aria-labelledby": `${id}-title` }, el("h2", { id: `${id}-title` }, title), ...children);
}

function button(text, onclick, props) {
  return el("button", { type: "button", onclick, ...props }, text);
}

/** A labelled choice of [value, text] pairs. */
function choice(label, options, onchange, value) {
  const select = el("select", { onchange: () => onchange(select.value) },
    options.map(([key, text]) => el("option", { value: key, selected: key === value }, text)));
  return el("label", { cls: "field" }, el("span", {}, label), select);
}

/** A group of buttons of which one is pressed. */
function switcher(label, options, onchange, value) {
  const buttons = options.map(([key, text]) => button(text, () => press(key), { "aria-pressed": key === value, "data-key": key }));
  function press(key) {
    for (const one of buttons) one.setAttribute("aria-pressed", String(one.dataset.key === key));
    onchange(key);
  }
  return el("div", { cls: "switch", role: "group", "aria-label": label }, buttons);
}

/** The value of a colour of the style sheet. */
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

const redraws = [];
/** Draws now and again when the size or the colours change. */
function drawn(draw) {
  redraws.push(draw);
}
function redraw() {
  for (const draw of redraws) draw();
}

/** A canvas of `height` CSS pixels, as wide as its parent, sharp on every screen. */
function prepared(canvas, height) {
  const scale = Math.min(3, window.devicePixelRatio || 1);
  const width = Math.max(50, canvas.parentElement.clientWidth);
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(Math.min(height, 30000 / scale) * scale);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${canvas.height / scale}px`;
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return [context, width];
}

/** As much of `text` as fits into `room` pixels, what is left out as one ellipsis. */
function fitted(context, text, room) {
  if (room < 8) return "";
  const width = context.measureText(text).width;
  if (width <= room) return text;
  let keep = Math.floor((text.length * room) / width);
  while (keep > 0 && context.measureText(`${text.slice(0, keep)}…`).width > room) keep--;
  return keep > 0 ? `${text.slice(0, keep)}…` : "";
}

// One box for what the pointer is at.
const tip = el("div", { id: "tip", "aria-hidden": "true", hidden: true });
function showTip(event, lines) {
  tip.replaceChildren(...lines.filter(Boolean).map((line, at) => el("div", { cls: at ? "" : "strong" }, line)));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 8))}px`;
  tip.style.top = `${event.clientY + 18 + box.height > innerHeight ? Math.max(4, event.clientY - box.height - 10) : event.clientY + 18}px`;
}
function hideTip() {
  tip.hidden = true;
}
