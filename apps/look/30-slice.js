
const wide = () => Math.max(64, Math.round(document.querySelector("main").clientWidth * devicePixelRatio));

/** The command of a pane: the settings `options` at the slice and the region that are seen. */
function sliceCommand(options, pane, rough) {
  const [, , nx] = S.size, across = S.region ? S.region[1] - S.region[0] : nx;
  const coarser = rough ? Math.max(2, Math.round(across / 256)) : 1;
  return {options, z: S.z, region: S.region, coarser, side: 2 * wide(), bits: needsFloats() ? 32 : 16, pane: paneName(pane)};
}

/** Codes of 16 bits are enough to look at, but not for values along a line, nor for small differences. */
const needsFloats = () => S.line || S.show === "difference";
function wantFloats() {
  if (needsFloats() && (panes.A.found?.coded || panes.B.found?.coded)) askA.want(), askB.want();
}

const panes = {
  A: {canvas: "picture-a", stage: "stage-a", caption: "caption-a"},
  B: {canvas: "picture-b", stage: "stage-b", caption: "caption-b"},
};
const askA = new Asker("slice", rough => sliceCommand(S.options, "A", rough), found => { panes.A.found = found; told(found); showSlices(); });
const askB = new Asker("slice", rough => S.other ? sliceCommand(S.other, "B", rough) : null, found => { panes.B.found = found; showSlices(); });
const took = found => { at("state").textContent = found.milliseconds.toFixed(0) + " ms" + (found.rough ? ", rough" : ""); };
askA.shown = took;

/** What the newest picture tells of the volume. */
function told(found) {
  const grew = String(found.size) !== String(S.size);
  S.size = found.size;
  if (S.z === null) S.z = found.z;
  if (grew) {
    for (const id of ["z", "z-number"]) at(id).max = found.size[0] - 1, at(id).value = S.z;
    if (S.region && (S.region[1] > found.size[2] || S.region[3] > found.size[1])) S.region = null;
  }
  S.axis = found.axis_bin;
  at("warnings").replaceChildren(...found.warnings.map(text => made("li", text)));
  at("unit").textContent = found.unit;
  axisTold(found.axis_bin);
}

/** A − B, if both are of the same voxels. */
function difference() {
  const a = panes.A.found, b = panes.B.found;
  if (!a || !b || a.width !== b.width || a.height !== b.height) return null;
  return {...a, grey: a.grey.map((v, k) => v - b.grey[k])};
}

function seen() {
  if (S.show === "difference") return difference() || panes.A.found;
  return S.show === "B" && panes.B.found ? panes.B.found : panes.A.found;
}

function showSlices() {
  const first = seen();
  if (!first) return;
  if (at("auto").checked) {
    S.window = windowOf(first.grey);
    if (S.show === "difference") {
      const most = Math.max(Math.abs(S.window.black), Math.abs(S.window.white));
      S.window = {black: -most, white: most};
    }
    at("black").value = Number(S.window.black.toPrecision(4)), at("white").value = Number(S.window.white.toPrecision(4));
  }
  at("figure-b").hidden = S.show !== "both";
  showOne(panes.A, first, S.show === "both" ? "A" : S.show === "difference" ? "A − B" : S.other ? S.show : "");
  if (S.show === "both" && panes.B.found) showOne(panes.B, panes.B.found, "B");
  drawProfile();
}

function showOne(pane, p, name) {
  const [x0, x1, y0, y1] = p.region, canvas = at(pane.canvas);
  const context = draw(canvas, p, S.window, (x1 - x0) / (y1 - y0));
  bar(at(pane.stage), (x1 - x0) * p.pitch, p.length);
  if (S.line) {
    context.strokeStyle = "#ffb000", context.lineWidth = 2 * devicePixelRatio;
    context.beginPath();
    const X = v => (v - x0) / (x1 - x0) * canvas.width, Y = v => (v - y0) / (y1 - y0) * canvas.height;
    context.moveTo(X(S.line[0]), Y(S.line[1])), context.lineTo(X(S.line[2]), Y(S.line[3]));
    context.stroke();
  }
  at(pane.caption).textContent = (name ? name + ": " : "") + "z = " + p.z + " of " + p.size[0] + ", axis " + rounded(p.axis_bin) + ", " + p.method + (p.rough ? ", rough" : "");
}

