
// What the volumes say of themselves, values at the cross, two volumes, and the picture that is saved.

function show(name) {
  V.show = name;
  for (const one of ["A", "B", "both", "difference"]) at("show-" + one).setAttribute("aria-pressed", one === name);
  at("planes").classList.toggle("two", name === "both");
  for (const plane of planes) plane.views[1].stage.hidden = name !== "both";
  requestAnimationFrame(() => { schedule(); if (!flickering) want(); });
}

let flickering = 0;
function setFlicker(on) {
  clearInterval(flickering);
  flickering = on ? setInterval(() => show(V.show === "A" ? "B" : "A"), 500) : 0;
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
      const where = V.at, {values} = await (await send("value", {at: where})).json();
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
  if (a.centre) rows["place x, y, z"] = [2, 1, 0].map(k => three((where[k] - (V.size[k] - 1) / 2) * V.pitch[k] + a.centre[k])).join(", ") + " " + V.length;
  values.forEach((v, k) => { rows[values.length > 1 ? "value in " + "AB"[k] : "value"] = said(v); });
  if (values.length > 1 && values.every(v => v !== null)) rows["A − B"] = said(values[0] - values[1]);
  at("values").replaceChildren(...Object.entries(rows).flatMap(([name, text]) => [made("dt", name), made("dd", text)]));
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
  at("facts").replaceChildren(...rows.flatMap(([name, text]) => [made("dt", name), made("dd", text)]));
  const names = S.about.volumes.map(v => v.file.replace(/\/+$/, "").split("/").pop());
  at("file").textContent = names.join(" beside "), document.title = names[0] + ", tandem look";
  at("words").textContent = V.size.join(" × ") + " voxels";
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
    const [across] = extent(plane, region), scale = scaleBar(across, V.length), wide = parseFloat(scale.style.width) / 100 * canvas.width;
    context.fillStyle = "#fff", context.font = 14 * devicePixelRatio + "px sans-serif";
    context.fillRect(left + 12, canvas.height - 12, wide, 3), context.fillText(scale.textContent, left + 12, canvas.height - 18);
    left += canvas.width + gap;
  }
  return all;
}

function savePng() {
  pictureOfAll().toBlob(blob => {
    const link = made("a");
    link.href = URL.createObjectURL(blob), link.download = "planes_" + V.at.join("_") + ".png";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
}

/** A slider and a field for each axis. */
function makeSliders() {
  at("sliders").replaceChildren(...[0, 1, 2].map(axis => {
    const name = axisNames[axis], row = made("label", "", "slider"), slider = made("input"), number = made("input");
    slider.type = "range", slider.id = "at-" + name, number.type = "number", number.id = "number-" + name;
    number.setAttribute("aria-label", name);
    for (const one of [slider, number]) {
      one.min = 0, one.max = V.size[axis] - 1, one.step = 1, one.value = V.at[axis];
      one.addEventListener("input", () => {
        if (one.value === "") return;
        const next = [...V.at];
        next[axis] = Number(one.value);
        setCross(next);
      });
    }
    row.append(made("span", name), slider, number);
    return row;
  }));
}

function setUpButtons() {
  for (const name of ["cross", "window", "move", "line"]) at("tool-" + name).addEventListener("click", () => setTool(name));
  for (const name of ["A", "B", "both", "difference"]) at("show-" + name).addEventListener("click", () => { setFlicker(false); show(name); });
  at("flicker").addEventListener("click", () => setFlicker(!flickering));
  at("zoom-in").addEventListener("click", () => zoom(1.5));
  at("zoom-out").addEventListener("click", () => zoom(1 / 1.5));
  at("zoom-all").addEventListener("click", showEverything);
  at("marks").addEventListener("change", schedule);
  at("save-png").addEventListener("click", savePng);
  at("pin").addEventListener("click", () => pin(!V.pinned));
  window.addEventListener("resize", () => { schedule(); want(); });
}

async function begin() {
  try {
    S.about = await (await fetch("about.json")).json();
  } catch {
    return complain("tandem look does not answer; was it ended?");
  }
  const a = S.about.volumes[0];
  V.size = a.shape, V.pitch = a.pitch, V.length = a.unit_of_length, V.unit = a.unit;
  V.at = V.size.map(n => Math.floor(n / 2)), V.part = V.size.map(n => [0, n]);
  at("unit").textContent = a.unit;
  at("compare").hidden = !beside();
  at("planes").replaceChildren(...planes.map(makePlane));
  showFacts();
  makeSliders();
  setUpButtons(), setUpWindow();
  want();
  wantValues();
}
begin();
