const report = JSON.parse(at("report").textContent), volume = JSON.parse(at("volume").textContent);
parts = volume.parts;
const show = id => at(id).closest("section").hidden = false;

/** From the start of the run until the volume had its name; older reports know only of the work between. */
const took = object(report.seconds).run ?? object(report.seconds).total;
const whole = x => Math.round(x).toLocaleString("en");

function showNumbers() {
  const quality = object(report.quality), residuals = list(report.residuals).filter(number);
  const told = [
    ["time", number(took) ? time(took) : null],
    ["method", report.algorithm],
    ["iterations", report.iterations],
    ["stopped by", report.stopped_by],
    ["residual, of the first", residuals.length > 0 ? three(residuals[residuals.length - 1]) : null],
    ["PSNR", number(quality.psnr_db) ? three(quality.psnr_db) + " dB" : null],
    ["SSIM", number(quality.ssim) ? three(quality.ssim) : null],
    ["RMSE, " + words(object(report.volume).unit), number(quality.rmse) ? three(quality.rmse) : null],
    ["memory at most", number(report.peak_memory_bytes) ? size(report.peak_memory_bytes) : null],
  ];
  for (const [name, text] of told) {
    if (text === null || text === undefined || text === "") continue;
    const box = made("div");
    box.append(made("span", name, "soft"), made("b", spoken(text)));
    at("numbers").append(box);
  }
}

function showWarnings() {
  const warnings = list(report.warnings);
  if (warnings.length === 0) return;
  show("warnings");
  for (const text of warnings) at("warnings").append(made("li", words(text)));
}

const chart = label => drawn("svg", {class: "plot", viewBox: "0 0 640 264", role: "img", "aria-label": label});

/** How many voxels have which value, with the range that the pictures show. */
function histogram({low, high, counts, below, above, not_finite, slices}) {
  const unit = volume.unit, label = "voxels, logarithmic, against " + unit;
  const svg = chart(label), most = Math.max(...counts, 10);
  const {x, y, left, right, top, bottom, nodes} =
    framed(svg, "voxels", [low, high], [0.5, most], {logarithmic: true, below: "attenuation, " + unit, amount: n => n < 1 ? "" : large(n), top: 62});
  const heights = counts.map((n, k) => "H" + x(low + (high - low) * k / counts.length).toFixed(1) + "V" + y(Math.max(n, 0.5)).toFixed(1));
  nodes.push(drawn("path", {class: "bars", d: "M" + left + " " + bottom + heights.join("") + "H" + right + "V" + bottom + "Z"}));
  for (const [v, name] of [[volume.black, "black"], [volume.white, "white"]])
    nodes.push(drawn("line", {class: "curve", "stroke-dasharray": "5 4", x1: x(v), x2: x(v), y1: top, y2: bottom}),
               drawn("text", {x: x(v), y: top - 6, "text-anchor": "middle"}, name));
  svg.replaceChildren(...nodes);
  const outside = [[below, "below"], [above, "above"], [not_finite, "not finite"]].filter(([n]) => n > 0).map(([n, where]) => whole(n) + " " + where);
  const figure = made("figure");
  figure.append(svg, made("figcaption", "Values of " + counted(slices, "slice") + (outside.length > 0 ? "; voxels outside: " + outside.join(", ") : ""), "soft"));
  return figure;
}

function showPictures() {
  if (volume.missing) {
    at("pictures").append(made("span", "no pictures: " + volume.missing, "soft"));
    return;
  }
  const [first, ...others] = volume.planes.map(p => {
    const image = made("img");
    image.src = p.png;
    image.alt = "plane " + p.axis;
    return figureOf(image, "plane " + p.axis + " = " + p.index + " of " + p.count, p.width, p.height, object(report.volume).unit_of_length || "voxel");
  });
  const beside = made("div", "", "column");
  first.firstChild.classList.add("large");
  beside.append(...others, histogram(volume.histogram));
  at("pictures").append(first, beside);
  at("greys").textContent = "Pictures: black " + three(volume.black) + ", white " + three(volume.white) + " " + volume.unit +
    "; index 0 at the top and at the left.";
}

/** Points (iteration, value) of a curve of the report. */
function pointsOf(curve) {
  const {iterations, values} = object(curve);
  return list(values).map((v, k) => [list(iterations)[k], v]).filter(p => number(p[0]) && number(p[1]));
}

