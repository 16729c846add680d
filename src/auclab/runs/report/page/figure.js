// A figure: two axes, and lines, dots and bars between them, as SVG with a text description.

const SVG = "http://www.w3.org/2000/svg";
const DASHES = ["", "7 3", "2 2", "9 3 2 3", "12 4", "4 2"];

function svgNode(tag, attributes = {}, text = "") {
  const node = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.textContent = text;
  return node;
}

/** An SVG with a title and a description for screen readers. */
function canvas(width, height, title, description) {
  const svg = svgNode("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  canvas.count = (canvas.count ?? 0) + 1;
  const names = [`figure-${canvas.count}-title`, `figure-${canvas.count}-desc`];
  svg.setAttribute("aria-labelledby", names.join(" "));
  svg.append(svgNode("title", { id: names[0] }, title), svgNode("desc", { id: names[1] }, description));
  return svg;
}

/** A number with few digits and a minus sign. */
function written(value, digits = 4) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e5 || size < 1e-4 ? value.toExponential(Math.max(0, digits - 3)) : String(Number(value.toPrecision(digits)));
  return text.replace("-", "−");
}

/** Ends and ticks of an axis over some values; a logarithmic one between powers of ten. */
function makeScale(values, { log = false, low, high, pad = 0 } = {}) {
  const padded = (share) => pad + (1 - 2 * pad) * share;
  const finite = values.filter((value) => Number.isFinite(value) && (!log || value > 0));
  let [first, last] = [Infinity, -Infinity];
  for (const value of finite) { first = Math.min(first, value); last = Math.max(last, value); }
  if (!finite.length) [first, last] = log ? [1, 10] : [0, 1];
  first = low ?? first;
  last = high ?? last;
  if (log) {
    const [from, to] = [Math.floor(Math.log10(first)), Math.max(Math.ceil(Math.log10(last)), Math.floor(Math.log10(first)) + 1)];
    const step = Math.ceil((to - from) / 6);
    const ticks = [];
    for (let power = from; power <= to; power += step) ticks.push(10 ** power);
    return { at: (value) => padded((Math.log10(Math.max(value, 10 ** from)) - from) / (to - from)), ticks };
  }
  if (first === last) { const margin = Math.abs(first) * 0.05 || 0.5; first -= margin; last += margin; }
  const rough = (last - first) / 5;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * unit).find((k) => k >= rough);
  const ticks = [];
  for (let k = Math.ceil(first / step - 1e-9); k * step <= last + 1e-9 * step; k += 1) ticks.push(Number((k * step).toPrecision(12)));
  return { at: (value) => padded((value - first) / (last - first)), ticks };
}

/** Axes with labels; the answer draws between them: `line`, `dot`, `bar`, `note`, in the units of the data. */
function drawAxes({ title, description, x, y, xLabel, yLabel, width = 380, height = 290, yTicks = true }) {
  const [left, right, top, bottom] = [yTicks ? 54 : 24, 10, 12, 42];
  const svg = canvas(width, height, title, description);
  const X = (value) => Number((left + x.at(value) * (width - left - right)).toFixed(1));
  const Y = (value) => Number((height - bottom - y.at(value) * (height - top - bottom)).toFixed(1));
  const [base, end] = [height - bottom, width - right];
  for (const tick of x.ticks) {
    svg.append(svgNode("path", { class: "axis", d: `M${X(tick)},${base}v4` }));
    svg.append(svgNode("text", { class: "tick", x: X(tick), y: base + 15, "text-anchor": "middle" }, tickText(tick)));
  }
  for (const tick of yTicks ? y.ticks : []) {
    svg.append(svgNode("path", { class: "grid", d: `M${left},${Y(tick)}H${end}` }));
    svg.append(svgNode("text", { class: "tick", x: left - 5, y: Y(tick) + 3.5, "text-anchor": "end" }, tickText(tick)));
  }
  svg.append(svgNode("path", { class: "axis", d: `M${left},${top}V${base}H${end}` }));
  svg.append(svgNode("text", { x: (left + end) / 2, y: height - 8, "text-anchor": "middle" }, xLabel));
  const middle = (top + base) / 2;
  svg.append(svgNode("text", { x: 12, y: middle, "text-anchor": "middle", transform: `rotate(-90 12 ${middle})` }, yLabel));
  return {
    svg,
    line(xs, ys, attributes, name = "") {
      const d = xs.map((value, k) => `${k ? "L" : "M"}${X(value)},${Y(ys[k])}`).join("");
      return this.put(svgNode("path", { d, ...attributes }), name);
    },
    dot(at, value, attributes, name = "") {
      return this.put(svgNode("circle", { cx: X(at), cy: Y(value), r: 3, ...attributes }), name);
    },
    square(at, value, attributes, name = "") {
      return this.put(svgNode("rect", { x: X(at) - 3, y: Y(value) - 3, width: 6, height: 6, ...attributes }), name);
    },
    bar(from, to, value, attributes) {
      const [a, b] = [X(from), X(to)];
      return this.put(svgNode("path", { class: "bar", d: `M${a},${base}V${Y(value)}H${b}V${base}Z`, ...attributes }));
    },
    note(at, value, text, anchor = "start") {
      return this.put(svgNode("text", { x: X(at) + (anchor === "end" ? -4 : 4), y: Y(value) + 9, "text-anchor": anchor }, text));
    },
    path(points) {
      return points.map(([at, value], k) => `${k ? "L" : "M"}${X(at)},${Y(value)}`).join("");
    },
    put(node, name = "") {
      if (name) node.append(svgNode("title", {}, name));
      svg.append(node);
      return node;
    },
  };
}

function tickText(value) {
  const power = Math.log10(Math.abs(value));
  return Math.abs(value) < 1e-3 && Math.abs(power - Math.round(power)) < 1e-9 ? `10${superscript(Math.round(power))}` : written(value);
}

function superscript(number) {
  return [...String(number)].map((sign) => (sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(sign)])).join("");
}

/** A figure with a caption above the drawing. */
function framed(heading, text, ...drawings) {
  const figure = document.createElement("figure");
  const caption = document.createElement("figcaption");
  const strong = document.createElement("strong");
  strong.textContent = heading;
  caption.append(strong, ` ${text}`);
  figure.append(caption, ...drawings);
  return figure;
}

/** A list of what colours and dashes mean; items are [class, dash, text, "dot" or "square" for a mark]. */
function fillLegend(list, items) {
  list.replaceChildren(...items.map(([style, dash, text, mark]) => {
    const item = document.createElement("li");
    const svg = svgNode("svg", { viewBox: "0 0 32 12", "aria-hidden": "true" });
    svg.append(mark === "dot" ? svgNode("circle", { class: `dot ${style}`, cx: 16, cy: 6, r: 4 })
      : mark === "square" ? svgNode("rect", { class: `dot ${style}`, x: 12, y: 2, width: 8, height: 8 })
      : svgNode("path", { class: `curve ${style}`, d: "M1,6H31", "stroke-dasharray": dash }));
    item.append(svg, text);
    return item;
  }));
}
