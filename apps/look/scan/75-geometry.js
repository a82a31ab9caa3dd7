
// The geometry from the frames: what tandem calibrate finds, and which options take it.

const namesOfNumbers = {
  axis_bin: "axis, bin", roll_deg: "roll of the detector, degrees", tilt_deg: "tilt of the axis, degrees",
  elevation_deg: "elevation of the rays, degrees", midplane_row: "midplane, row", rotation: "sense of rotation",
  bin_shifts: "shifts of views, bins, root mean square", row_shifts: "shifts of views, rows, root mean square",
  sod_mm: "source to axis, mm", sdd_mm: "source to detector, mm", yaw_deg: "yaw of the detector", pitch_deg: "pitch of the detector",
};

/** The option that takes a number, if the page has its field. */
const takes = one => one.option && fields.has(one.option);

function takeNumber(one) {
  setValue(one.option, one.option === "rotation-direction" ? one.text : Number(one.text));
}

/** What is found, how certain it is, by what it is told, and a button that takes it. */
function rowOfNumber(one) {
  const last = made("td"), plus = one.text.startsWith("-") ? "−" : "";
  const value = one.what === "rotation" ? "against the angles" : plus + one.text.replace("-", "") + " ± " + Number(one.uncertainty.toPrecision(2));
  if (takes(one)) {
    const take = made("button", "take");
    take.title = titleOf(one.option) + " " + one.text;
    take.setAttribute("aria-label", "take " + namesOfNumbers[one.what]);
    take.addEventListener("click", () => { takeNumber(one); setTab("slice"); });
    last.append(take);
  } else last.textContent = one.why_not;
  return tableRow([namesOfNumbers[one.what], value, one.told_by, last]);
}

/** Slices before and after, two in a row. */
function showSlicesOfGeometry(found) {
  const tall = found.height / found.captions.length, window = {black: found.window[0], white: found.window[1]};
  at("geometry-slices").replaceChildren(...found.captions.map((caption, k) => {
    const figure = made("figure"), stage = made("div", "", "stage"), canvas = painted(partOf(found, tall, k), window);
    canvas.setAttribute("role", "img"), canvas.setAttribute("aria-label", "Slice, " + caption);
    stage.append(canvas);
    figure.append(stage, made("figcaption", caption, "soft"));
    return figure;
  }));
}

function showGeometry(found) {
  at("geometry-numbers").replaceChildren(tableRow(["what", "value", "told by", ""], "th"), ...found.numbers.map(rowOfNumber));
  const notes = [...found.warnings, ...found.not_told.map(one => "not told: " + (namesOfNumbers[one.what] || one.what) + ": " + one.why),
                 ...found.left_out.map(name => titleOf(name) + " was left out for the search")];
  at("geometry-notes").replaceChildren(...notes.map(text => made("li", text)));
  at("geometry-commands").textContent = found.commands.join("\n");
  showSlicesOfGeometry(found);
  const all = found.numbers.filter(takes);
  at("take-geometry").hidden = all.length < 2;
  at("take-geometry").onclick = () => { all.forEach(takeNumber); setTab("slice"); };
  at("geometry-found").hidden = false;
}

/** What a search does now, as the stream of news tells it. */
function showSearch(now) {
  if (now && at("calibrate").disabled) at("geometry-state").textContent = now.stage + (now.share > 0 ? ", " + Math.floor(100 * now.share) + " %" : "") + " ...";
}

async function findGeometry() {
  at("calibrate").disabled = true, at("take-geometry").hidden = true, at("geometry-found").hidden = true;
  at("geometry-state").textContent = "read frames ...";
  try {
    showGeometry(await picture("calibrate", {options: S.options, each_view: at("each-view").checked, side: 512, pane: paneName("calibrate")}));
    at("geometry-state").textContent = "";
  } catch (wrong) {
    at("geometry-state").textContent = wrong.message;
  }
  at("calibrate").disabled = false;
}

function setUpGeometry() {
  at("calibrate").addEventListener("click", findGeometry);
}