function showCurves() {
  const curves = object(report.curves);
  const charts = [
    ["residual |b − Ax|, relative to the start", list(report.residuals).map((r, k) => [k, r]).filter(p => number(p[1])), true],
    ["change of a step, relative to the volume", pointsOf(curves.change), true],
    ["objective, which the method minimises", pointsOf(curves.objective), true],
    ["PSNR, dB", pointsOf(curves.psnr_db), false],
    ["SSIM", pointsOf(curves.ssim), false],
  ];
  for (const [label, points, logarithmic] of charts) {
    if (points.length < 2) continue;
    show("charts");
    const svg = chart(label);
    plot(svg, [{points, kind: "curve newest"}], label, {logarithmic: logarithmic && points.some(p => p[1] > 0), below: "iteration", whole: true});
    at("charts").append(svg);
  }
  const slices = list(curves.slices);
  if (slices.length > 0)
    at("looked").textContent = "Change, PSNR and SSIM are those of the middle slice of each chunk: slice" +
      (slices.length > 1 ? "s " : " ") + slices.join(", ");
}

/** Steps of the cleaning in words of its user. */
const steps = {
  dezinger: "zingers and hot pixels, in sinograms", "dezinger-projection": "zingers and hot pixels, in projections",
  "dezinger-cube": "zingers and hot pixels, in space and time", saturation: "full pixels", "not-finite": "values that are not finite",
  "dark-flat": "dark and flat correction", air: "air beside the sample", "repair-cells": "hot, stuck and dead cells", "dead-cells": "dead cells",
  "lost-rows": "lost rows", "detector-roll": "roll of the detector", stripes: "stripes", upright: "tilt of the axis", "row-shifts": "shifts of views",
  phase: "phase retrieval", "minus-log": "logarithm", photons: "noise of line integrals", "beam-hardening": "beam hardening",
};

function showSteps() {
  const idle = [], all = list(report.steps).map(object);
  const option = name => ((typeof report.config === "string" ? report.config : "").match(new RegExp("^" + name + ' = "(.*)"$', "m")) || [])[1];
  for (const s of all) {
    const name = (steps[s.name] || words(s.name)) + (s.name === "stripes" && option("remove-stripe-method") ? ", " + option("remove-stripe-method") : "");
    const notes = list(s.rows).length > 0 ? list(s.rows) : Object.entries(object(s.rows));
    if (!(s.replaced > 0) && notes.length === 0) {
      idle.push(name);
      continue;
    }
    const what = notes.map(n => counted(Number(n[1]), "row") + ": " + words(n[0])).join("; ");
    at("steps").append(tableRow([name, number(s.replaced) ? whole(s.replaced) : "–", made("td", what || "–", "text")]));
  }
  if (all.length === 0) return;
  show("steps");
  at("steps").closest("table").hidden = idle.length === all.length;
  at("idle").textContent = idle.length > 0 ? "Steps that replace no values, or found none to replace: " + idle.join("; ") + "." : "";
}

function showStations() {
  const stations = list(report.stations).map(object);
  if (stations.length === 0) return;
  show("stations");
  for (const s of stations) {
    const speed = number(s.gups) ? rate(s.gups * 1e9, "updates") : number(s.gb_per_s) ? rate(s.gb_per_s * 1e9, "bytes") : "–";
    const amount = number(s.updates) ? large(s.updates) + " updates" : number(s.bytes) ? size(s.bytes) : "–";
    at("stations").append(tableRow([parts[s.name] || words(s.name), number(s.seconds) ? s.seconds.toFixed(s.seconds < 9.995 ? 2 : 1) : "–",
                                    number(s.share) ? (100 * s.share).toFixed(0) : "–", amount, speed]));
  }
  const ahead = object(report.forecast);
  at("times").textContent = "Parts work at the same time; the whole run took " + (number(took) ? time(took) : "–") +
    (number(ahead.seconds) ? ", and " + time(ahead.seconds) + " were forecast" : "") + ". An update is one voxel and one view.";
}

function showFacts() {
  listed("facts", Object.entries(factsOf(report)));
  if (typeof report.command_line !== "string" || report.command_line === "tandem") return;
  show("command");
  at("command").textContent = report.command_line;
}

function showParameters() {
  const lines = typeof report.config === "string" ? report.config.split("\n").filter(line => / = /.test(line) && !line.startsWith("#")) : [];
  if (lines.length === 0) return;
  show("parameters");
  listed("parameters", lines.map(line => {
    const equals = line.indexOf(" = "), text = line.slice(equals + 3);
    return [line.slice(0, equals), /^-?[\d.]+$/.test(text) ? String(rounded(Number(text))) : text.replace(/^"(.*)"$/, "$1") || " "];
  }));
}

at("files").textContent = words(report.input) + " → " + words(report.output);
document.title = words(report.output) + " · tandem";
for (const part of [showNumbers, showWarnings, showPictures, showCurves, showSteps, showStations, showFacts, showParameters]) part();
