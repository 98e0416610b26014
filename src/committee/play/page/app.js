// The page: what is shown, what is asked, and what follows from a press of a key or a button.

import { errorChart, marginChart, votesAt } from "./charts.js";
import {
  columnPickers, dropFiles, exampleButtons, filePicker, icon, setIcons, settingsForm, slider,
  toolButtons,
} from "./controls.js";
import { clamp, find, make } from "./dom.js";
import { formulas } from "./formulas.js";
import { Members } from "./members.js";
import { Plane } from "./plane.js";
import { listen } from "./pointer.js";
import { decode } from "./run.js";
import { Source } from "./source.js";
import { fromAddress, initialState, snap, toAddress } from "./state.js";

const BEAT = 700; // milliseconds of a round that is played, less for many
const FASTEST = 90;
const MAX_FILE = 1_500_000;

const setup = JSON.parse(find("setup").textContent);
const recordings = setup.recordings ?? null;
const source = new Source(setup.token);
const plane = new Plane(find("plane"));
const state = initialState(setup);
const members = new Members(find("line"), goTo);

let run = null; // of the points and settings that were asked for last
let pointsOfRun = null;
let tool = 0;
let table = null; // an open file: its name, text, columns
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

// A run fits the points only until they are edited; then it waits for the next answer.
const fittingRun = () => (pointsOfRun === state.points ? run : null);

function drawPlane() {
  cancelAnimationFrame(frame);
  const isMoving = plane.draw({
    points: state.points,
    run: fittingRun(),
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
  find("formula").replaceChildren(make("h2", {}, roundTitle()), ...formulas(context), ...notes());
  find("votes").replaceChildren(...votesAt(run, state.round, place, classes));
  const where = state.place ? "at the cross" : "in the middle";
  find("votes-title").textContent = `Votes ${where}`;
}

const roundTitle = () => {
  const word = { tree: "Split", bagging: "Tree", forest: "Tree", voting: "Member", stacking: "Step" };
  return `${word[run.method] ?? "Round"} ${state.round} of ${run.nRounds}`;
};

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
    find("announce").textContent = `${roundTitle()}: training error ${Math.round(100 * error)} %`;
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
  buildTools();
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
  const { points } = state;
  const wasAtEnd = toEnd || (run !== null && state.round === run.nRounds);
  try {
    const answer = decode(await source.ask("run", question()));
    take(answer, points, wasAtEnd);
    say("");
  } catch (error) {
    run = null;
    drawRound();
    say(error.message);
  }
}

function take(answer, points, isAtEnd) {
  const isOther = !run || run.method !== answer.method;
  if (isOther) setPlaying(false);
  run = answer;
  pointsOfRun = points;
  if (isOther || !points) isStill = true;
  state.round = isAtEnd ? run.nRounds : Math.min(state.round, run.nRounds);
  members.show(run, memberTitle());
  drawRound();
  keepAddress();
}

const memberTitle = () =>
  ({ tree: "Splits", boosting: "Steps", adaboost: "Weak learners" })[run.method] ?? "Members";

async function loadExample(changes, options) {
  state.example = { name: "moons", n: 200, noise: 0.15, seed: 0, ...state.example, ...changes };
  table = null;
  buildData();
  try {
    usePoints(await source.ask("example", state.example));
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
  table = { name: file.name, text: await file.text() };
  await loadTable({});
}

async function loadTable(columns) {
  try {
    const found = await source.ask("table", { name: table.name, text: table.text, ...columns });
    Object.assign(table, { columns: found.columns, numbers: found.numbers, groups: found.groups, notes: found.notes });
    state.example = null;
    usePoints(found);
    buildData();
    await refit();
  } catch (error) {
    table = null;
    say(error.message);
  }
}

function usePoints({ x, y, class: codes, classes, names, axes }) {
  state.points = { x, y, class: codes, classes, names, axes };
  state.place = null;
  if (tool !== "remove" && tool >= classes.length) tool = 0;
  isStill = true;
  buildTools();
}

// --- editing --------------------------------------------------------------------------------------

// Points are never changed in place: a run belongs to the points it was asked for.
function edit(change) {
  const { points } = state;
  const next = { ...points, x: [...points.x], y: [...points.y], class: [...points.class] };
  if (state.example) {
    next.x = next.x.map((value) => snap(value, points.axes.x));
    next.y = next.y.map((value) => snap(value, points.axes.y));
    state.example = null;
    buildData();
  }
  change(next);
  state.points = next;
  isStill = true;
  refit();
}

const editor = {
  canEdit: () => recordings === null,
  points: () => state.points,
  tool: () => tool,
  cross,
  moveCross(place, isCursor) {
    state.place = place;
    cursor = isCursor;
    drawPlane();
    drawPlace();
    keepAddress();
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
    });
  },
  choose: chooseTool,
};

function chooseTool(wanted) {
  const { points } = state;
  if (wanted !== "remove" && wanted >= points.classes.length) {
    const classes = [...points.classes];
    while (classes.length <= wanted) classes.push(setup.colors[classes.length]);
    const next = { ...points, classes };
    if (pointsOfRun === points) pointsOfRun = next;
    state.points = next;
  }
  tool = wanted;
  buildTools();
}

function clear() {
  edit((points) => {
    for (const key of ["x", "y", "class"]) points[key] = [];
  });
}

// --- building -------------------------------------------------------------------------------------

// Builds again what has the focus, and gives it back.
function rebuild(place, parts) {
  const buttons = [...place.querySelectorAll("button, input, select")];
  const at = buttons.indexOf(document.activeElement);
  place.replaceChildren(...parts);
  if (at >= 0) place.querySelectorAll("button, input, select")[at]?.focus();
}

