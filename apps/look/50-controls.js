
// Fields of options, made from what the program says of them.

/** Options that have a slider: from, to and by how much. */
const sliders = {
  "detector-roll": [-2, 2, 0.01], "axis-tilt": [-5, 5, 0.01], "fbp-cutoff": [0.05, 1, 0.01], "fw:sigma": [0.1, 10, 0.1],
};
/** Where a slider stands if its option is not given. */
const resting = {"fbp-cutoff": 1, "fw:sigma": 2};
/** What stands at the top, in this order; the rest stands below by the step or the group that it belongs to. */
const first = ["detector-roll", "axis-tilt", "sod", "sdd", "fbp-filter", "fbp-cutoff", "padding", "remove-stripe-method"];
const fields = new Map();

/** Numbers, also those that may be found: "X|auto". */
const isNumber = one => /^(X|FLOAT|N|INT)(\|auto.*)?$/.test(one.type);

const known = name => S.about.schema.find(one => one.name === name);

/** The option has this text now; empty: none was given. */
function give(name, text) {
  if (text === "" || text === false) delete S.options[name];
  else S.options[name] = text;
  const field = fields.get(name);
  if (field) field.row.classList.toggle("changed", name in S.options);
  changed();
}

/** The settings are others now. */
function changed() {
  askA.want();
  if (S.tab === "sinogram") askSinogram.want();
  wantRecipe();
  showStripeOptions();
}

function inputFor(one) {
  if (one.choices || one.type === "true|false") {
    const input = made("select"), words = one.choices || one.type.split("|");
    const none = made("option", one.default && one.default !== "[]" ? "default: " + one.default : "default");
    none.value = "";
    input.append(none, ...words.map(word => made("option", word)));
    return input;
  }
  const input = made("input");
  input.type = one.type === "flag" ? "checkbox" : isNumber(one) ? "number" : "text";
  if (input.type === "number") input.step = one.type.startsWith("N") || one.type === "INT" ? "1" : "any";
  if (input.type !== "checkbox") input.placeholder = one.default && one.default !== "[]" ? one.default : "default";
  return input;
}

/** A row with the name of an option, its field and perhaps a slider. */
function fieldOf(one, limits = sliders[one.name]) {
  const row = made("label", "", limits ? "field long" : "field"), input = inputFor(one);
  row.title = one.help;
  row.append(made("span", one.name.replaceAll("-", " ")), input);
  input.id = "option-" + one.name;
  const read = () => input.type === "checkbox" ? input.checked : input.value.trim();
  const slider = limits ? made("input") : null;
  input.addEventListener(input.type === "text" ? "change" : "input", () => {
    if (slider && input.value !== "") slider.value = input.value;
    give(one.name, read());
  });
  if (slider) {
    slider.type = "range", slider.id = "slider-" + one.name, slider.setAttribute("aria-label", one.name);
    [slider.min, slider.max, slider.step] = limits;
    slider.value = resting[one.name] ?? 0;
    slider.addEventListener("input", () => { input.value = slider.value; give(one.name, slider.value); });
    row.append(slider);
  }
  fields.set(one.name, {row, input, slider});
  return row;
}

function fillControls() {
  for (const [name, {row, input, slider}] of fields) {
    const value = S.options[name];
    row.classList.toggle("changed", value !== undefined);
    if (input.type === "checkbox") input.checked = value === true;
    else input.value = value === undefined ? "" : Array.isArray(value) ? value.join(" ") : String(value);
    if (slider && (value !== undefined || name in resting)) slider.value = value ?? resting[name];
  }
}

/** Options of the removal of stripes that is chosen, and no others. */
function showStripeOptions() {
  const chosen = S.options["remove-stripe-method"] || "none";
  let gone = false;
  for (const one of S.about.schema.filter(other => other.stripes)) {
    const {row, input} = fields.get(one.name);
    row.hidden = one.stripes !== chosen;
    if (row.hidden && one.name in S.options) delete S.options[one.name], input.value = "", gone = true;
  }
  if (gone) changed();
}

