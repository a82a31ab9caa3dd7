
/** Its panes have names of their own: another page that looks at the scan has others. */
const paneName = (id => name => name + " " + id)(Math.random().toString(36).slice(2));

/** What the page knows and what was chosen. */
const S = {about: null, size: [1, 1, 1], show: "A", window: null, line: null};

const silence = "tandem look does not answer; was it ended?", noAnswer = "tandem look does not answer any more; was it ended?";

/** The page begins with what the program says of what is looked at. */
async function begin(setUp) {
  try {
    S.about = await (await fetch("about.json")).json();
  } catch {
    return complain(silence);
  }
  setUp();
}
const fileName = path => path.replace(/\/+$/, "").split("/").pop();

function complain(text) {
  if (at("error").textContent !== text) at("error").textContent = text;  // said aloud only if it is new
  at("error").hidden = !text;
}

const sleep = milliseconds => new Promise(done => setTimeout(done, milliseconds));

/** Sends a command; the answer, or an exception with what is wrong. `stale`: a newer command has come, or too many. */
async function send(path, command) {
  let answer;
  try {
    answer = await fetch(path, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(command)});
  } catch {
    throw new Error(noAnswer);
  }
  if (answer.ok) return answer;
  let why = answer.status + " " + answer.statusText;
  try { why = (await answer.json()).error; } catch { /* then the number says it */ }
  const wrong = new Error(why);
  wrong.stale = [409, 429, 503].includes(answer.status);
  throw wrong;
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
  complain([...failed.values()].pop() || "");
}

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
