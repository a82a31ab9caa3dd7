
/** Values between which 99 % of a picture lie. */
function windowOf(grey) {
  const step = Math.max(1, Math.floor(grey.length / 20000)), some = [];
  for (let k = 0; k < grey.length; k += step) if (Number.isFinite(grey[k])) some.push(grey[k]);
  if (some.length === 0) return {black: 0, white: 1};
  some.sort((a, b) => a - b);
  const black = some[Math.floor(0.005 * (some.length - 1))], white = some[Math.floor(0.995 * (some.length - 1))];
  return {black, white: white > black ? white : black + 1};
}

/** Grey values as an image for canvases, between black and white; where there is none, nothing is drawn. */
function painted(p, {black, white}) {
  const image = new ImageData(p.width, p.height), out = new Uint32Array(image.data.buffer), scale = 255 / (white - black);
  for (let k = 0; k < out.length; ++k) {
    const v = (p.grey[k] - black) * scale;
    const level = v >= 255 ? 255 : v > 0 ? v | 0 : 0;
    out[k] = Number.isNaN(v) ? 0 : 0xff000000 | level << 16 | level << 8 | level;
  }
  const canvas = document.createElement("canvas");
  canvas.width = p.width, canvas.height = p.height;
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

/** Draws a picture as large as its canvas; `aspect`: of width to height. */
function draw(canvas, p, window, aspect = p.width / p.height) {
  const wide = Math.max(1, Math.round(canvas.clientWidth * devicePixelRatio)), tall = Math.max(1, Math.round(wide / aspect));
  if (canvas.width !== wide || canvas.height !== tall) canvas.width = wide, canvas.height = tall;
  const context = canvas.getContext("2d"), image = painted(p, window);
  context.imageSmoothingEnabled = p.width > wide;
  context.clearRect(0, 0, wide, tall);
  context.drawImage(image, 0, 0, wide, tall);
  return context;
}

/** Puts a scale bar on the stage of a canvas, for a picture that is so wide. */
function bar(stage, width, unit) {
  const old = stage.querySelector(".scale");
  if (old) old.remove();
  stage.append(scaleBar(width, unit));
}

/** How much of a canvas's width its bins take; values that were counted from low to high. */
function drawHistogram(svg, h) {
  if (!h) return svg.replaceChildren();
  const most = Math.max(...h.counts, 1), left = 8, right = 632, bottom = 118, nodes = [];
  const x = v => left + (right - left) * (v - h.low) / Math.max(h.high - h.low, 1e-30);
  const part = (right - left) / h.counts.length;
  h.counts.forEach((count, k) => {
    const tall = count > 0 ? 100 * Math.log1p(count) / Math.log1p(most) : 0;
    nodes.push(drawn("rect", {class: "bars", x: left + k * part, y: bottom - tall, width: Math.max(part - 0.6, 0.5), height: tall}));
  });
  nodes.push(drawn("line", {class: "mean", x1: x(h.mean), x2: x(h.mean), y1: 10, y2: bottom}));
  nodes.push(drawn("text", {x: left, y: 142}, three(h.low)), drawn("text", {x: right, y: 142, "text-anchor": "end"}, three(h.high)),
             drawn("text", {x: 320, y: 142, "text-anchor": "middle"}, "mean " + three(h.mean) + ", spread " + three(h.spread) + "; logarithmic"));
  svg.replaceChildren(...nodes);
}

/** Curves of points (x, y) with axes; each has a class. */
function drawCurves(svg, curves, label, height = 200) {
  const all = curves.flatMap(c => c.points).filter(p => Number.isFinite(p[1]));
  if (all.length === 0) return svg.replaceChildren();
  const lowest = (k) => all.reduce((m, p) => Math.min(m, p[k]), Infinity), highest = (k) => all.reduce((m, p) => Math.max(m, p[k]), -Infinity);
  let [x0, x1, y0, y1] = [lowest(0), highest(0), lowest(1), highest(1)];
  if (x1 <= x0) x1 = x0 + 1;
  if (y1 <= y0) y0 -= 0.5, y1 += 0.5;
  const left = 84, right = 628, top = 30, bottom = height - 28;
  const x = v => left + (right - left) * (v - x0) / (x1 - x0), y = v => bottom - (bottom - top) * (v - y0) / (y1 - y0);
  const nodes = [drawn("text", {x: 4, y: 16}, label)];
  for (const v of ticks(y0, y1, false)) nodes.push(drawn("line", {class: "grid", x1: left, x2: right, y1: y(v), y2: y(v)}), drawn("text", {x: left - 8, y: y(v) + 5, "text-anchor": "end"}, three(v)));
  for (const v of ticks(x0, x1, false)) nodes.push(drawn("text", {x: x(v), y: bottom + 20, "text-anchor": "middle"}, String(rounded(v))));
  for (const c of curves) {
    const points = c.points.filter(p => Number.isFinite(p[1])).map(p => x(p[0]).toFixed(1) + "," + y(p[1]).toFixed(1));
    nodes.push(drawn("polyline", {class: c.kind, points: points.join(" ")}));
    if (c.dots) for (const p of points) nodes.push(drawn("circle", {class: "dot", cx: p.split(",")[0], cy: p.split(",")[1], r: 3}));
  }
  svg.replaceChildren(...nodes);
}
