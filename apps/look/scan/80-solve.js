
// Solvers: iterates as they come, the curve of their residuals, and the weight of total variation as a slider.

/** What the solver of the page is: its options by their names, and whether the recipe is by it. */
S.solver = {}, S.bySolver = false;
let solving = {state: "none"}, solveFrom = null;
const solverRows = new Map();

const askIterate = new Asker("iterate", rough => rough ? null : {side: 1024, ...(isWhole() ? {z: solvedSlice()} : {})}, showIterate);
/** The slice of what was solved that lies at the slice of the page. */
const solvedSlice = () => Math.min(solving.slices - 1, S.z >> solving.binning);

/** The planes along the axis of what was solved. */
const askPlanes = Object.fromEntries(["y", "x"].map(name => [name, new Asker("iterate", rough => rough || !isWhole() ? null : {[name]: Number(at("plane-" + name).value), side: 1024}, found => {
  draw(at("picture-" + name), found, solvedWindow(found));
  at("number-" + name).textContent = found[name];
})]));
const isWhole = () => solving.whole && solving.state === "done";
const solvedWindow = found => at("auto").checked || !S.window ? windowOf(found.grey) : S.window;

function showPlanes() {
  at("planes").hidden = !isWhole() || solving.slices < 2;
  if (at("planes").hidden) return;
  for (const [name, last] of [["y", solving.size[1] - 1], ["x", solving.size[2] - 1]]) {
    const slider = at("plane-" + name);
    if (Number(slider.max) !== last || slider.dataset.set === undefined) slider.max = last, slider.value = Math.floor(last / 2), slider.dataset.set = "";
    askPlanes[name].want();
  }
}

const methodNow = () => S.about.solvers.methods.find(one => one.name === at("method").value);
/** The part of a command for a recipe that says by which solver. */
const bySolver = () => S.bySolver ? {solver: S.solver} : {};

function showIterate(found) {
  const filter = panes.A.found, window = solvedWindow(found);
  draw(at("picture-i"), found, window);
  at("caption-i").textContent = (found.method || at("method").value) + (found.iteration > 0 ? ", iteration " + found.iteration : "") + (found.final ? ", z = " + found.z + " of " + found.slices : "");
  if (found.final) bar(at("stage-i"), found.width * found.pitch, found.length);
  at("figure-j").hidden = !filter;
  if (filter) draw(at("picture-j"), filter, window), at("caption-j").textContent = filter.method + ", z = " + filter.z;
  plot(at("residuals"), [{points: found.residuals, kind: "curve newest"}], "residual over that of the start, by iteration", {logarithmic: true, whole: true, height: 200});
  at("residuals").toggleAttribute("hidden", found.residuals.length < 2);
}

function setSolver(name, value) {
  if (value === "" || value === false) delete S.solver[name];
  else S.solver[name] = value;
  if (S.bySolver) wantRecipe();
}

/** A row for an option of solvers. */
function solverRow(one) {
  const row = rowOf(one, "field"), input = inputFor(one);
  input.id = "solver-" + one.name;
  if (one.name === "iterations") input.placeholder = methodNow().iterations || "";
  row.append(input);
  input.addEventListener(input.type === "text" ? "change" : "input", () => {
    setSolver(one.name, input.type === "checkbox" ? input.checked : input.value.trim());
    if (one.name === "tv-weight") weightAt(Number(input.value));
  });
  solverRows.set(one.name, input);
  return row;
}

function takeMethod() {
  const method = methodNow(), before = S.solver;
  S.solver = {"reconstruction-algorithm": method.name};
  solverRows.clear();
  at("method-help").textContent = method.help;
  at("solver-fields").replaceChildren(...S.about.solvers.options.filter(one => method.options.includes(one.name)).map(solverRow));
  for (const [name, input] of solverRows) {
    if (!(name in before)) continue;
    S.solver[name] = before[name];
    if (input.type === "checkbox") input.checked = true;
    else input.value = before[name];
  }
  at("weight-row").hidden = !method.options.includes("tv-weight");
  if (S.bySolver) wantRecipe();
}

