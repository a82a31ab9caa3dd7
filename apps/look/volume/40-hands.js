
// What dragging, wheel and keys do in a plane.

function handle(canvas, plane) {
  let from = null;
  const share = e => { const box = canvas.getBoundingClientRect(); return [(e.clientX - box.left) / box.width, (e.clientY - box.top) / box.height]; };
  const within = ([a, b], [u0, u1, v0, v1]) => [u0 + a * (u1 - u0), v0 + b * (v1 - v0)];
  const cross = ([u, v]) => { const next = [...V.at]; next[plane.u] = Math.floor(u), next[plane.v] = Math.floor(v); setCross(next); };
  canvas.addEventListener("pointerdown", e => {
    if (!V.window) return;
    canvas.setPointerCapture(e.pointerId);
    from = {at: share(e), window: {...V.window}, region: regionOf(plane)};
    if (V.tool === "cross") cross(within(from.at, from.region));
  });
  canvas.addEventListener("pointermove", e => {
    if (!from) return;
    const now = share(e), du = now[0] - from.at[0], dv = now[1] - from.at[1], [u0, u1, v0, v1] = from.region;
    if (V.tool === "cross") return cross(within(now, from.region));
    if (V.tool === "move") {
      setPart(plane.u, u0 - du * (u1 - u0), u1 - u0), setPart(plane.v, v0 - dv * (v1 - v0), v1 - v0);
      return want();
    }
    if (V.tool === "line") return setLine(plane.axis, within(from.at, from.region), within(now, from.region));
    const {black, white} = from.window, range = white - black, half = range / 2 * 4 ** dv, middle = (black + white) / 2 - du * range;
    setWindow(middle - half, middle + half);
  });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => { from = null; });
  canvas.addEventListener("wheel", e => {
    e.preventDefault();
    zoom(1.2 ** -Math.sign(e.deltaY), plane, share(e));
  }, {passive: false});
  canvas.addEventListener("keydown", e => {
    const far = e.shiftKey ? 10 : 1, next = [...V.at];
    const step = {ArrowLeft: [plane.u, -1], ArrowRight: [plane.u, 1], ArrowUp: [plane.v, -1], ArrowDown: [plane.v, 1], PageUp: [plane.axis, 1], PageDown: [plane.axis, -1]}[e.key];
    if (step) next[step[0]] += far * step[1], setCross(next);
    else if (e.key === "+" || e.key === "=") zoom(1.5);
    else if (e.key === "-") zoom(1 / 1.5);
    else return;
    e.preventDefault();
  });
}

function setTool(name) {
  V.tool = name;
  for (const one of ["cross", "window", "move", "line"]) at("tool-" + one).setAttribute("aria-pressed", one === name);
}

/** A line in the plane normal to an axis, by voxels along u and v. */
function setLine(axis, from, to) {
  V.line = {axis, from, to};
  if (beside() && !alike(planes[axis].views[0].found, planes[axis].views[1].found)) want([axis]);
  const plane = planes[axis], wide = Math.hypot((to[0] - from[0]) * V.pitch[plane.u], (to[1] - from[1]) * V.pitch[plane.v]);
  const voxels = Math.hypot(to[0] - from[0], to[1] - from[1]);
  at("length").textContent = "line in plane " + axisNames[axis] + ": " + (V.length === "voxel" ? "" : three(wide) + " " + V.length + ", ") + three(voxels) + (voxels === 1 ? " voxel" : " voxels");
  schedule();
}

/** A line that was pinned goes to the cross, in the plane in which both are; it begins anew where they leave it. */
function followLine() {
  if (!V.pinned) return;
  const off = [0, 1, 2].filter(axis => V.at[axis] !== V.pinned[axis]);
  const axis = [0, 1, 2].find(one => !off.includes(one));
  if (off.length === 0) return;
  if (axis === undefined) return pin(true);
  const {u, v} = planes[axis];
  setLine(axis, [V.pinned[u] + 0.5, V.pinned[v] + 0.5], [V.at[u] + 0.5, V.at[v] + 0.5]);
}

function pin(on) {
  V.pinned = on ? [...V.at] : null;
  at("pin").setAttribute("aria-pressed", on);
}

/** Values of a picture along the line, at its voxels. */
function along(p) {
  const {u, v} = planes[V.line.axis], [u0, u1, v0, v1] = p.region, {from, to} = V.line;
  const voxels = Math.hypot(to[0] - from[0], to[1] - from[1]), count = Math.min(4000, Math.max(2, Math.ceil(voxels) + 1)), points = [];
  const wide = Math.hypot((to[0] - from[0]) * V.pitch[u], (to[1] - from[1]) * V.pitch[v]);
  for (let k = 0; k < count; ++k) {
    const t = k / (count - 1), x = Math.floor((from[0] + t * (to[0] - from[0]) - u0) / p.step), y = Math.floor((from[1] + t * (to[1] - from[1]) - v0) / p.step);
    if (x >= 0 && y >= 0 && x < p.width && y < p.height && x * p.step < u1 - u0 && y * p.step < v1 - v0) points.push([t * wide, p.grey[y * p.width + x]]);
  }
  return points;
}

function drawProfile() {
  at("profile").toggleAttribute("hidden", !V.line);
  if (!V.line) return;
  const plane = planes[V.line.axis], first = seen(plane), curves = [];
  if (first) curves.push({points: along(first), kind: "curve newest"});
  if (V.show !== "difference" && alike(plane.views[0].found, plane.views[1].found)) curves.push({points: along(plane.views[V.show === "B" ? 0 : 1].found), kind: "other"});
  drawCurves(at("profile"), curves, V.unit + " along the line, " + V.length + (curves.length > 1 ? "; blue " + (V.show === "B" ? "B, red A" : "A, red B") : ""));
}