function buildMethods() {
  const entries = recordings ?? setup.methods;
  const chosen = recordings ? state.recording.name : state.method;
  const buttons = entries.map((each) =>
    make(
      "button",
      { type: "button", "aria-pressed": String(each.name === chosen), onclick: () => chooseMethod(each.name) },
      each.label,
    ),
  );
  rebuild(find("methods"), buttons);
  find("methods").querySelector("[aria-pressed=true]")?.scrollIntoView({ block: "nearest", inline: "center" });
}

function chooseMethod(name) {
  setPlaying(false);
  if (recordings) {
    playRecording(recordings.find((each) => each.name === name));
    return;
  }
  state.method = name;
  buildMethods();
  buildData();
  refit({ toEnd: true });
}

function buildTools() {
  const { classes } = state.points;
  const parts = toolButtons({ classes, tool, who: state.who, choose: chooseTool, show, clear });
  if (recordings) parts.shift();
  else if (classes.length < setup.colors.length) {
    const more = { type: "button", title: "Place another class", "aria-label": "Another class" };
    parts[0].insertBefore(
      make("button", { ...more, onclick: () => chooseTool(classes.length) }, "+"),
      parts[0].children[classes.length],
    );
  }
  rebuild(find("tools"), parts);
}

function buildData() {
  if (recordings) {
    const { title, lecture, text } = state.recording;
    find("data").replaceChildren(
      make("div", { class: "card story" }, make("h2", {}, title), make("p", { class: "soft" }, lecture),
        ...text.map((each) => make("p", {}, each))),
    );
    return;
  }
  rebuild(find("data"), [settingsCard(), pointsCard()]);
}

function settingsCard() {
  const { name, label } = method();
  const parts = settingsForm(method(), state.settings[name], state.rounds[name], (key, value) => {
    if (key === "rounds") state.rounds[name] = value;
    else state.settings[name] = { ...state.settings[name], [key]: value };
    refit({ toEnd: key === "rounds" });
  });
  const again = () => {
    state.seed = (state.seed + 1) % 1000;
    refit();
  };
  if (["bagging", "forest", "voting", "stacking"].includes(name)) {
    parts.push(make("button", { type: "button", class: "wide", onclick: again }, "Draw again"));
  }
  return make("div", { class: "card" }, make("h2", {}, label), ...parts);
}

function pointsCard() {
  const buttons = exampleButtons(setup.examples, state.example?.name, (name) => loadExample({ name }));
  const parts = [make("div", { class: "examples" }, ...buttons)];
  const example = state.example && setup.examples.find((each) => each.name === state.example.name);
  if (example?.is_drawn) {
    const { n, noise } = state.example;
    const { limits } = setup;
    parts.push(
      slider({ label: "Points", low: 20, high: limits.points, step: 10, value: n,
        change: (value) => loadExample({ n: value }) }),
      slider({ label: "Noise", low: 0, high: limits.noise, step: 0.01, value: noise,
        change: (value) => loadExample({ noise: value }) }),
      make("button", { type: "button", class: "wide",
        onclick: () => loadExample({ seed: (state.example.seed + 1) % 1000 }) }, "Draw other points"),
    );
  }
  parts.push(
    slider({ label: "Held out", low: 0, high: setup.limits.held_out, step: 0.05, value: state.heldOut,
      text: (value) => `${Math.round(100 * value)} %`,
      change: (value) => {
        state.heldOut = value;
        refit();
      } }),
    filePicker(openFile),
  );
  if (table) {
    parts.push(make("p", { class: "soft" }, [table.name, ...table.notes].join("; ")));
    const [x, y, group] = table.columns;
    const chosen = { x, y, class: group };
    parts.push(...columnPickers(table, (key, value) => loadTable(swapped(chosen, key, value))));
  }
  return make("div", { class: "card" }, make("h2", {}, "Points"), ...parts);
}

// Chooses a column; one that was chosen for something else takes the place of the old one.
function swapped(chosen, key, value) {
  const next = { ...chosen, [key]: value };
  for (const other of Object.keys(chosen)) {
    if (other !== key && chosen[other] === value) next[other] = chosen[key];
  }
  return next;
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
    ? `#${new URLSearchParams({ run: state.recording.name, round: state.round, show: state.who })}`
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
  if (!recordings) buildData();
  buildTools();
}

function onKey(event) {
  const { target, key } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || find("keys").open) return;
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
}

// --- beginning ------------------------------------------------------------------------------------

function playRecording(recording, round = recording.answer.rounds.length) {
  state.recording = recording;
  state.method = recording.answer.method;
  usePoints(recording.points);
  state.place = recording.place ?? null;
  state.round = round;
  buildMethods();
  buildData();
  take(decode(recording.answer), state.points, false);
}

function begin() {
  setIcons();
  listenToPage();
  if (recordings) {
    const fields = new URLSearchParams(location.hash.slice(1));
    const wanted = recordings.find((each) => each.name === fields.get("run")) ?? recordings[0];
    state.who = fields.get("show") === "member" ? "member" : "committee";
    state.recording = wanted;
    setTheme(dark.matches ? "dark" : "light");
    playRecording(wanted, Number(fields.get("round")) || undefined);
    return;
  }
  const isFresh = location.hash.length < 2;
  fromAddress(location.hash, state, setup);
  const { place } = state;
  buildMethods();
  setTheme(dark.matches ? "dark" : "light");
  const start = state.example ? loadExample({}, { toEnd: isFresh }) : refit();
  start.then(() => {
    if (!place) return;
    state.place = place;
    drawPlane();
    drawPlace();
  });
}

begin();
