
// What the pages of a run and of its report share.

let parts = {};  // what the parts of a run do, in words of its user, by their names
const rate = (amount, unit) => !(amount > 0) ? "–" : unit === "updates" ? large(amount) + " updates/s" : size(amount) + "/s";

/** A picture with its caption and, if it is not too flat, a scale bar; width and height are lengths in this unit. */
function figureOf(image, caption, width, height, unit) {
  const figure = made("figure"), frame = made("div", "", "frame");
  frame.style.setProperty("--aspect", width / height);
  frame.append(image);
  if (height > width / 8) frame.append(scaleBar(width, unit));
  figure.append(frame, made("figcaption", caption, "soft"));
  return figure;
}

// What a report may say, or may not.
const number = x => typeof x === "number" && Number.isFinite(x);
const list = x => Array.isArray(x) ? x : [];
const object = x => x !== null && typeof x === "object" && !Array.isArray(x) ? x : {};
const words = x => x === null || x === undefined ? "–" : typeof x === "object" ? JSON.stringify(x) : String(x);
const spoken = text => String(text).replaceAll("_", " ");

/** What a report of `recon` says of the scan, the volume and the run. */
function factsOf(report) {
  const g = object(report.geometry), v = object(report.volume), from = object(report.source);
  const inputs = number(from.files) ? counted(from.files, "file") + ", " + size(from.bytes) + ", changed last " + words(from.modified).replace("T", " ").replace("Z", " UTC") +
    ", checksum " + words(from.digest) + " (CRC-32 of names, sizes and the first 16 KiB of each)" : null;
  const amount = (n, thing) => number(n) ? counted(n, thing) : "– " + thing + "s";
  return {
    date: typeof report.begun === "string" ? report.begun.replace("T", " ").replace(/(\.\d+)?Z$/, " UTC") : null,
    input: inputs,
    scan: words(report.format) + ", " + amount(g.views, "view") + " × " + amount(g.rows, "row") + " × " + amount(g.bins, "bin"),
    geometry: g.words || (g.kind ? (g.kind === "cone" && g.rows === 1 ? "fan" : g.kind) + " beam" : null),
    axis: number(g.axis_bin_taken) ? "bin " + rounded(g.axis_bin_taken) + " of the file" : null,
    "pixel of the detector": number(g.pixel_size_mm) ? three(g.pixel_size_mm) + " mm" : "not known",
    volume: list(v.shape).join(" × ") + " (z, y, x), " + words(v.unit),
    "size of a voxel": number(v.pitch_mm) ? three(v.pitch_mm) + " mm" : "not known",
    method: [report.algorithm, report.model, report.variant, report.precision].map(words).map(spoken).join(", ") + (report.matched === false ? ", an unmatched pair" : ""),
    device: list(report.device).join(", "),
    version: "tandem " + words(report.version),
  };
}

