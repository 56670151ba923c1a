// Numbers as chathpc.profile.numbers writes them: three significant digits, SI prefixes.

function digits(value, count = 3) {
  if (!Number.isFinite(value)) return "not measured";
  if (value === 0) return "0";
  const rounded = Number(value.toPrecision(count));
  const decimals = Math.max(0, count - 1 - Math.floor(Math.log10(Math.abs(rounded))));
  return rounded.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

function prefixed(value, steps, unit) {
  for (const [limit, prefix] of steps) {
    if (Math.abs(Number(value.toPrecision(3))) >= limit) return `${digits(value / limit)} ${prefix}${unit}`;
  }
  return null;
}

const LARGE = [[1e18, "E"], [1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"]];
const SMALL = [[1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"], [1e-12, "p"]];

function quantity(value, unit) {
  if (!Number.isFinite(value)) return "not measured";
  if (unit === "s") {
    if (value === 0) return "0 s";
    if (Math.abs(Number(value.toPrecision(3))) >= 1e4) return `${digits(value / 3600)} h`;
    return prefixed(value, SMALL, "s") || `${value.toExponential(2)} s`;
  }
  if (unit === "bytes") return prefixed(value, [...LARGE, [1e3, "k"]], "B") || `${digits(value)} B`;
  if (unit === "percent") return percent(value / 100);
  const large = Math.abs(value) >= 1e6 ? prefixed(value, LARGE, "").trim() : null;
  const text = large || (Number.isInteger(value) ? value.toLocaleString("en") : digits(value));
  return unit === "" || unit === "count" || unit === "ratio" ? text : `${text} ${unit}`;
}

function percent(share) {
  if (!Number.isFinite(share)) return "not measured";
  if (share > 0 && share < 0.001) return "<0.1 %";
  return `${digits(share * 100)} %`;
}

/** For a column: one decimal always. */
function percentCell(share) {
  return Number.isFinite(share) ? `${(share * 100).toFixed(1)} %` : "";
}

function signed(value, unit) {
  return value > 0 ? `+${quantity(value, unit)}` : value < 0 ? `−${quantity(-value, unit)}` : quantity(0, unit);
}

function base(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}

function placed(files, file, line) {
  if (file < 0 || /^[[<]/.test(files[file])) return "";
  return line > 0 ? `${base(files[file])}:${line}` : base(files[file]);
}

function plural(count, word) {
  return `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
}