/** Values of a picture along the line, at its voxels. */
function along(p) {
  const [ax, ay, bx, by] = S.line, [x0, x1, y0, y1] = p.region, long = Math.hypot(bx - ax, by - ay), count = Math.max(2, Math.ceil(long) + 1), points = [];
  for (let k = 0; k < count; ++k) {
    const t = k / (count - 1), x = Math.floor((ax + t * (bx - ax) - x0) / (x1 - x0) * p.width), y = Math.floor((ay + t * (by - ay) - y0) / (y1 - y0) * p.height);
    if (x >= 0 && y >= 0 && x < p.width && y < p.height) points.push([t * long * p.pitch, p.grey[y * p.width + x]]);
  }
  return points;
}

function drawProfile() {
  at("profile").toggleAttribute("hidden", !S.line);
  if (!S.line || !panes.A.found) return;
  const curves = [{points: along(panes.A.found), kind: "curve newest"}];
  if (S.other && panes.B.found) curves.push({points: along(panes.B.found), kind: "other"});
  drawCurves(at("profile"), curves, panes.A.found.unit + " along the line, " + panes.A.found.length + (curves.length > 1 ? "; blue A, red B" : ""));
}

function show(name) {
  S.show = name;
  for (const one of ["A", "B", "both", "difference"]) at("show-" + one).setAttribute("aria-pressed", one === name);
  requestAnimationFrame(showSlices);
  wantFloats();
}

/** The tool line begins with one through the middle of what is seen. */
function setTool(name) {
  S.tool = name;
  for (const one of ["window", "move", "line"]) at("tool-" + one).setAttribute("aria-pressed", one === name);
  if (name !== "line" || S.line) return;
  const [x0, x1, y0, y1] = whole(), part = (x1 - x0) / 4, middle = (y0 + y1) / 2;
  setLine([x0 + part, middle, x1 - part, middle]);
  wantFloats();
}

/** A line from x, y to x, y in voxels, or none; its fields follow, but for the one that is typed in. */
function setLine(line) {
  S.line = line;
  at("ends").hidden = !line;
  if (line) line.forEach((v, k) => { if (document.activeElement !== at("line-" + k)) at("line-" + k).value = Number(v.toFixed(1)); });
  showSlices();
}

/** The line goes where its fields say, if all do. */
function typedLine() {
  const texts = S.line.map((_, k) => at("line-" + k).value);
  if (texts.some(text => !Number.isFinite(parseFloat(text)))) return;
  setLine(texts.map(Number));
  wantFloats();
}

/** The part that is seen, within the slice; at least 16 voxels a side, and all of it as null. */
function setRegion(x0, y0, width, height) {
  const [, ny, nx] = S.size;
  const w = Math.round(Math.min(nx, Math.max(16, width))), h = Math.round(Math.min(ny, Math.max(16, height)));
  const x = Math.round(Math.min(nx - w, Math.max(0, x0))), y = Math.round(Math.min(ny - h, Math.max(0, y0)));
  const region = w >= nx && h >= ny ? null : [x, x + w, y, y + h];
  if (String(region) === String(S.region)) return;
  S.region = region;
  askA.want(), askB.want();
}

const whole = () => S.region || [0, S.size[2], 0, S.size[1]];

/** Closer by a factor about a point, in shares of the picture. */
function zoom(factor, u = 0.5, v = 0.5) {
  const [x0, x1, y0, y1] = whole(), w = (x1 - x0) / factor, h = (y1 - y0) / factor;
  setRegion(x0 + u * (x1 - x0 - w), y0 + v * (y1 - y0 - h), w, h);
}

function setWindow(black, white) {
  at("auto").checked = false;
  S.window = {black, white: white > black ? white : black + 1e-9};
  at("black").value = Number(black.toPrecision(5)), at("white").value = Number(S.window.white.toPrecision(5));
  showSlices();
}

