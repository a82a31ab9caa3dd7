/** A cell with a share as a bar beside its text. */
function cell(text, share, kind = "") {
  const td = made("td"), outside = made("span", "", "progress"), inside = made("i");
  inside.style.width = 100 * Math.min(1, Math.max(0, share)) + "%";
  outside.append(inside);
  td.append(outside, made("span", text, "text " + kind));
  return td;
}

const seen = [];  // states of the last seconds, for shares of time

function showWhole(s) {
  const {name, detail} = s.stage, station = some => s.stations.find(at => at.name === some);
  const main = station("iterate") || station("back-project"), solves = name === "iterate";
  const {done, total} = s.slices > 0 ? {done: main ? main.slices : 0, total: s.slices} : s.stage;
  const share = s.ended === "done" ? 1 : total > 0 ? Math.min(1, done / total) : 0;
  const [first, ...others] = detail.split(", ");  // "iteration 10 of 60, residual 0.3 of the first"
  at("stage").textContent = s.ended === "done" ? "done" : (parts[name] || name || "starting") + (solves ? ", " + first : "");
  const whole = solves ? (station("write") || {slices: 0}).slices : done;
  const counts = total > 0 && (!solves || whole > 0) ? Math.floor(whole + 1e-6) + " of " + total + " slices, " : "";
  at("share").textContent = s.ended === "done" ? "" : total > 0 ? counts + Math.floor(100 * share) + " %" : "";
  at("detail").textContent = s.ended === "done" ? "" : solves ? others.join(", ") : detail;
  document.querySelector("#whole .progress > i").style.width = 100 * share + "%";
  const speed = s.slices > 0 ? done / (s.seconds - s.since) : 0;
  const left = !s.ended && speed > 0 && done < total ? ", about " + time((total - done) / speed) + " left" : "";
  at("times").textContent = s.ended === "done" ? "took " + time(s.seconds) : time(s.seconds) + " since the start" + left;
  document.title = (s.ended ? (s.ended === "done" ? "done" : "failed") : Math.floor(100 * share) + " %") + " · tandem";
}

function showState(text, kind) {
  at("state").textContent = text;
  at("state").className = kind;
}

/** The rate that makes the forecast of a station true; 0 if there is none. */
function known(s, station) {
  const part = s.forecast && s.forecast.stations.find(p => p.name === station.name.replace("-", ""));
  return part && station.slices > 0 ? station.amount / station.slices * s.slices / part.seconds : 0;
}

function showStations(s) {
  seen.push(s);
  while (seen.length > 2 && s.seconds - seen[0].seconds > 5) seen.shift();
  const before = seen[0], span = s.seconds - before.seconds;
  at("stations").replaceChildren(...s.stations.map(now => {
    const was = before.stations.find(other => other.name === now.name);
    const busy = span > 0.2 ? (now.seconds - (was ? was.seconds : 0)) / span : now.working > 0 ? 1 : 0;
    return tableRow([parts[now.name] || now.name,
                     now.slices > 0 ? cell(Math.floor(now.slices + 1e-6) + " of " + s.slices, now.slices / s.slices, "long") : "–",
                     cell(Math.round(100 * busy) + " %", busy / Math.max(1, now.working)),
                     rate(now.rate, now.unit), rate(Math.max(now.best, known(s, now)), now.unit), time(now.seconds)]);
  }));
}

const planes = {iterate: "slice", newest: "newest slice,", z: "plane", y: "plane", x: "plane"};
const axes = {iterate: "z", newest: "z", z: "z", y: "y", x: "x"};

/** Width and height of a picture, as lengths. */
function extentOf(p, volume) {
  const [z, y, x] = volume ? volume.shape.map((n, k) => n * volume.pitch[k]) : [1, p.height, p.width];
  return axes[p.name] === "z" ? [x, y] : axes[p.name] === "y" ? [x, z] : [y, z];
}

