// Kernels under the roofs of memory bandwidth and arithmetic, both axes logarithmic.

function rooflinePart(view) {
  const kernels = view.roofline;
  const width = 760, height = 380, left = 74, bottom = 44, top = 16, right = 18;
  const roofs = new Map();
  for (const one of kernels) {
    if (one.peak_rate) roofs.set(one.precision, Math.max(roofs.get(one.precision) || 0, one.peak_rate));
  }
  const bandwidth = Math.max(0, ...kernels.map((one) => one.peak_bandwidth || 0));
  const highest = Math.max(...kernels.map((one) => one.rate), ...roofs.values());
  const ridge = bandwidth ? highest / bandwidth : 1;
  const xs = kernels.map((one) => one.intensity).concat([ridge]);
  const x0 = Math.floor(Math.log10(Math.min(...xs) / 1.5)), x1 = Math.ceil(Math.log10(Math.max(...xs) * 2));
  const y1 = Math.ceil(Math.log10(highest * 1.1)), y0 = Math.floor(Math.log10(Math.min(...kernels.map((one) => one.rate), highest / 1e3)));
  const x = (value) => left + ((Math.log10(value) - x0) / (x1 - x0)) * (width - left - right);
  const y = (value) => height - bottom - ((Math.log10(value) - y0) / (y1 - y0)) * (height - bottom - top);
  const parts = [];
  for (let power = x0; power <= x1; power++) {
    parts.push(svg("line", { x1: x(10 ** power), x2: x(10 ** power), y1: top, y2: height - bottom, class: "grid" }),
      svg("text", { x: x(10 ** power), y: height - bottom + 16, "text-anchor": "middle" }, digits(10 ** power, 1)));
  }
  for (let power = y0; power <= y1; power++) {
    parts.push(svg("line", { x1: left, x2: width - right, y1: y(10 ** power), y2: y(10 ** power), class: "grid" }),
      svg("text", { x: left - 6, y: y(10 ** power) + 4, "text-anchor": "end" }, prefixed(10 ** power, [...LARGE, [1e3, "k"], [1, ""]], "").trim()));
  }
  const bent = (peak) => (bandwidth ? Math.max(10 ** x0, Math.min(peak / bandwidth, 10 ** x1)) : 10 ** x0);
  if (bandwidth) {
    const end = Math.min(10 ** x1, highest / bandwidth), begin = Math.max(10 ** x0, 10 ** y0 / bandwidth);
    parts.push(svg("line", { x1: x(begin), y1: y(begin * bandwidth), x2: x(end), y2: y(end * bandwidth), class: "roof" }),
      svg("text", { x: x(Math.sqrt(begin * end)) - 10, y: y(Math.sqrt(begin * end) * bandwidth) - 6, "text-anchor": "end", class: "roof-name" }, `memory ${quantity(bandwidth, "bytes")}/s`));
  }
  for (const [precision, peak] of roofs) {
    parts.push(svg("line", { x1: x(bent(peak)), x2: width - right, y1: y(peak), y2: y(peak), class: "roof" }),
      svg("text", { x: width - right - 4, y: y(peak) - 5, "text-anchor": "end", class: "roof-name" }, `${precision} ${quantity(peak, "count")} op/s`));
  }
  const longest = Math.max(...kernels.map((one) => one.seconds || 0)) || 1;
  kernels.forEach((one) => {
    const dot = svg("circle", { cx: x(one.intensity), cy: y(one.rate), r: 4 + 8 * Math.sqrt((one.seconds || 0) / longest), class: "kernel" });
    const said = [view.names[one.name], `${digits(one.intensity)} op/B, ${quantity(one.rate, "count")} op/s (${one.precision})`, one.seconds ? quantity(one.seconds, "s") : "", limit(one) ? `${percent(one.rate / limit(one))} of its roof` : ""];
    dot.addEventListener("mousemove", (event) => showTip(event, said));
    dot.addEventListener("mouseleave", hideTip);
    parts.push(dot);
  });
  parts.push(svg("text", { x: (left + width) / 2, y: height - 6, "text-anchor": "middle" }, "operations per byte of device memory traffic"),
    svg("text", { x: 14, y: height / 2, "text-anchor": "middle", transform: `rotate(-90 14 ${height / 2})` }, "operations per second"));
  function limit(one) {
    const under = one.peak_bandwidth ? one.intensity * one.peak_bandwidth : Infinity;
    const roof = Math.min(under, one.peak_rate || Infinity);
    return Number.isFinite(roof) ? roof : 0;
  }
  const table = sortable("Kernels in the roofline", [
    { title: "Kernel", key: (at) => view.names[kernels[at].name], cls: "name", text: (at) => view.names[kernels[at].name] },
    { title: "Time", number: true, key: (at) => kernels[at].seconds || 0, text: (at) => (kernels[at].seconds ? quantity(kernels[at].seconds, "s") : "") },
    { title: "Op/byte", number: true, key: (at) => kernels[at].intensity, text: (at) => digits(kernels[at].intensity) },
    { title: "Op/s", number: true, key: (at) => kernels[at].rate, text: (at) => quantity(kernels[at].rate, "count") },
    { title: "Precision", key: (at) => kernels[at].precision, text: (at) => kernels[at].precision },
    { title: "Of its roof", number: true, key: (at) => (limit(kernels[at]) ? kernels[at].rate / limit(kernels[at]) : 0), text: (at) => (limit(kernels[at]) ? percent(kernels[at].rate / limit(kernels[at])) : "") },
    { title: "Roof", key: (at) => roof(kernels[at]), text: (at) => roof(kernels[at]) },
  ], kernels.map((_, at) => at), 1, { most: 10 });
  function roof(one) {
    if (!limit(one)) return "";
    return one.peak_bandwidth && one.intensity * one.peak_bandwidth < (one.peak_rate || Infinity) ? "memory" : "arithmetic";
  }
  const roofed = bandwidth > 0 || roofs.size > 0;
  return section("roofline", "Roofline", roofed && el("div", { cls: "scroll plot", role: "region", tabindex: 0, "aria-label": "Roofline plot" },
    svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Roofline of ${plural(kernels.length, "kernel")}; the table below has the numbers.` }, parts)), table.element,
  el("p", { cls: "dim note" }, roofed ? "Area of a dot: time of the kernel." : "The peaks of the device were not recorded, so there is no roof to draw."));
}
