
// Three planes of a volume, and of another one beside it, through one point: the cross.

/** What is looked at. Axes are 0 z, 1 y, 2 x; `part` is the box that is seen, half open. */
Object.assign(S, {at: [0, 0, 0], part: null, tool: "cross", pitch: [1, 1, 1], length: "voxel"});
const axisNames = ["z", "y", "x"];
/** Axes of a plane: the one it is normal to, the one to the right, the one down. */
const planes = [{axis: 0, u: 2, v: 1}, {axis: 1, u: 2, v: 0}, {axis: 2, u: 1, v: 0}];

const regionOf = ({u, v}) => [...S.part[u], ...S.part[v]];
const beside = () => S.about.volumes.length > 1;

/** Whether a plane of a volume is seen, or a line has its values: A is 0, B is 1. */
const needed = (of, plane) => S.show === "AB"[of] ||
  beside() && (S.show === "both" || S.show === "difference" || flickering > 0 || S.line && S.line.axis === plane.axis);

/** Whether two pictures are of the same voxels. */
const alike = (a, b) => a && b && a.width === b.width && a.height === b.height && String(a.region) === String(b.region) && a.at === b.at;

/** Makes the pictures of a plane: A, and B beside it. */
function makePlane(plane) {
  const name = axisNames[plane.axis], figure = made("figure", "", "plane"), pair = made("div", "", "pair");
  figure.id = "plane-" + name;
  plane.views = ["A", "B"].map((letter, of) => {
    const stage = made("div", "", "stage"), canvas = made("canvas");
    canvas.id = "picture-" + name + (of ? "-b" : "");
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", "Plane " + name + (of ? " of the other volume" : "") + "; arrows move the cross, page up and down the plane, plus and minus zoom");
    stage.append(canvas);
    stage.hidden = of > 0;
    pair.append(stage);
    const view = {stage, canvas, found: null};
    view.ask = new Asker("plane", rough => needed(of, plane) ? planeCommand(plane, of, rough) : null, found => { view.found = found; redraw(); });
    view.ask.shown = took;
    handle(canvas, handsOf(plane));
    return view;
  });
  plane.caption = made("figcaption", "", "soft");
  figure.append(pair, plane.caption);
  return figure;
}

function planeCommand(plane, of, rough) {
  const wide = Math.round(2 * devicePixelRatio * Math.max(64, plane.views[0].stage.clientWidth));
  const side = Math.min(8192, rough ? 128 : Math.max(256, wide));
  return {axis: axisNames[plane.axis], at: S.at[plane.axis], region: regionOf(plane), of, side, pane: paneName(axisNames[plane.axis] + of)};
}

/** Asks for planes anew: all, or those normal to these axes. */
function want(axes = [0, 1, 2]) {
  for (const plane of planes) if (axes.includes(plane.axis)) for (const view of plane.views) view.ask.want();
}

/** Draws what there is, once for all that comes until then. */
let due = false;
function redraw() {
  if (due) return;
  due = true;
  requestAnimationFrame(() => { due = false; showAll(); });
}

/** A − B, if both are of the same voxels. */
function differenceOf([{found: a}, {found: b}]) {
  if (!alike(a, b)) return null;
  if (a.minus !== b) a.minus = b, a.less = less(a, b);
  return a.less;
}

/** What the main picture of a plane shows. */
function seen(plane) {
  if (S.show === "difference") return differenceOf(plane.views);
  return plane.views[S.show === "B" ? 1 : 0].found;
}

function showAll() {
  if (!planes.some(seen)) return;
  automaticWindow(valuesSeen);
  for (const plane of planes) showPlane(plane);
  showHistogram();
  drawProfile();
}

function showPlane(plane) {
  const first = seen(plane), both = S.show === "both";
  plane.views[1].stage.hidden = !both;
  if (!first) return;
  drawView(plane, plane.views[0], first);
  if (both && plane.views[1].found) drawView(plane, plane.views[1], plane.views[1].found);
  const name = axisNames[plane.axis], letter = !beside() ? "" : {both: "A and B: ", difference: "A − B: "}[S.show] || S.show + ": ";
  plane.caption.textContent = letter + name + " = " + first.at + " of " + S.size[plane.axis] + "; " + axisNames[plane.u] + " to the right, " + axisNames[plane.v] + " down" + (first.step > 1 ? "; a pixel for " + first.step + " voxels" : "");
}

/** Lengths of a region along u and v. */
const extent = (plane, [u0, u1, v0, v1]) => [(u1 - u0) * S.pitch[plane.u], (v1 - v0) * S.pitch[plane.v]];

function drawView(plane, view, p) {
  const [across, down] = extent(plane, p.region), aspect = across / down;
  view.stage.style.maxWidth = Math.max(80, Math.round(640 * aspect)) + "px";
  const context = draw(view.canvas, p, S.window, aspect);
  bar(view.stage, across, S.length);
  if (at("marks").checked) drawMarks(plane, context, p.region);
}

/** The cross, and the line if it lies in this plane. */
function drawMarks(plane, context, region) {
  const {canvas} = context, [u0, u1, v0, v1] = region, X = u => (u - u0) / (u1 - u0) * canvas.width, Y = v => (v - v0) / (v1 - v0) * canvas.height;
  const x = X(S.at[plane.u] + 0.5), y = Y(S.at[plane.v] + 0.5), gap = 10 * devicePixelRatio;
  context.strokeStyle = "#38b6ff", context.lineWidth = devicePixelRatio;
  context.beginPath();
  for (const [a, b, c, d] of [[0, y, x - gap, y], [x + gap, y, canvas.width, y], [x, 0, x, y - gap], [x, y + gap, x, canvas.height]]) context.moveTo(a, b), context.lineTo(c, d);
  context.stroke();
  if (S.line?.axis !== plane.axis) return;
  drawLine(context, region, S.line.from, S.line.to);
}

/** The cross goes to this voxel; planes follow. */
function setCross(next) {
  const before = S.at;
  S.at = next.map((k, axis) => Math.min(S.size[axis] - 1, Math.max(0, Math.round(k))));
  const moved = [0, 1, 2].filter(axis => S.at[axis] !== before[axis]);
  if (moved.length === 0) return;
  bringIntoView(moved);
  for (const axis of moved) for (const id of ["at-", "number-"]) at(id + axisNames[axis]).value = S.at[axis];
  followLine();
  want(moved);
  wantValues();
  redraw();
}

/** The part that is seen has the cross in it. */
function bringIntoView(moved) {
  for (const axis of moved) {
    const [first, last] = S.part[axis], k = S.at[axis];
    if (k >= first && k < last) continue;
    const begin = k < first ? k : k + 1 - (last - first);
    setPart(axis, begin, last - first);
    want();
  }
}

function setPart(axis, first, count) {
  const size = S.size[axis], n = Math.round(Math.min(size, Math.max(Math.min(size, 8), count)));
  const begin = Math.round(Math.min(size - n, Math.max(0, first)));
  S.part[axis] = [begin, begin + n];
}

/** Closer by a factor about a point of a plane, in shares of its picture; without one, about the cross in all axes. */
function zoom(factor, plane = null, shares = [0.5, 0.5]) {
  for (const axis of plane ? [plane.u, plane.v] : [0, 1, 2]) {
    const [first, last] = S.part[axis], n = (last - first) / factor;
    const share = plane ? shares[axis === plane.u ? 0 : 1] : Math.min(1, Math.max(0, (S.at[axis] + 0.5 - first) / (last - first)));
    setPart(axis, first + share * (last - first - n), n);
  }
  want();
}

function showEverything() {
  S.part = S.size.map(n => [0, n]);
  want();
}
