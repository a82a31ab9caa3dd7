
// What the volumes say of themselves, values at the cross, two volumes, and the picture that is saved.

function show(name) {
  press("show", showNames, name);
  at("planes").classList.toggle("two", name === "both");
  for (const plane of planes) plane.views[1].stage.hidden = name !== "both";
  requestAnimationFrame(() => { redraw(); if (!flickering) want(); });
}

let flickering = 0;
function setFlicker(on) {
  clearInterval(flickering);
  flickering = on ? setInterval(() => show(S.show === "A" ? "B" : "A"), 500) : 0;
  at("flicker").setAttribute("aria-pressed", on);
  if (on) show("A"), want();
}

/** Values at the cross, the newest wish only. */
let valuesWanted = false, valuesFlying = false;
async function wantValues() {
  valuesWanted = true;
  if (valuesFlying) return;
  valuesFlying = true;
  while (valuesWanted) {
    valuesWanted = false;
    try {
      const where = S.at, {values} = await (await send("value", {at: where})).json();
      showValues(where, values);
    } catch (wrong) {
      if (wrong.stale) await sleep(60), valuesWanted = true;
      else complain(wrong.message);
    }
  }
  valuesFlying = false;
}

function showValues(where, values) {
  const a = S.about.volumes[0], said = v => v === null ? "none" : String(Number(v.toPrecision(5))).replaceAll("-", "−") + " " + a.unit;
  const rows = {"voxel z, y, x": where.join(", ")};
  if (a.centre) rows["place x, y, z"] = [2, 1, 0].map(k => three((where[k] - (S.size[k] - 1) / 2) * S.pitch[k] + a.centre[k])).join(", ") + " " + S.length;
  values.forEach((v, k) => { rows[values.length > 1 ? "value in " + "AB"[k] : "value"] = said(v); });
  if (values.length > 1 && values.every(v => v !== null)) rows["A − B"] = said(values[0] - values[1]);
  listed("values", Object.entries(rows));
}

function showFacts() {
  const rows = S.about.volumes.flatMap((v, k) => {
    const some = {[beside() ? "AB"[k] : "file"]: v.file, format: v.format + (v.levels > 1 ? ", " + v.levels + " levels" : "")};
    some["voxels z, y, x"] = v.shape.join(" × ");
    some.pitch = v.unit_of_length === "voxel" ? "not recorded" : [...new Set(v.pitch.map(rounded))].join(" × ") + " " + v.unit_of_length;
    if (k > 0 && v.offset.some(n => n !== 0)) some["begins at"] = "voxel " + v.offset.join(", ") + " of A";
    if (!v.complete) some.missing = v.missing;
    return Object.entries(some);
  });
  listed("facts", rows);
  const names = S.about.volumes.map(v => fileName(v.file));
  at("file").textContent = names.join(" beside "), document.title = names[0] + ", tandem look";
  at("words").textContent = S.size.join(" × ") + " voxels";
}

/** The three planes as they are seen, with their scale bars, in one picture. */
function pictureOfAll() {
  const views = planes.flatMap(plane => plane.views.filter(view => !view.stage.hidden).map(view => ({plane, canvas: view.canvas, region: seen(plane).region})));
  const gap = 8, all = made("canvas"), context = all.getContext("2d");
  all.width = views.reduce((sum, one) => sum + one.canvas.width + gap, -gap), all.height = Math.max(...views.map(one => one.canvas.height));
  context.fillStyle = "#000", context.fillRect(0, 0, all.width, all.height);
  let left = 0;
  for (const {plane, canvas, region} of views) {
    context.drawImage(canvas, left, 0);
    const [across] = extent(plane, region), scale = scaleBar(across, S.length), wide = parseFloat(scale.style.width) / 100 * canvas.width;
    context.fillStyle = "#fff", context.font = 14 * devicePixelRatio + "px sans-serif";
    context.fillRect(left + 12, canvas.height - 12, wide, 3), context.fillText(scale.textContent, left + 12, canvas.height - 18);
    left += canvas.width + gap;
  }
  return all;
}

function savePng() {
  pictureOfAll().toBlob(blob => save(blob, "planes_" + S.at.join("_") + ".png"));
}

/** A slider and a field for each axis. */
function makeSliders() {
  at("sliders").replaceChildren(...[0, 1, 2].map(axis => {
    const name = axisNames[axis], row = made("label", "", "slider"), slider = made("input"), number = made("input");
    slider.type = "range", slider.id = "at-" + name, number.type = "number", number.id = "number-" + name;
    number.setAttribute("aria-label", name);
    for (const one of [slider, number]) {
      one.min = 0, one.max = S.size[axis] - 1, one.step = 1, one.value = S.at[axis];
      one.addEventListener("input", () => {
        if (one.value === "") return;
        const next = [...S.at];
        next[axis] = Number(one.value);
        setCross(next);
      });
    }
    row.append(made("span", name), slider, number);
    return row;
  }));
}

function setUpButtons() {
  setUpHands(tools, name => { setFlicker(false); show(name); });
  at("flicker").addEventListener("click", () => setFlicker(!flickering));
  at("zoom-all").addEventListener("click", showEverything);
  at("marks").addEventListener("change", redraw);
  at("pin").addEventListener("click", () => pin(!S.pinned));
  window.addEventListener("resize", () => { redraw(); want(); });
}

begin(() => {
  const a = S.about.volumes[0];
  S.size = a.shape, S.pitch = a.pitch, S.length = a.unit_of_length, S.unit = a.unit;
  S.at = S.size.map(n => Math.floor(n / 2)), S.part = S.size.map(n => [0, n]);
  at("unit").textContent = a.unit;
  at("compare").hidden = !beside();
  at("planes").replaceChildren(...planes.map(makePlane));
  showFacts();
  makeSliders();
  setUpButtons(), setUpWindow();
  want();
  wantValues();
});
