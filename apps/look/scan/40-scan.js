
// Sinogram, frames, and what the scan says of itself.

const wordsOfRows = ([first, end]) => end - first > 1 ? "rows " + first + " to " + (end - 1) : end > first ? "row " + first : "no row";

const askSinogram = new Asker("sinogram", rough => rough ? null : {options: S.options, z: S.z, nearest: true, side: 2 * wide(), pane: paneName("sinogram")}, found => {
  draw(at("picture-s"), found, windowOf(found.grey), Math.max(0.6, Math.min(3, found.whole[0] / found.whole[1])));
  at("caption-s").textContent = "line integrals of slice " + found.z + ": " + found.whole[1] + " views (down) × " + found.whole[0] + " bins; " + wordsOfRows(found.rows) + " of the file";
  drawHistogram(at("histogram-s"), found.histogram);
});

const askFrame = new Asker("frame", rough => rough ? null : {options: S.options, kind: at("kind").value, index: Number(at("frame").value), side: 2 * wide(), pane: paneName("frame")}, found => {
  const context = draw(at("picture-f"), found, windowOf(found.grey));
  const h = found.histogram, open = found.whole[0] * found.whole[1] - (h ? h.finite : 0);
  const of = found.of ? " of each cell over " + counted(found.of, "view") : " " + found.index + " of " + found.count;
  at("caption-f").textContent = found.kind + of + ", " + found.whole[1] + " rows × " + found.whole[0] + " bins" +
    (found.saturated > 0 ? "; " + counted(found.saturated, "cell") + " at the end of the range (orange)" : "") +
    (found.dead > 0 ? "; " + counted(found.dead, "dead cell") + " (blue): flats are not above darks" : "") + (open > 0 ? "; " + counted(open, "cell") + " not finite" : "");
  markCells(context, found.marks.saturated, found.whole, "#ffb000"), markCells(context, found.marks.dead, found.whole, "#3aa0ff");
  drawHistogram(at("histogram-f"), h);
});

/** A small square about each of these cells, (bin, row) after (bin, row). */
function markCells(context, places, [bins, rows], colour) {
  const {width, height} = context.canvas, side = Math.max(6 * devicePixelRatio, width / bins);
  context.strokeStyle = colour, context.lineWidth = 1.5 * devicePixelRatio;
  for (let k = 0; k < places.length; k += 2)
    context.strokeRect((places[k] + 0.5) / bins * width - side / 2, (places[k + 1] + 0.5) / rows * height - side / 2, side, side);
}

function countsOfKind() {
  const a = S.about;
  return {projection: a.geometry.views, flat: a.flats, dark: a.darks, mean: 1, spread: 1};
}

function setKind() {
  const last = countsOfKind()[at("kind").value] - 1;
  for (const id of ["frame", "frame-number"]) at(id).max = last, at(id).value = Math.min(Number(at(id).value), last);
  askFrame.want();
}

function showFacts() {
  const a = S.about, g = a.geometry, degrees = a.angles_deg;
  const facts = {
    file: a.file + ": " + a.format,
    counts: counted(g.views, "view") + " × " + counted(g.rows, "row") + " × " + counted(g.bins, "bin") + ", " + a.type,
    geometry: a.words,
    angles: degrees ? rounded(degrees.lowest) + " to " + rounded(degrees.highest) + " degrees, widest gap " + rounded(degrees.widest_gap) : "each view has a place of its own",
    "flats, darks": a.flats + ", " + a.darks,
    axis: g.axis_bin === null ? "not recorded" : "bin " + rounded(g.axis_bin),
    pixel: g.pixel_size_mm === null ? "not recorded" : rounded(g.pixel_size_mm) + " mm",
    energy: a.energy_kev === null ? "not recorded" : rounded(a.energy_kev) + " keV",
  };
  listed("facts", [...Object.entries(facts), ...a.notes.map(text => ["note", text])]);
  at("file").textContent = fileName(a.file), at("file").title = a.file, at("words").textContent = a.words;
  const names = {projection: "projections", flat: "flats", dark: "darks", mean: "mean over views", spread: "spread over views"};
  at("kind").replaceChildren(...Object.entries(countsOfKind()).filter(([, count]) => count > 0).map(([name]) => choice(names[name], name)));
}

const tabs = ["slice", "sinogram", "frames", "sweep", "geometry", "solve", "scan"];
function setTab(name) {
  S.tab = name;
  for (const one of tabs) at("tab-" + one).setAttribute("aria-selected", one === name), at("tab-" + one).tabIndex = one === name ? 0 : -1, at(one).hidden = one !== name;
  if (name === "sinogram") askSinogram.want();
  if (name === "frames") setKind();
  if (name === "sweep" && at("sweep-first").value === "") proposeRange();
  if (name === "slice") requestAnimationFrame(redraw);
  if (name === "solve") requestAnimationFrame(showSolved);
}

function setUpScan() {
  for (const [k, name] of tabs.entries()) {
    at("tab-" + name).addEventListener("click", () => setTab(name));
    at("tab-" + name).addEventListener("keydown", e => {
      const step = {ArrowRight: 1, ArrowLeft: -1}[e.key];
      if (!step) return;
      const next = tabs[(k + step + tabs.length) % tabs.length];
      setTab(next), at("tab-" + next).focus();
    });
  }
  at("kind").addEventListener("change", setKind);
  for (const id of ["frame", "frame-number"])
    at(id).addEventListener("input", () => {
      if (at(id).value === "") return;
      at("frame").value = at(id).value;  // which keeps within its range
      at("frame-number").value = at("frame").value;
      askFrame.want();
    });
}
