
/** Its panes have names of their own: another page that looks at the scan has others. */
const paneName = (id => name => name + " " + id)(Math.random().toString(36).slice(2));

/** What the page knows and what was chosen. */
const S = {about: null, size: [1, 1, 1], show: "A", window: null, line: null};

/** The page begins with what the program says of what is looked at. */
async function begin(setUp) {
  try {
    S.about = await (await answerTo("about.json")).json();
  } catch (wrong) {
    return complain(wrong.message);
  }
  refuseNoNumbers();
  setUp();
}
const fileName = path => path.replace(/\/+$/, "").split("/").pop();

function complain(text) {
  if (at("error").textContent !== text) at("error").textContent = text;  // said aloud only if it is new
  at("error").hidden = !text;
}

const sleep = milliseconds => new Promise(done => setTimeout(done, milliseconds));

/** The answer to a question, or an exception with what is wrong. `stale`: a newer command has come, or too many. */
async function answerTo(path, how = {}) {
  let answer;
  try {
    answer = await fetch(path, how);
  } catch {
    throw new Error("tandem look does not answer; was it ended?");
  }
  tellBusy(answer.status === 503);
  if (answer.ok) return answer;
  let why = answer.status === 403 ? "tandem look was started anew; open the address that it printed" : answer.status + " " + answer.statusText;
  try { why = (await answer.json()).error; } catch { /* then the number says it */ }
  const wrong = new Error(why);
  wrong.stale = [409, 429, 503].includes(answer.status);
  throw wrong;
}

/** Sends a command; see `answerTo`. */
const send = (path, command) => answerTo(path, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(command)});

/** What is asked again and again is told if it has been in vain for some seconds. */
let busySince = 0;
function tellBusy(busy) {
  const patience = 3000;
  if (!busy) busySince = 0, failed.has(tellBusy) && succeeded(tellBusy);
  else if (busySince === 0) busySince = performance.now();
  else if (performance.now() - busySince > patience) failedWith(tellBusy, "tandem look has no free connection; it is asked again");
}

/** Values of codes: the last three are not finite. */
function decoded(codes, [low, step]) {
  const grey = new Float32Array(codes.length), rest = [-Infinity, Infinity, NaN];
  for (let k = 0; k < grey.length; ++k) grey[k] = codes[k] < 65533 ? low + step * codes[k] : rest[codes[k] - 65533];
  return grey;
}

/** A picture and its head: a line of JSON, and then the pixels. */
async function picture(path, command) {
  const bytes = await (await send(path, command)).arrayBuffer(), all = new Uint8Array(bytes), end = all.indexOf(10);
  const head = JSON.parse(new TextDecoder().decode(all.subarray(0, end)));
  return {...head, grey: head.coded ? decoded(new Uint16Array(bytes, end + 1), head.coded) : new Float32Array(bytes, end + 1)};
}

const took = found => { at("state").textContent = found.milliseconds.toFixed(0) + " ms" + (found.rough ? ", rough" : ""); };

const failed = new Map();  // what could not be had, and why

/** The trouble of `what` is told, until it succeeds. */
function failedWith(what, why) {
  failed.set(what, why);
  complain(why);
}
function succeeded(what) {
  failed.delete(what);
  for (const one of failed.keys()) if (one.validity?.badInput === false) failed.delete(one);  // a field that has a number again
  complain([...failed.values()].pop() || "");
}

/** A field with what is no number is not one that is empty: that is told, and nothing else hears of it. */
function refuseNoNumbers() {
  const hear = e => {
    const field = e.target, name = () => field.getAttribute("aria-label") || field.closest("label").textContent.trim();
    if (field.validity?.badInput) e.stopPropagation(), failedWith(field, name() + ": what is typed is no number");
    else if (failed.has(field)) succeeded(field);
  };
  for (const kind of ["input", "change"]) document.addEventListener(kind, hear, true);
}
const someNoNumber = () => [...failed.keys()].some(one => one.validity?.badInput);

/**
 * Asks for one thing again and again, the newest wish only: one that waits is replaced by a newer one. `wish(rough)`
 * makes the command, `got` takes the answer. If the last fine picture took long, a rough one comes first.
 */
class Asker {
  constructor(path, wish, got) {
    Object.assign(this, {path, wish, got, number: 0, flying: 0, took: Infinity, since: 0});
  }
  /** By default nothing is told of how long a picture took. */
  shown() {}
  want() {
    if (!this.wanted) this.since = performance.now();
    this.wanted = true;
    if (this.flying < 2) this.next();
  }
  async next() {
    this.wanted = false;
    const number = ++this.number, since = this.since, current = () => number === this.number;
    ++this.flying;
    try {
      if (this.took > 220) await this.one(this.wish(true), true, since, current);
      if (current()) await this.one(this.wish(false), false, since, current);
    } catch (wrong) {
      if (wrong.stale) await sleep(60);  // an older command came later: this one is still wanted, and still flying
      if (current() && wrong.stale) this.wanted = true;
      else if (current()) failedWith(this, wrong.message);
    }
    --this.flying;
    if (this.wanted) this.next();
  }
  async one(command, rough, since, current) {
    if (command === null) return failed.delete(this);
    const begun = performance.now(), found = await picture(this.path, command);
    if (!rough) this.took = performance.now() - begun;
    if (!current()) return;
    succeeded(this);
    found.rough = rough;
    this.got(found);
    found.milliseconds = performance.now() - since;
    document.body.dataset[rough ? "roughMs" : "fineMs"] = found.milliseconds.toFixed(1);
    document.body.dataset.pictures = 1 + Number(document.body.dataset.pictures || 0);
    this.shown(found);
  }
}
