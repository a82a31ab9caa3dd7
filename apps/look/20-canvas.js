
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
  const canvas = made("canvas");
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

/** The k-th of pictures of this height that lie below one another. */
const partOf = ({width, grey}, height, k) => ({width, height, grey: grey.subarray(k * width * height, (k + 1) * width * height)});

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
