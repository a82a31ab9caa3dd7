
// The window of greys, and how often values come.

/** All values that are seen, not more than some hundred thousand. */
function valuesSeen() {
  const pictures = planes.map(seen).filter(Boolean);
  const step = Math.max(1, Math.ceil(pictures.reduce((sum, p) => sum + p.grey.length, 0) / 300000)), values = [];
  for (const p of pictures) for (let k = 0; k < p.grey.length; k += step) if (Number.isFinite(p.grey[k])) values.push(p.grey[k]);
  return values;
}

function histogramOf(values) {
  if (values.length === 0) return null;
  const bars = 96, low = values.reduce((a, b) => Math.min(a, b)), high = values.reduce((a, b) => Math.max(a, b));
  const mean = values.reduce((a, b) => a + b, 0) / values.length, counts = new Array(bars).fill(0), width = Math.max(high - low, 1e-30);
  let squares = 0;
  for (const v of values) squares += (v - mean) ** 2, ++counts[Math.min(bars - 1, Math.floor((v - low) / width * bars))];
  return {low, high, mean, spread: Math.sqrt(squares / values.length), counts};
}

const histogramEnds = [8, 632];  // of the bars, in the units of the drawing

function showHistogram() {
  const svg = at("histogram"), h = S.histogram = histogramOf(valuesSeen());
  drawHistogram(svg, h);
  if (!h) return;
  const [left, right] = histogramEnds, x = v => Math.min(right, Math.max(left, left + (right - left) * (v - h.low) / Math.max(h.high - h.low, 1e-30)));
  const a = x(S.window.black), b = x(S.window.white);
  svg.prepend(drawn("rect", {class: "window", x: a, y: 10, width: Math.max(1, b - a), height: 108}));
  svg.append(drawn("line", {class: "edge", x1: a, x2: a, y1: 10, y2: 118}), drawn("line", {class: "edge", x1: b, x2: b, y1: 10, y2: 118}));
}

function setUpWindow() {
  const svg = at("histogram");
  let from = null;
  const valueAt = e => {
    const box = svg.getBoundingClientRect(), [left, right] = histogramEnds, share = ((e.clientX - box.left) / box.width * 640 - left) / (right - left);
    return from.low + Math.min(1, Math.max(0, share)) * (from.high - from.low);
  };
  svg.addEventListener("pointerdown", e => {
    if (!S.histogram) return;
    svg.setPointerCapture(e.pointerId);
    from = {low: S.histogram.low, high: S.histogram.high};
    from.value = valueAt(e);
  });
  svg.addEventListener("pointermove", e => {
    if (!from) return;
    const now = valueAt(e);
    if (now !== from.value) setWindow(Math.min(now, from.value), Math.max(now, from.value));
  });
  for (const name of ["pointerup", "pointercancel"]) svg.addEventListener(name, () => { from = null; });
}
