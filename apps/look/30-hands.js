
// What is seen, and what hands do with it: two pictures, the window of greys, tools, a line.

const showNames = ["A", "B", "both", "difference"], limits = ["black", "white"];

/** Presses the button of a kind that has this name, and no other one; `S` knows it. */
function press(kind, names, name) {
  S[kind] = name;
  for (const one of names) at(kind + "-" + one).setAttribute("aria-pressed", one === name);
}

/** A − B, of pictures of the same voxels. */
const less = (a, b) => ({...a, grey: a.grey.map((v, k) => v - b.grey[k])});

/** With so many digits at least that both can be told apart. */
function tellWindow(window, least) {
  const {black, white} = S.window = window, apart = Math.ceil(Math.log10(Math.max(Math.abs(black), Math.abs(white)) / (white - black)));
  for (const id of limits) at(id).value = Number(window[id].toPrecision(Math.min(17, Math.max(least, apart + 2))));
  if (failed.has(typedWindow)) succeeded(typedWindow);
}

/** The window of values that are seen, if it is automatic; that of a difference has zero in its middle. */
function automaticWindow(values, isDifference = S.show === "difference") {
  if (S.window && !at("auto").checked) return;
  const window = windowOf(values()), most = Math.max(Math.abs(window.black), Math.abs(window.white));
  tellWindow(isDifference ? {black: -most, white: most} : window, 4);
}

function setWindow(black, white) {
  if (!Number.isFinite(black) || !Number.isFinite(white)) return;
  at("auto").checked = false;
  tellWindow({black, white: white > black ? white : black + (Math.abs(black) * 1e-6 || 1e-9)}, 5);
  redraw();
}

/** The window that is typed, if it is one. */
function typedWindow() {
  if (limits.some(id => at(id).value === "")) return;
  const [black, white] = limits.map(id => Number(at(id).value));
  at("auto").checked = false;
  if (white > black) setWindow(black, white);
  else failedWith(typedWindow, "white " + white + " does not lie above black " + black);
}

/**
 * Dragging, the wheel and keys of a canvas. `region`: the part that it showNames; `tools`: what they do with the part where
 * dragging began, that place and the one now; `closer`: zooms about a place, in shares; `key`: takes another key, if it
 * knows it; `ended`: after dragging.
 */
function handle(canvas, {region, tools, closer, key, ended = () => {}}) {
  let from = null;
  const share = e => { const box = canvas.getBoundingClientRect(); return [(e.clientX - box.left) / box.width, (e.clientY - box.top) / box.height]; };
  const within = ([a, b], [x0, x1, y0, y1]) => [x0 + a * (x1 - x0), y0 + b * (y1 - y0)];
  const drag = now => {
    if (S.tool !== "window") return tools[S.tool](from.region, within(from.at, from.region), within(now, from.region));
    const {black, white} = from.window, range = white - black, half = range / 2 * 4 ** (now[1] - from.at[1]);
    const middle = (black + white) / 2 - (now[0] - from.at[0]) * range;
    setWindow(middle - half, middle + half);
  };
  canvas.addEventListener("pointerdown", e => {
    if (!S.window) return;
    canvas.setPointerCapture(e.pointerId);
    from = {at: share(e), window: {...S.window}, region: region()};
    if (S.tool === "cross") drag(from.at);
  });
  canvas.addEventListener("pointermove", e => { if (from) drag(share(e)); });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => { from = null; ended(); });
  canvas.addEventListener("wheel", e => {
    e.preventDefault();
    closer(1.2 ** -Math.sign(e.deltaY), share(e));
  }, {passive: false});
  canvas.addEventListener("keydown", e => {
    if (e.key === "+" || e.key === "=") zoom(1.5);
    else if (e.key === "-") zoom(1 / 1.5);
    else if (!key(e)) return;
    e.preventDefault();
  });
}

/** What the buttons about pictures do; `show` takes the name of what is shown. */
function setUpHands(tools, show) {
  for (const name of tools) at("tool-" + name).addEventListener("click", () => setTool(name));
  for (const name of showNames) at("show-" + name).addEventListener("click", () => show(name));
  at("zoom-in").addEventListener("click", () => zoom(1.5));
  at("zoom-out").addEventListener("click", () => zoom(1 / 1.5));
  at("auto").addEventListener("change", redraw);
  for (const id of limits) at(id).addEventListener("change", typedWindow);
  at("save-png").addEventListener("click", savePng);
}

/** Draws a line from a voxel to another one. */
function drawLine(context, [x0, x1, y0, y1], from, to) {
  const {width, height} = context.canvas, place = ([x, y]) => [(x - x0) / (x1 - x0) * width, (y - y0) / (y1 - y0) * height];
  context.strokeStyle = "#ffb000", context.lineWidth = 2 * devicePixelRatio;
  context.beginPath(), context.moveTo(...place(from)), context.lineTo(...place(to)), context.stroke();
}

/** Values of a picture along a line, at its voxels, which are so long across and down. */
function valuesAlong(p, from, to, [across, down]) {
  const [x0, x1, y0, y1] = p.region, dx = to[0] - from[0], dy = to[1] - from[1], long = Math.hypot(dx * across, dy * down);
  const count = Math.min(4000, Math.max(2, Math.ceil(Math.hypot(dx, dy)) + 1)), points = [];
  const wide = p.step || (x1 - x0) / p.width, tall = p.step || (y1 - y0) / p.height;
  for (let k = 0; k < count; ++k) {
    const t = k / (count - 1), x = Math.floor((from[0] + t * dx - x0) / wide), y = Math.floor((from[1] + t * dy - y0) / tall);
    if (x >= 0 && y >= 0 && x < p.width && y < p.height) points.push([t * long, p.grey[y * p.width + x]]);
  }
  return points;
}

/** The curves along the line of one picture or two. */
function plotProfile(curves, label, names) {
  plot(at("profile"), curves.map((points, k) => ({points, kind: k === 0 ? "curve newest" : "other"})), label + (curves.length > 1 ? "; " + names : ""), {height: 200});
}

function save(blob, name) {
  const link = made("a");
  link.href = URL.createObjectURL(blob), link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
