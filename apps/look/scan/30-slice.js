
const wide = () => Math.max(64, Math.round(document.querySelector("main").clientWidth * devicePixelRatio));

Object.assign(S, {options: {}, other: null, difference: null, z: null, region: null, tool: "window", tab: "slice"});

/** The command of a pane: the settings `options` at the slice and the region that are seen. */
function sliceCommand(options, pane, rough) {
  const [, , nx] = S.size, across = S.region ? S.region[1] - S.region[0] : nx;
  const coarser = rough ? Math.max(2, Math.round(across / 256)) : 1;
  return {options, z: S.z, nearest: pane === "A", region: S.region, coarser, side: 2 * wide(), bits: needsFloats() ? 32 : 16, pane: paneName(pane)};
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
const askA = new Asker("slice", rough => sliceCommand(S.options, "A", rough), found => { panes.A.found = found; told(found); redraw(); });
const askB = new Asker("slice", rough => S.other ? sliceCommand(S.other, "B", rough) : null, found => { panes.B.found = found; redraw(); });
askA.shown = took;

/** What the newest picture tells of the volume. */
function told(found) {
  const grew = String(found.size) !== String(S.size);
  S.size = found.size;
  const beyond = S.z === null || S.z >= found.size[0];
  if (beyond) S.z = found.z;
  if (grew) {
    for (const id of ["z", "z-number"]) at(id).max = found.size[0] - 1, at(id).value = S.z;
    if (S.region && (S.region[1] > found.size[2] || S.region[3] > found.size[1])) S.region = null, askA.want();
  }
  if (grew || beyond) askB.want();
  S.axis = found.axis_bin;
  at("warnings").replaceChildren(...found.warnings.map(text => made("li", text)));
  at("unit").textContent = found.unit;
  axisTold(found.axis_bin);
}

/** What the voxels of a picture are, in words. */
const gridOf = p => p.size.join(" × ") + " voxels, " + three(p.pitch) + " " + p.length + " wide";

/** Why A and B have no voxels in common, or nothing. */
function apart() {
  const a = panes.A.found, b = S.other && panes.B.found;
  if (!a || !b) return "";
  const [wordsA, wordsB] = [gridOf(a), gridOf(b)], corner = p => [...p.corner, p.pitch * p.region[1], p.pitch * p.region[3]];
  const away = Math.max(...corner(a).map((v, k) => Math.abs(v - corner(b)[k])));
  if (wordsA === wordsB && (a.z !== b.z || String(a.region) !== String(b.region) || away < 1e-3 * a.pitch)) return "";
  return "A and B have other grids: " + wordsA + ", and " + wordsB + (wordsA === wordsB ? " at another place" : "");
}

/** A − B of the same voxels; what it was, as long as one of both is still to come; nothing if their voxels lie elsewhere. */
function difference() {
  const a = panes.A.found, b = panes.B.found, comes = a.z !== b?.z || String(a.region) !== String(b?.region) || a.width !== b?.width;
  if (apart()) S.difference = null;
  else if (!comes) S.difference = less(a, b);
  return S.difference;
}

function seen() {
  if (S.show === "difference" && panes.A.found) return difference() || panes.A.found;
  return S.show === "B" && panes.B.found ? panes.B.found : panes.A.found;
}

function redraw() {
  const first = seen();
  if (!first) return;
  const alone = S.show === "difference" && first === panes.A.found;
  automaticWindow(() => first.grey, S.show === "difference" && !alone);
  at("figure-b").hidden = S.show !== "both";
  at("apart").textContent = S.other && (S.line || S.show === "difference") ? apart() : "";
  showOne(panes.A, first, alone ? "A alone" : S.show === "both" ? "A" : S.show === "difference" ? "A − B" : S.other ? S.show : "");
  if (S.show === "both" && panes.B.found) showOne(panes.B, panes.B.found, "B");
  drawProfile();
}

function showOne(pane, p, name) {
  const [x0, x1, y0, y1] = p.region, canvas = at(pane.canvas);
  const context = draw(canvas, p, S.window, (x1 - x0) / (y1 - y0));
  bar(at(pane.stage), (x1 - x0) * p.pitch, p.length);
  if (S.line && !(p === panes.B.found && apart())) drawLine(context, p.region, ...ends());
  at(pane.caption).textContent = (name ? name + ": " : "") + "z = " + p.z + " of " + p.size[0] + ", axis " + rounded(p.axis_bin) + ", " + p.method + (p.rough ? ", rough" : "");
}

const ends = () => [S.line.slice(0, 2), S.line.slice(2)];
const along = p => valuesAlong(p, ...ends(), [p.pitch, p.pitch]);

function drawProfile() {
  const shown = [panes.A.found, S.other && !apart() && panes.B.found].filter(Boolean);
  at("profile").toggleAttribute("hidden", !S.line);
  if (S.line && shown.length > 0) plotProfile(shown.map(along), shown[0].unit + " along the line, " + shown[0].length, "blue A, red B");
}

function show(name) {
  S.difference = null;
  press("show", showNames, name);
  requestAnimationFrame(redraw);
  wantFloats();
}

const tools = ["window", "move", "line"];
/** The tool line begins with one through the middle of what is seen. */
function setTool(name) {
  press("tool", tools, name);
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
  redraw();
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

const hands = {
  region: () => whole(),
  tools: {
    move: ([x0, x1, y0, y1], [a, b], [c, d]) => setRegion(x0 + a - c, y0 + b - d, x1 - x0, y1 - y0),
    line: (_, from, to) => setLine([...from, ...to]),
  },
  closer: (factor, shares) => zoom(factor, ...shares),
  ended: () => wantFloats(),
  key: e => {
    const [x0, x1, y0, y1] = whole(), part = (x1 - x0) / 8, moves = {ArrowLeft: [-part, 0], ArrowRight: [part, 0], ArrowUp: [0, -part], ArrowDown: [0, part]};
    if (moves[e.key]) setRegion(x0 + moves[e.key][0], y0 + moves[e.key][1], x1 - x0, y1 - y0);
    else if (e.key === "PageUp" || e.key === "PageDown") setZ(S.z + (e.key === "PageUp" ? 1 : -1));
    else if (e.key === "x" && S.other) show(S.show === "B" ? "A" : "B");
    else return false;
    return true;
  },
};

function setZ(z) {
  S.z = Math.min(S.size[0] - 1, Math.max(0, Math.round(z)));
  at("z").value = at("z-number").value = S.z;
  askA.want(), askB.want();
  if (S.tab === "sinogram") askSinogram.want();
  if (S.tab === "solve" && isWhole()) askIterate.want();
}

/** The picture of the canvas with its caption below it. */
function savePng() {
  const from = at("picture-a"), canvas = made("canvas"), line = 22 * devicePixelRatio;
  canvas.width = from.width, canvas.height = from.height + line;
  const context = canvas.getContext("2d");
  context.fillStyle = "#fff", context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(from, 0, 0);
  context.fillStyle = "#000", context.font = 13 * devicePixelRatio + "px sans-serif";
  context.fillText(at("caption-a").textContent + "; black " + at("black").value + ", white " + at("white").value + " " + at("unit").textContent, 4, canvas.height - 6 * devicePixelRatio);
  canvas.toBlob(blob => save(blob, "slice-" + S.z + ".png"));
}

function setUpSlice() {
  for (const id of ["z", "z-number"]) at(id).addEventListener("input", () => { if (at(id).value !== "") setZ(Number(at(id).value)); });
  setUpHands(tools, show);
  for (const k of [0, 1, 2, 3]) at("line-" + k).addEventListener("input", typedLine);
  at("no-line").addEventListener("click", () => { setTool("window"), setLine(null); at("tool-line").focus(); });
  at("zoom-all").addEventListener("click", () => setRegion(0, 0, S.size[2], S.size[1]));
  at("keep").addEventListener("click", () => {
    S.other = {...S.options};
    panes.B.found = panes.A.found, S.difference = null;
    at("compare").hidden = false;
    askB.want();
  });
  at("swap").addEventListener("click", () => {
    [S.options, S.other] = [S.other, S.options];
    [panes.A.found, panes.B.found] = [panes.B.found, panes.A.found], S.difference = null;
    fillControls();
    changed();
    askB.want();
  });
  handle(at("picture-a"), hands), handle(at("picture-b"), hands);
  window.addEventListener("resize", () => { redraw(); askA.want(); showSolved(); });
}