function folded(title, note, rows) {
  const all = made("details"), head = made("summary", title + " ");
  head.append(made("span", note, "soft"));
  all.append(head, ...rows);
  return all;
}

/** The axis: a slider about where it is, a field, and what finds it. */
function axisField() {
  const box = made("div"), row = fieldOf(known("rotation-axis"), [0, S.about.geometry.bins - 1, 0.1]);
  const tools = made("div", "", "bar"), find = made("button", "find the axis"), spans = [["±4", 4, 0.01], ["±40", 40, 0.1], ["all", null, 0.5]];
  find.id = "find";
  find.addEventListener("click", async () => {
    find.disabled = true;
    try {
      const {"rotation-axis": gone, ...options} = S.options, found = await (await send("axis", {options})).json();
      setAxis(Number(found.axis_bin.toFixed(3)), 4);
      at("found").textContent = rounded(found.axis_bin) + " ± " + three(found.uncertainty) + " (" + found.method + ")" + found.warnings.map(text => "; " + text).join("");
    } catch (wrong) {
      complain(wrong.message);
    }
    find.disabled = false;
  });
  tools.append(find, ...spans.map(([text, span]) => {
    const one = made("button", text);
    one.title = "how far the slider goes";
    one.addEventListener("click", () => spanAxis(Number(fields.get("rotation-axis").slider.value), span));
    return one;
  }));
  const note = made("p", "", "soft note");
  note.id = "found", note.setAttribute("role", "status");
  box.append(row, tools, note);
  return box;
}

function spanAxis(middle, span) {
  const {slider} = fields.get("rotation-axis"), last = S.about.geometry.bins - 1;
  slider.step = span === null ? 0.5 : span / 400;
  slider.min = span === null ? 0 : Math.max(0, middle - span), slider.max = span === null ? last : Math.min(last, middle + span);
  slider.value = middle;
}

function setAxis(axis, span) {
  spanAxis(axis, span);
  fields.get("rotation-axis").input.value = String(axis);
  give("rotation-axis", String(axis));
}

/** The axis of the first picture, where the page gives none. */
let axisKnown = false;
function axisTold(axis) {
  const field = fields.get("rotation-axis");
  if (axisKnown || !field) return;
  axisKnown = true;
  field.input.placeholder = String(rounded(axis));
  spanAxis(axis, 40);
}

function makeControls() {
  const schema = S.about.schema, done = new Set([...first, "rotation-axis"]), parts = [made("h2", "Options")];
  const has = name => schema.some(one => one.name === name), cone = S.about.geometry.kind !== "parallel";
  if (has("rotation-axis") && S.about.geometry.kind !== "flexible") parts.push(axisField());
  const fits = name => has(name) && (cone || !["sod", "sdd", "axis-tilt"].includes(name));
  parts.push(...first.filter(fits).map(name => fieldOf(known(name))));
  const stripes = schema.filter(one => one.stripes);
  parts.push(...stripes.map(one => fieldOf(one)));
  for (const one of stripes) done.add(one.name);
  const bySteps = new Map(), byGroups = new Map();
  for (const one of schema) {
    if (done.has(one.name)) continue;
    const [all, key] = one.step ? [bySteps, one.step] : [byGroups, one.group];
    all.set(key, [...(all.get(key) || []), one]);
  }
  const names = all => all.map(one => one.name.replaceAll("-", " ")).join(", ");
  for (const [step, all] of bySteps) parts.push(folded(step.replaceAll("-", " "), all.length > 3 ? counted(all.length, "option") : names(all), all.map(one => fieldOf(one))));
  for (const [group, all] of byGroups) parts.push(folded(group, counted(all.length, "option"), all.map(one => fieldOf(one))));
  at("controls").replaceChildren(...parts);
  fillControls();
  showStripeOptions();
}
