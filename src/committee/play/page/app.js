// The page: what is shown, what is asked, and what follows from a press of a key or a button.

import { errorChart, marginChart, votesAt } from "./charts.js";
import { dropFiles, icon, setIcons } from "./controls.js";
import { clamp, find, make } from "./dom.js";
import { buildData, buildMethods, buildTools } from "./forms.js";
import { formulas } from "./formulas.js";
import { Members } from "./members.js";
import { Plane } from "./plane.js";
import { listen } from "./pointer.js";
import { decode } from "./run.js";
import { Source, unpack } from "./source.js";
import { fromAddress, initialState, short, snap, toAddress } from "./state.js";
import { markWords, memberTitle, roundTitle } from "./words.js";

const BEAT = 700; // milliseconds of a round that is played, less for many
const FASTEST = 90;
const MAX_FILE = 1_500_000;
const MAX_PAST = 200;

const setup = JSON.parse(find("setup").textContent);
const recordings = setup.recordings ?? null;
const source = new Source(setup.token);
const plane = new Plane(find("plane"));
const state = initialState(setup);
const members = new Members(find("line"), goTo);

const isWide = matchMedia("(min-width: 761px)").matches;

// What forms.js builds from, and what its buttons do.
const app = {
  setup, recordings, state,
  recording: null, // the one that is played
  tool: 0, // a class to place, or "remove"
  unfolded: { settings: isWide, points: isWide },
  table: null, // an open file: its name, text, columns
  chooseMethod, chooseTool, show, clear, refit, loadExample, openFile, loadTable,
};

let run = null; // of the points and settings that were asked for last
const past = []; // points before each edit, with the example they were
let order = 0; // counts changes after which points have other numbers
let loading = 0; // counts loads of points: the newest counts
let cursor = false; // whether the cross is moved by keys
let timer = null; // of the play button
let isStill = true; // whether sizes jump instead of moving
let frame = 0;

const reduced = matchMedia("(prefers-reduced-motion: reduce)");
const method = () => setup.methods.find((each) => each.name === state.method);

// --- drawing --------------------------------------------------------------------------------------

const middle = ([low, high]) => (low + high) / 2;

function cross() {
  const { x, y } = state.points.axes;
  const place = state.place ?? { x: middle(x), y: middle(y) };
  return { x: clamp(place.x, ...x), y: clamp(place.y, ...y) };
}

function drawPlane() {
  cancelAnimationFrame(frame);
  const isMoving = plane.draw({
    points: state.points,
    run: run && JSON.stringify(run.axes) === JSON.stringify(state.points.axes) ? run : null,
    knowsPoints: run?.order === order,
    round: state.round,
    who: state.who,
    cross: cursor || state.place ? cross() : null,
    isCursor: cursor,
    isStill: isStill || reduced.matches,
  });
  isStill = false;
  if (isMoving) frame = requestAnimationFrame(drawPlane);
}

function drawRound() {
  const count = run?.nRounds ?? 1;
  const range = find("round");
  range.max = count;
  range.value = state.round;
  range.disabled = !run;
  find("where").textContent = run ? `${state.round} of ${count}` : "";
  range.setAttribute("aria-valuetext", `round ${state.round} of ${count}`);
  for (const [id, isIdle] of [["first", state.round <= 1], ["back", state.round <= 1],
    ["next", state.round >= count], ["last", state.round >= count]]) {
    find(id).disabled = !run || isIdle;
  }
  find("play").disabled = !run || count < 2;
  drawPlane();
  find("key").textContent = run ? markWords(run) : "";
  if (!run) return;
  find("errors").replaceChildren(...errorChart(run, state.round, goTo));
  find("margins").replaceChildren(...marginChart(run, state.round));
  members.mark(state.round);
  drawPlace();
}

// What depends on the cross.
function drawPlace() {
  if (!run) return;
  const { classes } = state.points;
  const place = cross();
  const context = { run, round: state.round, place, classes };
  find("formula").replaceChildren(make("h2", {}, roundTitle(run, state.round)), ...formulas(context), ...notes());
  find("votes").replaceChildren(...votesAt(run, state.round, place, classes));
  const where = state.place ? "at the cross" : "in the middle";
  find("votes-title").textContent = `Votes ${where}`;
}

const notes = () => run.notes.map((text) => make("p", { class: "note" }, text));

function drawAll() {
  plane.fit();
  isStill = true;
  if (run) members.repaint(state.round);
  drawRound();
}

// --- rounds ---------------------------------------------------------------------------------------

function goTo(round) {
  if (!run) return;
  const before = state.round;
  state.round = clamp(round, 1, run.nRounds);
  drawRound();
  keepAddress();
  if (state.round !== before && !timer) {
    const error = run.rounds[state.round - 1].committee_error;
    find("announce").textContent = `${roundTitle(run, state.round)}: training error ${Math.round(100 * error)} %`;
  }
}

