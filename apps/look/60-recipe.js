
// The recipe, and the run that makes the volume.

let recipeTimer = 0, commandLine = "";
function wantRecipe() {
  clearTimeout(recipeTimer);
  recipeTimer = setTimeout(async () => {
    try {
      const found = await (await send("recipe", {options: S.options})).json();
      at("toml").textContent = found.toml;
      commandLine = found.command;
    } catch (wrong) {
      if (!wrong.stale) at("toml").textContent = "# " + wrong.message;
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
  const states = {
    none: "",
    runs: run.name + ": " + run.stage + (run.total > 0 ? ", " + Math.floor(run.done) + " of " + run.total + " " + (run.what || "") : "") + (run.detail ? ", " + run.detail : ""),
    done: run.name + ": done" + (run.seconds ? " in " + time(run.seconds) : ""),
    failed: run.name + ": " + run.error,
  };
  at("run-state").textContent = states[run.state];
  at("run-state").classList.toggle("wrong", run.state === "failed");
}

function listen() {
  const events = new EventSource("events");
  events.onmessage = event => showRun(JSON.parse(event.data).run);
  events.onerror = () => {
    if (events.readyState === EventSource.CLOSED) at("run-state").textContent = "no news of runs: tandem look has ended, or three pages look at this scan already";
  };
}

function setUpRecipe() {
  at("copy-toml").addEventListener("click", () => copy(at("copy-toml"), at("toml").textContent));
  at("copy-command").addEventListener("click", () => copy(at("copy-command"), commandLine));
  at("save-toml").addEventListener("click", () => save(new Blob([at("toml").textContent], {type: "text/plain"}), "recipe.toml"));
  at("run-form").addEventListener("submit", async event => {
    event.preventDefault();
    try {
      await send("run", {options: S.options, name: at("name").value});
    } catch (wrong) {
      at("run-state").textContent = wrong.message;
      at("run-state").classList.add("wrong");
    }
  });
  at("stop").addEventListener("click", () => send("stop", {}).catch(wrong => complain(wrong.message)));
  listen();
}
