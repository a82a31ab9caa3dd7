
// The window of greys, and how often values come.

/** All values that are seen, not more than some hundred thousand. */
function valuesSeen() {
  const pictures = planes.map(seen).filter(Boolean);
  const step = Math.max(1, Math.ceil(pictures.reduce((sum, p) => sum + p.grey.length, 0) / 300000)), values = [];
  for (const p of pictures) for (let k = 0; k < p.grey.length; k += step) if (Number.isFinite(p.grey[k])) values.push(p.grey[k]);
  return values;
}

function automaticWindow() {
  if (V.window && !at("auto").checked) return;
  V.window = windowOf(valuesSeen());
  if (V.show === "difference") {
    const most = Math.max(Math.abs(V.window.black), Math.abs(V.window.white));
    V.window = {black: -most, white: most};
  }
  at("black").value = Number(V.window.black.toPrecision(4)), at("white").value = Number(V.window.white.toPrecision(4));
}

function setWindow(black, white) {
  if (!Number.isFinite(black) || !Number.isFinite(white)) return;
  at("auto").checked = false;
  V.window = {black, white: white > black ? white : black + (Math.abs(black) * 1e-6 || 1e-9)};
  at("black").value = Number(black.toPrecision(5)), at("white").value = Number(V.window.white.toPrecision(5));
  schedule();
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
  const svg = at("histogram"), h = V.histogram = histogramOf(valuesSeen());
  drawHistogram(svg, h);
  if (!h) return;
  const [left, right] = histogramEnds, x = v => Math.min(right, Math.max(left, left + (right - left) * (v - h.low) / Math.max(h.high - h.low, 1e-30)));
  const a = x(V.window.black), b = x(V.window.white);
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
    if (!V.histogram) return;
    svg.setPointerCapture(e.pointerId);
    from = {low: V.histogram.low, high: V.histogram.high};
    from.value = valueAt(e);
  });
  svg.addEventListener("pointermove", e => {
    if (!from) return;
    const now = valueAt(e);
    if (now !== from.value) setWindow(Math.min(now, from.value), Math.max(now, from.value));
  });
  for (const name of ["pointerup", "pointercancel"]) svg.addEventListener(name, () => { from = null; });
  at("auto").addEventListener("change", schedule);
  for (const id of ["black", "white"]) at(id).addEventListener("change", () => {
    if (at("black").value !== "" && at("white").value !== "") setWindow(Number(at("black").value), Number(at("white").value));
  });
}