function setPlaying(isPlaying) {
  clearInterval(timer);
  timer = null;
  if (isPlaying && run) {
    if (state.round >= run.nRounds) goTo(1);
    const beat = Math.max(FASTEST, Math.min(BEAT, 12000 / run.nRounds));
    timer = setInterval(() => (state.round < run.nRounds ? goTo(state.round + 1) : setPlaying(false)), beat);
  }
  find("play").replaceChildren(icon(timer ? "pause" : "play"));
  find("play").setAttribute("aria-label", timer ? "Pause" : "Play");
}

function show(who) {
  state.who = who;
  buildTools(app);
  drawPlane();
  keepAddress();
}

// --- asking ---------------------------------------------------------------------------------------

function question() {
  const { x, y, class: codes, axes, names } = state.points;
  const content = {
    points: { x, y, class: codes }, axes, names,
    method: state.method, settings: state.settings[state.method],
    held_out: state.heldOut, seed: state.seed,
  };
  if (method().rounds) content.rounds = state.rounds[state.method];
  return content;
}

function say(text) {
  find("message").textContent = text;
  find("message").hidden = text === "";
}

// Asks for a run of what there is; `toEnd` goes to its last round.
async function refit({ toEnd = false } = {}) {
  keepAddress();
  drawPlane();
  if (new Set(state.points.class).size < 2) {
    giveUp("points of two classes or more are needed");
    return;
  }
  const asked = { axes: state.points.axes, order };
  const wasAtEnd = toEnd || (run !== null && state.round === run.nRounds);
  try {
    const answer = decode(await source.ask("run", question()));
    take({ ...answer, ...asked }, wasAtEnd);
    say("");
  } catch (error) {
    giveUp(error.message);
  }
}

// Shows points without a run, and why.
function giveUp(text) {
  run = null;
  setPlaying(false);
  drawRound();
  say(text);
}

function take(answer, isAtEnd) {
  const isOther = !run || run.method !== answer.method;
  if (isOther) setPlaying(false);
  run = answer;
  isStill ||= isOther;
  state.round = isAtEnd ? run.nRounds : Math.min(state.round, run.nRounds);
  members.show(run, memberTitle(run));
  drawRound();
  keepAddress();
}

async function loadExample(changes, options) {
  const mine = ++loading;
  const isOther = state.example?.name !== changes.name && changes.name !== undefined;
  state.example = { name: "moons", n: 200, noise: 0.15, seed: 0, ...state.example, ...changes };
  app.table = null;
  if (isOther) buildData(app); // not while a slider is drawn
  try {
    const found = await source.ask("example", state.example);
    if (mine !== loading) return;
    usePoints(found, !isOther);
    await refit(options);
  } catch (error) {
    say(error.message);
  }
}

async function openFile(file) {
  if (file.size > MAX_FILE) {
    say(`${file.name} is too large: up to ${MAX_FILE / 1e6} MB are read here`);
    return;
  }
  app.table = { name: file.name, text: await file.text() };
  await loadTable({});
}

async function loadTable(columns) {
  const mine = ++loading;
  try {
    const found = await source.ask("table", { name: app.table.name, text: app.table.text, ...columns });
    if (mine !== loading) return;
    const { columns: chosen, numbers, groups, notes: remarks } = found;
    Object.assign(app.table, { columns: chosen, numbers, groups, notes: remarks });
    state.example = null;
    usePoints(found);
    buildData(app);
    await refit();
  } catch (error) {
    app.table = null;
    say(error.message);
  }
}

function usePoints({ x, y, class: codes, classes, names, axes }, keepsPlace = false) {
  state.points = { x, y, class: codes, classes, names, axes };
  order++;
  if (!keepsPlace) state.place = null;
  if (app.tool !== "remove" && app.tool >= classes.length) app.tool = 0;
  isStill = true;
  buildTools(app);
}

// --- editing --------------------------------------------------------------------------------------

// Points are never changed in place: a run belongs to the points it was asked for. Until the next one
// comes, the last one is shown, for points that only moved or were added.
function edit(change, keepsOrder = true) {
  const { points } = state;
  loading++; // what is on its way would undo this
  past.push({ points, example: state.example });
  if (past.length > MAX_PAST) past.shift();
  const next = { ...points, x: [...points.x], y: [...points.y], class: [...points.class] };
  if (state.example) {
    next.x = next.x.map((value) => snap(value, points.axes.x));
    next.y = next.y.map((value) => snap(value, points.axes.y));
    state.example = null;
    buildData(app);
  }
  change(next);
  state.points = next;
  if (!keepsOrder) order++;
  isStill = true;
  refit();
}

function undo() {
  const before = past.pop();
  if (!before) return;
  loading++;
  order++;
  isStill = true;
  Object.assign(state, before);
  buildTools(app);
  buildData(app);
  refit();
}

