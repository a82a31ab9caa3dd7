
// Fields of options, made from what the program says of them.

/** Options that have a slider: from, to and by how much. */
const sliders = {
  "detector-roll": [-2, 2, 0.01], "axis-tilt": [-5, 5, 0.01], "fbp-cutoff": [0.05, 1, 0.01], "fw:sigma": [0.1, 10, 0.1],
};
/** Where a slider stands if its option is not given. */
const resting = {"fbp-cutoff": 1, "fw:sigma": 2};
/**
 * The order of use: what is seen at once of each group, and what is folded, by the names of options and by the groups
 * of the help. Other groups of the help come behind.
 */
const groups = [
  {title: "Axis and grid", seen: ["rotation-axis", "detector-roll", "axis-tilt"], rest: ["Axis and grid"]},
  {title: "Selection", seen: [], rest: ["Selection of the scan"]},
  {title: "Cleaning of counts", seen: ["remove-stripe-method"], rest: ["From counts to line integrals"]},
  {title: "Filter and method", seen: ["fbp-filter", "fbp-cutoff", "padding"], rest: ["Method"]},
  {title: "Beam and geometry", seen: ["sod", "sdd"],
   rest: ["geometry", "pixel-size", "midplane-row", "curved-detector", "arc", "angles", "angles-unit", "rotation-direction", "view-shifts", "view-row-shifts"]},
  {title: "Scan", seen: [], rest: ["Scan"]},
];
/** Options that have no meaning for scans of a kind. */
const notOf = {parallel: ["sod", "sdd", "axis-tilt"], flexible: ["rotation-axis"]};
const fields = new Map();

/** Numbers, also those that may be found ("X|auto"), or have rows of their own for what stands behind them. */
const isNumber = one => /^[XN](\|auto.*|\[:.*)?$/.test(one.type);

const known = name => S.about.schema.find(one => one.name === name);
const titleOf = name => known(name)?.title || name;
const withUnit = one => one.title + (one.unit ? ", " + one.unit : "");

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
    input.append(choice(one.default && one.default !== "[]" ? "default: " + one.default : "default", ""), ...words.map(word => made("option", word)));
    return input;
  }
  const input = made("input");
  input.type = one.type === "flag" ? "checkbox" : isNumber(one) ? "number" : "text";
  if (input.type === "number") input.step = one.type.startsWith("N") ? "1" : "any";
  if (input.type !== "checkbox") input.placeholder = one.default && one.default !== "[]" ? one.default : "default";
  return input;
}

/** A row with the title of an option and its unit. Its tooltip says what is typed on a command line, and the help. */
function rowOf(one, kind) {
  const row = made("label", "", kind), words = made("span", one.title);
  if (one.unit) words.append(made("span", ", " + one.unit, "soft"));
  row.title = one.typed + "\n" + one.help;
  row.append(words);
  return row;
}

/** A row with its field and perhaps a slider. */
function fieldOf(one, limits = sliders[one.name]) {
  const row = rowOf(one, limits ? "field long" : "field"), input = inputFor(one);
  row.append(input);
  input.id = "option-" + one.name;
  const read = () => input.type === "checkbox" ? input.checked : input.value.trim();
  const slider = limits ? made("input") : null;
  input.addEventListener(input.type === "text" ? "change" : "input", () => {
    if (slider && input.value !== "") slider.value = input.value;
    give(one.name, read());
  });
  if (slider) {
    slider.type = "range", slider.id = "slider-" + one.name, slider.setAttribute("aria-label", withUnit(one));
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

/** Rows in folds: those of each step by themselves, the others together. */
function folds(all, title) {
  const byTitle = new Map();
  for (const one of all) byTitle.set(one.step || title, [...(byTitle.get(one.step || title) || []), one]);
  const note = some => some.length > 3 ? counted(some.length, "option") : some.map(one => one.title).join(", ");
  return [...byTitle].map(([name, some]) => {
    const head = name.replaceAll("-", " ");
    return folded(head, note(some) === head ? "" : note(some), some.map(one => fieldOf(one)));
  });
}

/** The options of a group: its title above what is seen at once, and the rest folded. */
function makeGroup({title, seen, rest: names}, all) {
  const atOnce = seen.map(name => all.find(one => one.name === name)).filter(one => one);
  const stripes = all.filter(one => one.stripes), rest = all.filter(one => !atOnce.includes(one) && !one.stripes);
  rest.sort((a, b) => names.indexOf(a.name) - names.indexOf(b.name));
  if (atOnce.length === 0) return folds(rest, title);
  return [made("h3", title), ...atOnce.map(one => one.name === "rotation-axis" ? axisField() : fieldOf(one)),
          ...stripes.map(one => fieldOf(one)), ...folds(rest, "more")];
}

function makeControls() {
  const kind = S.about.geometry.kind, members = groups.map(() => []), others = new Map();
  for (const one of S.about.schema) {
    if (notOf[kind]?.includes(one.name)) continue;
    const named = groups.findIndex(({seen, rest}) => seen.includes(one.name) || rest.includes(one.name));
    const place = named >= 0 ? named : groups.findIndex(({rest}) => rest.includes(one.group));
    if (place >= 0) members[place].push(one);
    else others.set(one.group, [...(others.get(one.group) || []), one]);
  }
  at("controls").replaceChildren(made("h2", "Options"), ...groups.flatMap((group, k) => makeGroup(group, members[k])),
                                 ...[...others].flatMap(([title, all]) => makeGroup({title, seen: [], rest: []}, all)));
  fillControls();
  showStripeOptions();
}
