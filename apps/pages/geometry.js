const data = JSON.parse(at("geometry").textContent), canvas = at("picture"), pen = canvas.getContext("2d");
const times = (f, a) => a.map(x => f * x), long = a => Math.hypot(...a);
const colours = { source: "#d97706", detector: "#2563c4", box: "#1d7f4a", axis: "#8b5cf6" };
const edges = [[0, 1], [2, 3], [4, 5], [6, 7], [0, 2], [1, 3], [4, 6], [5, 7], [0, 4], [1, 5], [2, 6], [3, 7]];
const box = [...Array(8).keys()].map(k => [0, 1, 2].map(i => data.box[k >> i & 1][i]));
const {views} = data, reach = Math.max(...views.flatMap(v => [...v.corners, v.source]).concat(box).map(long));
let turn = 35, tilt = 25, zoom = 1, chosen = 0;

/** From the frame of the volume to the canvas. */
function placed(p) {
  const a = turn * Math.PI / 180, b = tilt * Math.PI / 180, c = Math.cos(a), s = Math.sin(a);
  const x = c * p[0] + s * p[1], depth = -s * p[0] + c * p[1], y = Math.cos(b) * p[2] + Math.sin(b) * depth;
  const scale = zoom * .46 * Math.min(canvas.width, canvas.height) / reach;
  return [canvas.width / 2 + scale * x, canvas.height / 2 - scale * y];
}
function line(points, colour, width = 1, dash = []) {
  pen.strokeStyle = colour, pen.lineWidth = width * devicePixelRatio;
  pen.setLineDash(dash.map(d => d * devicePixelRatio));
  pen.beginPath(), points.map(placed).forEach(([x, y]) => pen.lineTo(x, y)), pen.stroke();
}
function dotAt(p, colour, size) {
  const [x, y] = placed(p);
  pen.fillStyle = colour, pen.beginPath(), pen.arc(x, y, size * devicePixelRatio, 0, 7), pen.fill();
}
function words(text, p, colour) {
  const [x, y] = placed(p);
  pen.fillStyle = colour, pen.font = 13 * devicePixelRatio + "px system-ui", pen.fillText(text, x + 6 * devicePixelRatio, y);
}
/** An arrow from one source to a later one: the sense in which they go. */
function arrow(from, to, colour) {
  const [x, y] = placed(from), [u, v] = placed(to), angle = Math.atan2(v - y, u - x), size = 12 * devicePixelRatio;
  pen.fillStyle = colour, pen.beginPath(), pen.moveTo(u, v);
  for (const side of [-.4, .4]) pen.lineTo(u - size * Math.cos(angle + side), v - size * Math.sin(angle + side));
  pen.fill();
}
function draw() {
  const frame = canvas.getBoundingClientRect(), text = getComputedStyle(document.body).color;
  canvas.width = frame.width * devicePixelRatio, canvas.height = frame.height * devicePixelRatio;
  edges.forEach(([a, b]) => line([box[a], box[b]], colours.box, 1.5));
  [[reach, 0, 0], [0, reach, 0], [0, 0, reach]].forEach((end, k) => {
    const tip = times(.28, end);
    line([[0, 0, 0], tip], text, .7), words("xyz"[k], tip, text);
  });
  if (data.axis) line([[0, 0, -.8 * reach], [0, 0, .8 * reach]], colours.axis, 1, [6, 5]);
  views.forEach(v => dotAt(v.source, colours.source + "70", 2));
  const later = views[Math.min(views.length - 1, Math.max(1, Math.round(views.length / 24)))];
  if (views.length > 1) arrow(views[0].source, later.source, colours.source);
  const v = views[chosen];
  v.corners.forEach((corner, k) => line([v.from[k], corner], colours.source, .8));
  line([...v.outline, v.outline[0]], colours.detector, 2);
  line(v.outline.slice(0, v.outline.length / 2), colours.detector, 4);
  words("bins →", v.corners[1], colours.detector), words("rows →", v.corners[3], colours.detector);
  dotAt(v.source, colours.source, 5);
}
const place = p => "(" + p.map(three).join(", ") + ")", inMm = p => place(p) + " mm";
function tell() {
  const v = views[chosen];
  at("which").textContent = "view " + v.number + " of " + data.count;
  listed("numbers", [data.parallel ? ["rays along", place(v.place)] : ["source", inMm(v.place)], ["detector", inMm(v.middle)],
    ["bin step", inMm(v.bin)], ["row step", inMm(v.row)],
    ["corners seen", v.seen + " of 8 of the box" + (v.seen < 8 ? ": the rest is cut off" : "")]]);
}
at("file").textContent = data.file;
listed("scan", [["beam", data.words], ["views", String(data.count)], ["detector", data.rows + " rows × " + data.bins + " bins"],
  ["volume", data.size.join(" × ") + " voxels of " + data.pitch.map(three).join(" × ") + " mm (x, y, z)"]]);
at("keys").replaceChildren(...[["source", "sources; the arrow says which way they go"], ["detector", "detector, the thick edge is row 0"],
  ["box", "volume"], ...(data.axis ? [["axis", "axis of rotation, z"]] : [])].flatMap(([name, text]) => {
    const key = made("span", "", "key");
    key.style.background = colours[name];
    return [key, text, made("br")];
  }));
at("view").max = views.length - 1;
at("view").addEventListener("input", event => { chosen = Number(event.target.value), tell(), draw(); });
let held = null;
canvas.addEventListener("pointerdown", event => { held = [event.clientX, event.clientY], canvas.setPointerCapture(event.pointerId); });
canvas.addEventListener("pointerup", () => { held = null; });
canvas.addEventListener("pointermove", event => {
  if (!held) return;
  turn += .4 * (event.clientX - held[0]), tilt = Math.max(-90, Math.min(90, tilt + .4 * (event.clientY - held[1])));
  held = [event.clientX, event.clientY], draw();
});
canvas.addEventListener("wheel", event => { event.preventDefault(), zoom *= event.deltaY < 0 ? 1.1 : 1 / 1.1, draw(); }, { passive: false });
document.querySelectorAll("[data-turn]").forEach(button => button.addEventListener("click", () => {
  [turn, tilt] = button.dataset.turn.split(" ").map(Number), zoom = 1, draw();
}));
addEventListener("resize", draw);
tell(), draw();