/** Dragging and keys of a canvas of slices. */
function handle(canvas) {
  let from = null;
  const share = e => { const box = canvas.getBoundingClientRect(); return [(e.clientX - box.left) / box.width, (e.clientY - box.top) / box.height]; };
  canvas.addEventListener("pointerdown", e => {
    canvas.setPointerCapture(e.pointerId);
    from = {at: share(e), window: {...S.window}, region: whole()};
  });
  canvas.addEventListener("pointermove", e => {
    if (!from || !S.window) return;
    const [u, v] = share(e), du = u - from.at[0], dv = v - from.at[1], [x0, x1, y0, y1] = from.region;
    if (S.tool === "move") return setRegion(x0 - du * (x1 - x0), y0 - dv * (y1 - y0), x1 - x0, y1 - y0);
    if (S.tool === "line") return setLine([x0 + from.at[0] * (x1 - x0), y0 + from.at[1] * (y1 - y0), x0 + u * (x1 - x0), y0 + v * (y1 - y0)]);
    const {black, white} = from.window, range = white - black, half = range / 2 * 4 ** dv, middle = (black + white) / 2 - du * range;
    setWindow(middle - half, middle + half);
  });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => { from = null; wantFloats(); });
  canvas.addEventListener("wheel", e => {
    e.preventDefault();
    zoom(e.deltaY < 0 ? 1.25 : 0.8, ...share(e));
  }, {passive: false});
  canvas.addEventListener("keydown", e => {
    const [x0, x1, y0, y1] = whole(), part = (x1 - x0) / 8, moves = {ArrowLeft: [-part, 0], ArrowRight: [part, 0], ArrowUp: [0, -part], ArrowDown: [0, part]};
    if (moves[e.key]) setRegion(x0 + moves[e.key][0], y0 + moves[e.key][1], x1 - x0, y1 - y0);
    else if (e.key === "+" || e.key === "=") zoom(1.5);
    else if (e.key === "-") zoom(1 / 1.5);
    else if (e.key === "PageUp" || e.key === "PageDown") setZ(S.z + (e.key === "PageUp" ? 1 : -1));
    else if (e.key === "x" && S.other) show(S.show === "B" ? "A" : "B");
    else return;
    e.preventDefault();
  });
}

function setZ(z) {
  S.z = Math.min(S.size[0] - 1, Math.max(0, Math.round(z)));
  at("z").value = at("z-number").value = S.z;
  askA.want(), askB.want();
  if (S.tab === "sinogram") askSinogram.want();
  if (S.tab === "solve" && isWhole()) askIterate.want();
}

/** The picture of the canvas with its caption below it. */
function savePng() {
  const from = at("picture-a"), canvas = document.createElement("canvas"), line = 22 * devicePixelRatio;
  canvas.width = from.width, canvas.height = from.height + line;
  const context = canvas.getContext("2d");
  context.fillStyle = "#fff", context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(from, 0, 0);
  context.fillStyle = "#000", context.font = 13 * devicePixelRatio + "px sans-serif";
  context.fillText(at("caption-a").textContent + "; black " + at("black").value + ", white " + at("white").value + " " + at("unit").textContent, 4, canvas.height - 6 * devicePixelRatio);
  canvas.toBlob(blob => save(blob, "slice-" + S.z + ".png"));
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob), link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function setUpSlice() {
  for (const id of ["z", "z-number"]) at(id).addEventListener("input", () => { if (at(id).value !== "") setZ(Number(at(id).value)); });
  for (const name of ["window", "move", "line"]) at("tool-" + name).addEventListener("click", () => setTool(name));
  for (const name of ["A", "B", "both", "difference"]) at("show-" + name).addEventListener("click", () => show(name));
  for (const k of [0, 1, 2, 3]) at("line-" + k).addEventListener("input", typedLine);
  at("no-line").addEventListener("click", () => { setTool("window"), setLine(null); at("tool-line").focus(); });
  at("zoom-in").addEventListener("click", () => zoom(1.5));
  at("zoom-out").addEventListener("click", () => zoom(1 / 1.5));
  at("zoom-all").addEventListener("click", () => setRegion(0, 0, S.size[2], S.size[1]));
  at("auto").addEventListener("change", showSlices);
  for (const id of ["black", "white"]) at(id).addEventListener("change", () => setWindow(Number(at("black").value), Number(at("white").value)));
  at("save-png").addEventListener("click", savePng);
  at("keep").addEventListener("click", () => {
    S.other = {...S.options};
    panes.B.found = panes.A.found;
    at("compare").hidden = false;
    askB.want();
  });
  at("swap").addEventListener("click", () => {
    [S.options, S.other] = [S.other, S.options];
    [panes.A.found, panes.B.found] = [panes.B.found, panes.A.found];
    fillControls();
    changed();
    askB.want();
  });
  handle(at("picture-a")), handle(at("picture-b"));
  window.addEventListener("resize", () => { showSlices(); askA.want(); showSolved(); });
}