const editor = {
  canEdit: () => recordings === null,
  points: () => state.points,
  tool: () => app.tool,
  cross,
  moveCross(place, isCursor) {
    state.place = { x: short(place.x), y: short(place.y) };
    cursor = isCursor;
    drawPlane();
    drawPlace();
    keepAddress();
  },
  showCursor(isShown) {
    cursor = isShown;
    drawPlane();
  },
  add({ x, y }, code) {
    if (state.points.x.length >= setup.limits.points) {
      say(`there is room for ${setup.limits.points} points`);
      return;
    }
    edit((points) => {
      points.x.push(snap(x, points.axes.x));
      points.y.push(snap(y, points.axes.y));
      points.class.push(code);
    });
  },
  move(index, { x, y }) {
    edit((points) => {
      points.x[index] = snap(x, points.axes.x);
      points.y[index] = snap(y, points.axes.y);
    });
  },
  remove(index) {
    edit((points) => {
      for (const key of ["x", "y", "class"]) points[key].splice(index, 1);
    }, false);
  },
  choose: chooseTool,
};

function chooseTool(wanted) {
  const { points } = state;
  if (wanted !== "remove" && wanted >= points.classes.length) {
    const classes = [...points.classes];
    while (classes.length <= wanted) classes.push(setup.colors[classes.length]);
    state.points = { ...points, classes };
  }
  app.tool = wanted;
  buildTools(app);
}

function clear() {
  edit((points) => {
    for (const key of ["x", "y", "class"]) points[key] = [];
  }, false);
}

function chooseMethod(name) {
  setPlaying(false);
  if (recordings) {
    playRecording(recordings.find((each) => each.name === name));
    return;
  }
  state.method = name;
  buildMethods(app);
  buildData(app);
  refit({ toEnd: true });
}

// --- address, theme, keys -------------------------------------------------------------------------

let address = 0;

// Browsers allow only so many changes of the address in a time.
function keepAddress() {
  clearTimeout(address);
  address = setTimeout(writeAddress, 250);
}

function writeAddress() {
  const hash = recordings
    ? `#${new URLSearchParams({ run: app.recording.name, round: state.round, show: state.who })}`
    : toAddress(state, setup);
  history.replaceState(null, "", hash);
}

async function share() {
  writeAddress();
  const button = find("share");
  try {
    await navigator.clipboard.writeText(location.href);
    button.textContent = "Link copied";
  } catch {
    button.textContent = "Copy the address";
  }
  setTimeout(() => (button.textContent = "Share"), 2000);
}

const dark = matchMedia("(prefers-color-scheme: dark)");

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  find("theme").textContent = theme === "dark" ? "☀" : "☾";
  drawAll();
  if (!recordings) buildData(app);
  buildTools(app);
}

function onKey(event) {
  const { target, key } = event;
  if (find("keys").open) return;
  if (key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey) && !recordings) {
    undo();
    event.preventDefault();
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (target.closest("input[type=number], select, textarea")) return;
  const isSlider = target.matches("input[type=range]");
  const actions = {
    p: () => setPlaying(!timer),
    v: () => show(state.who === "member" ? "committee" : "member"),
    "?": () => find("keys").showModal(),
  };
  if (!isSlider) {
    Object.assign(actions, {
      ArrowLeft: () => goTo(state.round - 1),
      ArrowRight: () => goTo(state.round + 1),
      Home: () => goTo(1),
      End: () => goTo(run?.nRounds ?? 1),
    });
  }
  const action = actions[key] ?? actions[key.toLowerCase()];
  if (!action) return;
  action();
  event.preventDefault();
}

function listenToPage() {
  find("first").addEventListener("click", () => goTo(1));
  find("back").addEventListener("click", () => goTo(state.round - 1));
  find("play").addEventListener("click", () => setPlaying(!timer));
  find("next").addEventListener("click", () => goTo(state.round + 1));
  find("last").addEventListener("click", () => goTo(run?.nRounds ?? 1));
  find("round").addEventListener("input", (event) => goTo(Number(event.target.value)));
  find("share").addEventListener("click", share);
  find("help").addEventListener("click", () => find("keys").showModal());
  find("theme").addEventListener("click", () =>
    setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"),
  );
  dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
  document.addEventListener("keydown", onKey);
  new ResizeObserver(() => {
    plane.fit();
    isStill = true;
    drawPlane();
  }).observe(find("plane"));
  listen(plane, editor);
  if (!recordings) dropFiles(document.body, openFile);
  find("share").hidden = recordings !== null;
}

// --- beginning ------------------------------------------------------------------------------------

async function playRecording(recording, round = 1) {
  app.recording = recording;
  buildMethods(app);
  buildData(app);
  const answer = decode(await unpack(recording.answer));
  state.method = answer.method;
  usePoints(recording.points);
  state.place = recording.place;
  state.round = round;
  take({ ...answer, axes: state.points.axes, order }, false);
}

function begin() {
  setIcons();
  listenToPage();
  if (recordings) {
    const fields = new URLSearchParams(location.hash.slice(1));
    const wanted = recordings.find((each) => each.name === fields.get("run")) ?? recordings[0];
    state.who = fields.get("show") === "member" ? "member" : "committee";
    app.recording = wanted;
    setTheme(dark.matches ? "dark" : "light");
    playRecording(wanted, Number(fields.get("round")) || undefined);
    return;
  }
  const isFresh = location.hash.length < 2;
  fromAddress(location.hash, state, setup);
  buildMethods(app);
  setTheme(dark.matches ? "dark" : "light");
  if (state.example) loadExample({}, { toEnd: isFresh });
  else refit();
}

begin();
