
// What dragging, wheel and keys do in a plane.

function handsOf(plane) {
  const cross = (_, from, [u, v]) => { const next = [...S.at]; next[plane.u] = Math.floor(u), next[plane.v] = Math.floor(v); setCross(next); };
  const move = ([u0, u1, v0, v1], [a, b], [c, d]) => { setPart(plane.u, u0 + a - c, u1 - u0), setPart(plane.v, v0 + b - d, v1 - v0), want(); };
  return {
    region: () => regionOf(plane),
    tools: {cross, move, line: (_, from, to) => setLine(plane.axis, from, to)},
    closer: (factor, shares) => zoom(factor, plane, shares),
    key: e => {
      const next = [...S.at];
      const step = {ArrowLeft: [plane.u, -1], ArrowRight: [plane.u, 1], ArrowUp: [plane.v, -1], ArrowDown: [plane.v, 1], PageUp: [plane.axis, 1], PageDown: [plane.axis, -1]}[e.key];
      if (step) next[step[0]] += (e.shiftKey ? 10 : 1) * step[1], setCross(next);
      return step;
    },
  };
}

const tools = ["cross", "window", "move", "line"], setTool = name => press("tool", tools, name);

/** A line in the plane normal to an axis, by voxels along u and v. */
function setLine(axis, from, to) {
  S.line = {axis, from, to};
  if (beside() && !alike(planes[axis].views[0].found, planes[axis].views[1].found)) want([axis]);
  const plane = planes[axis], wide = Math.hypot((to[0] - from[0]) * S.pitch[plane.u], (to[1] - from[1]) * S.pitch[plane.v]);
  const voxels = Math.hypot(to[0] - from[0], to[1] - from[1]);
  at("length").textContent = "line in plane " + axisNames[axis] + ": " + (S.length === "voxel" ? "" : three(wide) + " " + S.length + ", ") + three(voxels) + (voxels === 1 ? " voxel" : " voxels");
  redraw();
}

/** A line that was pinned goes to the cross, in the plane in which both are; it begins anew where they leave it. */
function followLine() {
  if (!S.pinned) return;
  const off = [0, 1, 2].filter(axis => S.at[axis] !== S.pinned[axis]);
  const axis = [0, 1, 2].find(one => !off.includes(one));
  if (off.length === 0) return;
  if (axis === undefined) return pin(true);
  const {u, v} = planes[axis];
  setLine(axis, [S.pinned[u] + 0.5, S.pinned[v] + 0.5], [S.at[u] + 0.5, S.at[v] + 0.5]);
}

function pin(on) {
  S.pinned = on ? [...S.at] : null;
  at("pin").setAttribute("aria-pressed", on);
}

const along = p => valuesAlong(p, S.line.from, S.line.to, [S.pitch[planes[S.line.axis].u], S.pitch[planes[S.line.axis].v]]);

function drawProfile() {
  at("profile").toggleAttribute("hidden", !S.line);
  if (!S.line) return;
  const plane = planes[S.line.axis], shown = [seen(plane)].filter(Boolean);
  if (S.show !== "difference" && alike(plane.views[0].found, plane.views[1].found)) shown.push(plane.views[S.show === "B" ? 0 : 1].found);
  plotProfile(shown.map(along), S.unit + " along the line, " + S.length, "blue " + (S.show === "B" ? "B, red A" : "A, red B"));
}
