const at = id => document.getElementById(id);
const made = (tag, text = "", kind = "") => {
  const node = document.createElement(tag);
  node.textContent = text;
  if (kind) node.className = kind;
  return node;
};
/** A choice of a select, with a value of its own. */
const choice = (text, value) => Object.assign(made("option", text), {value});

/** A row of a table, of texts and cells. */
function tableRow(cells, tag = "td") {
  const row = made("tr");
  row.append(...cells.map(one => one instanceof Node ? one : made(tag, one)));
  return row;
}
/** Names and what they are, as the list with this id; what is not known is left out. */
function listed(id, pairs) {
  at(id).replaceChildren(...pairs.filter(([, text]) => text).flatMap(([name, text]) => [made("dt", name), made("dd", text)]));
}
const three = x => Number(x.toPrecision(3)).toString().replaceAll("-", "−");

const rounded = x => Number(x.toPrecision(7));
/** 1, "view": "1 view"; 90, "view": "90 views" */
const counted = (count, thing) => count + " " + thing + (count === 1 ? "" : "s");

/** 1234567: "1.23 M" */
function large(amount) {
  const steps = ["", " k", " M", " G", " T", " P"];
  let k = 0;
  while (amount >= 999.5 && k < 5) amount /= 1000, ++k;
  return three(amount) + steps[k];
}
const size = bytes => large(bytes) + (bytes < 999.5 ? " B" : "B");

/** Seconds as "0.03 s", "7.2 s", "3 min 05 s", "2 h 07 min". */
function time(s) {
  if (s < 0.995) return s.toFixed(2) + " s";
  if (s < 99.95) return s.toFixed(1) + " s";
  const two = x => String(Math.floor(x)).padStart(2, "0");
  return s < 3600 ? Math.floor(s / 60) + " min " + two(s % 60) + " s"
                  : Math.floor(s / 3600) + " h " + two(s % 3600 / 60) + " min";
}

/** A bar of 1, 2 or 5 times a power of ten, at most a quarter as wide as a picture of this width. */
function scaleBar(width, unit) {
  const step = 10 ** Math.floor(Math.log10(width / 4) + 1e-9);
  const length = [5, 2, 1].map(m => m * step).find(l => l <= width / 4 * (1 + 1e-9));
  const small = unit === "mm" && length < 0.0995;
  const bar = made("span", small ? three(length * 1000) + " µm" : unit === "mm" ? three(length) + " mm" : counted(rounded(length), unit), "scale");
  bar.style.width = 100 * length / width + "%";
  return bar;
}

function drawn(tag, attributes, text = "") {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.textContent = text;
  return node;
}

/** Places of ticks between two numbers: 1, 2 or 5 times a power of ten. */
function ticks(low, high, logarithmic) {
  const power = x => 10 ** Math.floor(Math.log10(x) + 1e-9);
  if (logarithmic) {
    const decades = Math.log10(high / low), all = [];
    const skip = Math.max(1, Math.round(decades / 6)), steps = decades > 2 ? [1] : [1, 2, 5];
    for (let p = Math.floor(Math.log10(low)); p <= Math.ceil(Math.log10(high)); ++p)
      if (p % skip === 0) all.push(...steps.map(m => m * 10 ** p));
    const within = all.filter(v => v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9));
    if (within.length >= 3) return within;
  }
  const part = power((high - low) / 5), step = [1, 2, 5, 10].map(m => m * part).find(s => (high - low) / s <= 6);
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({length: Math.floor(high / step + 1e-9) - first + 1}, (_, k) => (first + k) * step);
}

/** At most some 4000 points of a curve: of each stretch the lowest and the highest, in their order, and the last. */
function thinned(points) {
  const most = 2000, step = Math.ceil(points.length / most), kept = [];
  if (step <= 2) return points;
  for (let first = 0; first < points.length; first += step) {
    let low = first, high = first;
    for (let k = first; k < Math.min(first + step, points.length); ++k) {
      if (points[k][1] < points[low][1]) low = k;
      if (points[k][1] > points[high][1]) high = k;
    }
    kept.push(points[Math.min(low, high)]);
    if (low !== high) kept.push(points[Math.max(low, high)]);
  }
  if (kept[kept.length - 1] !== points[points.length - 1]) kept.push(points[points.length - 1]);
  return kept;
}

/**
 * The frame of a drawing whose values go from low to high: its label, their ticks, those of [from, to] below, and what
 * these count. Gives where a value lies across and up, and nodes.
 */
function framed(svg, label, [from, to], [low, high], {logarithmic = false, below = "", whole = false, height = 264, amount = three, top = 40}) {
  const left = 84, right = 628, bottom = height - (below ? 58 : 30), scale = logarithmic ? Math.log10 : v => v;
  const x = v => left + (right - left) * (v - from) / (to - from);
  const y = v => bottom - (bottom - top) * (scale(v) - scale(low)) / (scale(high) - scale(low));
  const nodes = [drawn("text", {x: 4, y: 20}, label + (logarithmic ? ", logarithmic" : ""))];
  for (const v of ticks(low, high, logarithmic))
    nodes.push(drawn("line", {class: "grid", x1: left, x2: right, y1: y(v), y2: y(v)}),
               drawn("text", {x: left - 8, y: y(v) + 6, "text-anchor": "end"}, amount(v)));
  for (const v of ticks(from, to, false).filter(v => !whole || Number.isInteger(v)))
    nodes.push(drawn("text", {x: x(v), y: bottom + 22, "text-anchor": "middle"}, String(rounded(v)).replace("-", "−")));
  if (below) nodes.push(drawn("text", {x: (left + right) / 2, y: bottom + 48, "text-anchor": "middle"}, below));
  return {x, y, left, right, top, bottom, nodes};
}

/** Draws curves of points with their axes; a logarithmic one shows what is above zero. `kind`: the class of a curve. */
function plot(svg, all, label, more = {}) {
  const {logarithmic} = more, curves = all.map(c => ({...c, points: thinned(c.points).filter(p => Number.isFinite(p[1]))}));
  const points = curves.flatMap(c => c.points), values = points.map(p => p[1]).filter(v => !logarithmic || v > 0);
  if (values.length === 0) return svg.replaceChildren();
  const ends = some => some.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
  let [low, high] = ends(values), [from, to] = ends(points.map(p => p[0]));
  if (logarithmic && high < 2 * low) low = high / 2;
  if (!logarithmic && high - low < 1e-6 * Math.abs(high)) low -= 0.5 * Math.abs(low) || 1, high += 0.5 * Math.abs(high) || 1;
  if (more.whole) from = Math.min(from, 0);
  if (to <= from) to = from + 1;
  const {x, y, bottom, nodes} = framed(svg, label, [from, to], [low, high], more);
  for (const c of curves) {
    const seen = c.points.map(p => [x(p[0]).toFixed(1), (logarithmic && !(p[1] > 0) ? bottom : y(p[1])).toFixed(1)]);
    nodes.push(drawn("polyline", {class: c.kind, points: seen.join(" ")}));
    if (c.dots) nodes.push(...seen.map(([cx, cy]) => drawn("circle", {class: "dot", cx, cy, r: 3})));
  }
  svg.replaceChildren(...nodes);
}
