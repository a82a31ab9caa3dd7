
// The recipe, and the run that makes the volume.

let recipeTimer = 0, commandLine = "";
function wantRecipe() {
  clearTimeout(recipeTimer);
  recipeTimer = setTimeout(async () => {
    try {
      const found = await (await send("recipe", {options: S.options, ...bySolver()})).json();
      at("toml").textContent = found.toml;
      commandLine = found.command;
    } catch (wrong) {
      if (wrong.stale) wantRecipe();
      else at("toml").textContent = "# " + wrong.message;
    }
  }, 300);
}

async function copy(button, text) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "copied";
  } catch {
    getSelection().selectAllChildren(at("toml"));
    button.textContent = "select and copy";
  }
  setTimeout(() => { button.textContent = before; }, 1500);
}

function showRun(run) {
  const runs = run.state === "runs", share = run.total > 0 ? run.done / run.total : 0;
  at("run").disabled = runs, at("stop").hidden = !runs, at("progress").hidden = !runs;
  at("progress").firstChild.style.width = 100 * share + "%";
  const of = run.rows ? counted(run.rows.length, "scan") : run.name;
  const states = {
    none: "",
    runs: run.name + ": " + run.stage + (run.total > 0 ? ", " + Math.floor(run.done) + " of " + run.total + " " + (run.what || "") : "") + (run.detail ? ", " + run.detail : ""),
    done: of + ": done" + (run.seconds && !run.rows ? " in " + time(run.seconds) : ""),
    failed: (run.rows || run.error?.startsWith(run.name) ? "" : run.name + ": ") + run.error,
  };
  at("run-state").textContent = states[run.state];
  at("run-state").classList.toggle("wrong", run.state === "failed");
  at("run-many").disabled = runs;
  at("run-rows").hidden = !run.rows;
  if (run.rows) showRows(run.rows);
  if (run.next && at("name").value === run.name) at("name").value = run.next;
}

/** What became of each scan. */
function showRows(rows) {
  at("run-rows").replaceChildren(tableRow(["scan", "", "volume, or error"], "th"), ...rows.map(one =>
    tableRow([one.scan, one.state + (one.state === "done" && one.seconds ? " in " + time(one.seconds) : ""), one.error || one.output])));
}

const scanBoxes = () => [...at("scan-list").querySelectorAll("input")];
const chosenScans = () => scanBoxes().filter(box => box.checked).map(box => box.value);

async function listScans() {
  try {
    const names = await (await answerTo("scans.json")).json(), chosen = chosenScans();
    at("scan-list").replaceChildren(...names.map(name => {
      const row = made("label"), box = made("input");
      box.type = "checkbox", box.value = name, box.checked = chosen.includes(name);
      row.append(box, " " + name);
      return row;
    }));
  } catch (wrong) {
    complain(wrong.message);
  }
}

/** Runs the recipe for the scan that is looked at, or for those that are chosen. */
async function run(event, name, more = {}) {
  event.preventDefault();
  try {
    if (someNoNumber()) throw new Error("a field has what is no number");
    if (more.scans?.length === 0) throw new Error("choose scans first");
    await send("run", {options: S.options, ...bySolver(), name: at(name).value, ...more});
  } catch (wrong) {
    at("run-state").textContent = wrong.message;
    at("run-state").classList.add("wrong");
  }
}

function listen() {
  const events = new EventSource("events");
  events.onmessage = event => { const news = JSON.parse(event.data); showRun(news.run), showSolve(news.solve), showSearch(news.geometry); };
  events.onerror = () => {
    if (events.readyState !== EventSource.CLOSED) return;
    at("run-state").textContent = "no news of runs: tandem look was started anew, has no free connection, or three pages look at this scan already";
    setTimeout(listen, 3000);
  };
}

function setUpRecipe() {
  at("name").value = S.about.volume;
  at("copy-toml").addEventListener("click", () => copy(at("copy-toml"), at("toml").textContent));
  at("copy-command").addEventListener("click", () => copy(at("copy-command"), commandLine));
  at("save-toml").addEventListener("click", () => save(new Blob([at("toml").textContent], {type: "text/plain"}), "recipe.toml"));
  at("run-form").addEventListener("submit", event => run(event, "name"));
  at("many").addEventListener("toggle", () => { if (at("many").open) listScans(); });
  at("many-form").addEventListener("submit", event => run(event, "names", {scans: chosenScans(), each_axis: at("each-axis").checked}));
  for (const [id, on] of [["scans-all", true], ["scans-none", false]])
    at(id).addEventListener("click", () => { for (const box of scanBoxes()) box.checked = on; });
  at("stop").addEventListener("click", () => send("stop", {}).catch(wrong => complain(wrong.message)));
  listen();
}