/** The slider stands at this weight. */
function weightAt(weight) {
  if (!(weight > 0)) return;
  const place = Math.log10(weight), slider = at("weight");
  if (place < Number(slider.min) || place > Number(slider.max)) slider.min = place - 2, slider.max = place + 2;
  slider.value = place;
}

async function solve(warm) {
  at("solve-state").classList.remove("wrong");
  solveFrom = {warm, iterations: S.solver.iterations};
  const binning = at("solve-binning").value;
  try {
    await send("solve", {options: S.options, solver: S.solver, z: S.z ?? 0, warm, ...(binning === "" ? {} : {binning: Number(binning)})});
  } catch (wrong) {
    if (wrong.stale) return setTimeout(() => solve(warm), 100);
    at("solve-state").textContent = wrong.message;
    at("solve-state").classList.add("wrong");
  }
}

function wordsOfSolving(now) {
  if (now.state === "none") return "";
  if (now.state === "failed") return now.error;
  if (now.state === "runs")
    return now.residual !== undefined ? "iteration " + now.iteration + ", residual " + three(now.residual) + (now.residual <= 1 ? " of the first" : " times the first") : now.stage + (now.detail ? ": " + now.detail : "") + " ...";
  const binned = now.binning > 0 ? "; cells are binned by " + 2 ** now.binning : "", weight = now.tv_weight ? "; weight " + three(now.tv_weight) : "";
  return now.method + ": " + (now.stopped_by ? counted(now.iterations, "iteration") : counted(now.slices, "slice")) + " in " + time(now.seconds) + (["", "max_iterations"].includes(now.stopped_by) ? "" : ", " + now.stopped_by.replaceAll("_", " ")) + weight + binned +
    (now.warm ? "; begun at the volume before, and the recipe begins anew" : "");
}

/** Numbers that were found become those of the recipe: where it was stopped, and the weight. */
function takeFound(now) {
  const mine = solveFrom;
  solveFrom = null;
  if (!mine) return;
  if (now.tv_weight && !("tv-weight" in S.solver)) {
    const text = String(Number(now.tv_weight.toPrecision(7)));
    if (solverRows.has("tv-weight")) solverRows.get("tv-weight").value = text, setSolver("tv-weight", text), weightAt(now.tv_weight);
  }
  if (!now.warm && now.stopped_by !== "max_iterations" && now.iterations > 0 && solverRows.has("iterations")) {
    const stop = solverRows.get("stop");
    solverRows.get("iterations").value = now.iterations, setSolver("iterations", String(now.iterations));
    if (stop) stop.value = "", setSolver("stop", "");
  }
}

function showSolve(now) {
  const news = now.picture !== solving.picture, ended = now.state !== "runs" && solving.state === "runs";
  solving = now;
  document.body.dataset.solve = now.state;
  at("solve-stop").hidden = now.state !== "runs";
  at("solve-state").classList.toggle("wrong", now.state === "failed");
  at("solve-state").textContent = wordsOfSolving(now);
  if (ended && now.state === "done") takeFound(now);
  if (news || ended) showSolved();
}

/** Pictures are drawn as wide as they are seen, so not before. */
function showSolved() {
  if (S.tab !== "solve" || !(solving.picture > 0)) return;
  askIterate.want();
  showPlanes();
}

function setUpSolve() {
  at("method").replaceChildren(...S.about.solvers.methods.map(one => made("option", one.name)));
  at("method").value = "tv";
  at("method").addEventListener("change", takeMethod);
  at("solve-form").addEventListener("submit", e => { e.preventDefault(); solve(false); });
  at("solve-stop").addEventListener("click", () => send("enough", {}).catch(wrong => complain(wrong.message)));
  for (const name of ["y", "x"]) at("plane-" + name).addEventListener("input", () => askPlanes[name].want());
  at("by-solver").addEventListener("change", () => { S.bySolver = at("by-solver").checked; wantRecipe(); });
  at("weight").addEventListener("input", () => {
    const text = String(Number((10 ** Number(at("weight").value)).toPrecision(4)));
    solverRows.get("tv-weight").value = text;
    setSolver("tv-weight", text);
    solve(true);
  });
  takeMethod();
}
