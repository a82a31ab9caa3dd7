
// Slices for values of one option, with a score.

/** A range about what the option is now. */
function proposeRange() {
  const name = at("sweep-name").value, now = Number(S.options[name]);
  if (name === "rotation-axis") return setRange(Math.round(10 * (S.axis - 4)) / 10, Math.round(10 * (S.axis + 4)) / 10, 0.5);
  const limits = sliders[name];
  if (limits && !S.options[name]) return setRange(limits[0], limits[1], Number(((limits[1] - limits[0]) / 16).toPrecision(2)));
  const middle = now || Number((known(name) || {}).default) || 1;
  setRange(Number((middle / 2).toPrecision(3)), Number((middle * 2).toPrecision(3)), Number((middle / 8).toPrecision(2)));
}

function setRange(low, high, step) {
  at("sweep-first").value = low, at("sweep-last").value = high, at("sweep-step").value = step;
}

function showSheet(found) {
  const best = found.trials.findIndex(t => t.value === found.best), window = windowOf(partOf(found, found.each, Math.max(best, 0)).grey);
  at("sheet").replaceChildren(...found.trials.map((trial, k) => {
    const button = made("button", "", k === best ? "best" : "");
    button.title = "take this value";
    button.append(painted(partOf(found, found.each, k), window), made("span", String(rounded(trial.value)) + (k === best ? ", best" : "")));
    button.addEventListener("click", () => takeValue(found.sweep, trial.value));
    return button;
  }));
}

/** The option has this value now, and so have its fields. */
function setValue(name, value) {
  if (name === "rotation-axis") return setAxis(value, 4);
  const {input, slider} = fields.get(name);
  input.value = String(value);
  if (slider) slider.value = value;
  give(name, String(value));
}

function takeValue(name, value) {
  setValue(name, value);
  setTab("slice");
}

async function sweepNow(event) {
  event.preventDefault();
  const name = at("sweep-name").value, number = id => Number(at(id).value), {[name]: gone, ...options} = S.options, score = at("sweep-score").value;
  const [of, words] = {sharpness: ["unsharpness", "unsharpness over the lowest"], entropy: ["entropy", "entropy of the histogram, bits"], opposite: ["opposite", "by how much opposite views differ"]}[score];
  at("sweep-begin").disabled = true;
  at("verdict").textContent = "making slices ...";
  try {
    const found = await picture("sweep", {options, name, first: number("sweep-first"), last: number("sweep-last"), step: number("sweep-step"), z: S.z, side: 160, score, pane: paneName("sweep")});
    at("verdict").textContent = found.words.replace("+-", "±");
    at("scores").toggleAttribute("hidden", false);
    plot(at("scores"), [{points: found.trials.map(t => [t.value, t[of]]), kind: "curve newest", dots: true}], words + " against " + withUnit(known(name)), {height: 220});
    showSheet(found);
    if (found.verdict === "resolved") {
      const take = made("button", "take " + rounded(Number(found.value.toPrecision(6))));
      take.id = "take";
      take.addEventListener("click", () => takeValue(name, Number(found.value.toPrecision(6))));
      at("verdict").append(" ", take);
    }
  } catch (wrong) {
    at("verdict").textContent = wrong.message;
  }
  at("sweep-begin").disabled = false;
}

function setUpSweep() {
  at("sweep-name").replaceChildren(...[...fields.keys()].map(known).filter(one => one.swept).map(one => choice(withUnit(one), one.name)));
  at("sweep-score").lastElementChild.hidden = S.about.geometry.kind !== "parallel";
  if (fields.has("rotation-axis")) at("sweep-name").value = "rotation-axis";
  at("sweep-name").addEventListener("change", proposeRange);
  at("sweep-form").addEventListener("submit", sweepNow);
}