function showPictures(s) {
  if (s.pictures.length === 0) return;
  const volume = s.plan && s.plan.volume, all = at("pictures");
  const figures = s.pictures.map(p => {
    const caption = planes[p.name] + " " + axes[p.name] + " = " + p.index + " of " + p.count + (p.detail ? ", " + p.detail : "");
    let figure = at("picture-" + p.name);
    if (!figure) {
      figure = figureOf(made("img"), caption, ...extentOf(p, volume), volume ? volume.unit_of_length : "pixel");
      figure.id = "picture-" + p.name;
    }
    if (figure.dataset.number === String(p.number)) return figure;
    figure.dataset.number = p.number;
    const next = new Image();  // the old picture stays until the new one is there
    next.alt = caption;
    next.onload = () => {
      figure.querySelector("img").replaceWith(next);
      figure.lastChild.textContent = caption;
    };
    next.src = p.file + "?" + p.number;
    return figure;
  });
  if (figures.length !== all.children.length || figures.some((figure, k) => figure !== all.children[k])) all.replaceChildren(...figures);
  figures.forEach((figure, k) => figure.firstChild.classList.toggle("large", k === 0));
  const unit = volume ? " " + volume.unit : "", p = s.pictures[0];
  at("greys").textContent = "black " + three(p.black) + ", white " + three(p.white) + unit + (s.ended === "done" || !s.pictures.some(other => other.name === "z") ? "" : "; hatched: not made yet");
}

function showCurves(s) {
  const curves = s.curves.filter(c => c.residuals.length > 0);
  at("curves").hidden = curves.length === 0;
  if (curves.length === 0) return;
  plot(at("plot"), curves.map((c, k) => ({
    points: c.residuals.map((r, j) => [c.iterations[j], r]),
    kind: k + 1 === curves.length ? "curve newest" : "curve",
  })), "residual, relative to the start", {logarithmic: true, below: "iteration", whole: true});
  const {slices, residuals, iterations} = curves[curves.length - 1], last = slices[1] - 1;
  at("legend").textContent = (slices[0] === last ? "slice " + last : "slices " + slices[0] + " to " + last) + ": " +
    three(residuals[residuals.length - 1]) + " after iteration " + iterations[iterations.length - 1] +
    (curves.length > 1 ? "; thin: the slices before" : "");
}

let lines = -1;
function showLog(s) {
  const mark = s.log.length > 0 ? s.log.length + s.log[s.log.length - 1].seconds : 0;
  if (mark === lines) return;
  lines = mark;
  const list = at("log"), below = list.scrollHeight - list.scrollTop - list.clientHeight < 8;
  list.replaceChildren(...s.log.map(line => {
    const row = made("li");
    row.append(made("span", time(line.seconds)), made("span", line.text));
    return row;
  }));
  if (below) list.scrollTop = list.scrollHeight;
}

let told = false;
function showPlan(s) {
  const p = s.plan;
  if (!p || told || s.stations.length === 0) return;
  told = true;
  at("files").textContent = p.input + " → " + p.output;
  listed("facts", Object.entries({
    ...factsOf(p),
    "at once": counted(p.chunk_slices, "slice"),
    memory: size(p.memory_bytes) + " at most" +
      (p.device_memory_bytes > 0 ? ", " + size(p.device_memory_bytes) + " of each GPU" : ""),
    forecast: s.forecast ? time(s.forecast.seconds) + "; longest: " + (parts[s.forecast.slowest] || s.forecast.slowest)
                         : "none; it needs an earlier run like this one",
  }));
}

function show(s) {
  parts = s.parts;
  showPlan(s);
  showWhole(s);
  showStations(s);
  showPictures(s);
  showCurves(s);
  showLog(s);
  const failed = s.ended !== "" && s.ended !== "done";
  showState(failed ? "failed" : s.ended || "running", failed ? "failed" : s.ended);
  at("error").hidden = !failed;
  at("error").textContent = failed ? s.ended : "";
}

let silent = 0, over = false, news = "";
async function look() {
  try {
    const answer = await fetch("state.json?after=" + news);  // is answered when there is news, or after a while
    if (!answer.ok) throw new Error(answer.statusText);
    const s = await answer.json();
    silent = 0;
    news = s.news;
    show(s);
    over = s.ended !== "";
  } catch (error) {
    if (++silent >= 4) {
      over = true;
      showState("the run has ended, or was ended", "");
    }
  }
  if (!over) setTimeout(look, silent > 0 ? 250 : 100);
}
look();
