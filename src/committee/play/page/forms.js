// The parts of the page that are built anew: methods, tools, settings and points.

import {
  columnPickers, exampleButtons, filePicker, settingsForm, slider, toolButtons,
} from "./controls.js";
import { find, make } from "./dom.js";

// Builds again what has the focus, and gives it back.
function rebuild(place, parts) {
  const kinds = "button, input, select, summary";
  const at = [...place.querySelectorAll(kinds)].indexOf(document.activeElement);
  place.replaceChildren(...parts);
  if (at >= 0) place.querySelectorAll(kinds)[at]?.focus();
}

// `app` has the state and what can be done; see app.js.
export function buildMethods(app) {
  const entries = app.recordings ?? app.setup.methods;
  const chosen = app.recordings ? app.recording.name : app.state.method;
  const buttons = entries.map(({ name, label }) =>
    make(
      "button",
      { type: "button", "aria-pressed": String(name === chosen), onclick: () => app.chooseMethod(name) },
      label,
    ),
  );
  const place = find("methods");
  rebuild(place, buttons);
  const pressed = place.querySelector("[aria-pressed=true]");
  if (!pressed) return;
  // Not scrollIntoView: that would scroll a page around this one too.
  const [box, frame] = [pressed.getBoundingClientRect(), place.getBoundingClientRect()];
  place.scrollLeft += box.left + box.width / 2 - frame.left - frame.width / 2;
}

export function buildTools(app) {
  const { classes } = app.state.points;
  const parts = toolButtons({
    classes, tool: app.tool, who: app.state.who, choose: app.chooseTool, show: app.show, clear: app.clear,
  });
  if (app.recordings) parts.shift();
  else if (classes.length < app.setup.colors.length) {
    const more = { type: "button", title: "Place another class", "aria-label": "Another class" };
    parts[0].insertBefore(
      make("button", { ...more, onclick: () => app.chooseTool(classes.length) }, "+"),
      parts[0].children[classes.length],
    );
  }
  rebuild(find("tools"), parts);
}

export function buildData(app) {
  if (!app.recordings) {
    rebuild(find("data"), [settingsCard(app), pointsCard(app)]);
    return;
  }
  const { title, lecture, text } = app.recording;
  const story = [make("h2", {}, title), make("p", { class: "soft" }, lecture)];
  const paragraphs = text.map((each) => make("p", {}, each));
  find("data").replaceChildren(make("div", { class: "card story" }, ...story, ...paragraphs));
}

const DRAWN = ["bagging", "forest", "voting", "stacking"]; // methods that draw

function settingsCard(app) {
  const { state, setup, refit } = app;
  const method = setup.methods.find((each) => each.name === state.method);
  const { name, label } = method;
  const parts = settingsForm(method, state.settings[name], state.rounds[name], (key, value) => {
    if (key === "rounds") state.rounds[name] = value;
    else state.settings[name] = { ...state.settings[name], [key]: value };
    if (key === "members" || key === "weights") buildData(app);
    refit({ toEnd: key === "rounds" });
  });
  const again = () => {
    state.seed = (state.seed + 1) % 1000;
    refit();
  };
  if (DRAWN.includes(name)) {
    parts.push(make("button", { type: "button", class: "wide", onclick: again }, "Draw again"));
  }
  return card(app, "settings", label, parts);
}

// A card that can be folded, as it is at first on phones.
function card(app, key, title, parts) {
  const made = make("details", { class: "card", open: app.unfolded[key] },
    make("summary", {}, make("h2", {}, title)), ...parts);
  made.addEventListener("toggle", () => (app.unfolded[key] = made.open));
  return made;
}

function pointsCard(app) {
  const { state, setup } = app;
  const choose = (name) => app.loadExample({ name });
  const parts = [
    make("div", { class: "examples" }, ...exampleButtons(setup.examples, state.example?.name, choose)),
  ];
  const example = state.example && setup.examples.find((each) => each.name === state.example.name);
  if (example?.is_drawn) parts.push(...drawnSettings(app));
  parts.push(
    slider({
      label: "Held out", low: 0, high: setup.limits.held_out, step: 0.05, value: state.heldOut,
      text: (value) => `${Math.round(100 * value)} %`,
      change: (value) => {
        state.heldOut = value;
        app.refit();
      },
    }),
    filePicker(app.openFile),
  );
  if (app.table) parts.push(...tableSettings(app));
  return card(app, "points", "Points", parts);
}

function drawnSettings({ state, setup, loadExample }) {
  const { n, noise } = state.example;
  const other = () => loadExample({ seed: (state.example.seed + 1) % 1000 });
  return [
    slider({
      label: "Points", low: 20, high: setup.limits.points, step: 10, value: n,
      change: (value) => loadExample({ n: value }),
    }),
    slider({
      label: "Noise", low: 0, high: setup.limits.noise, step: 0.01, value: noise,
      change: (value) => loadExample({ noise: value }),
    }),
    make("button", { type: "button", class: "wide", onclick: other }, "Draw other points"),
  ];
}

function tableSettings({ table, loadTable }) {
  const [x, y, group] = table.columns;
  const chosen = { x, y, class: group };
  return [
    make("p", { class: "soft" }, [table.name, ...table.notes].join("; ")),
    ...columnPickers(table, (key, value) => loadTable(swapped(chosen, key, value))),
  ];
}

// Chooses a column; one that was chosen for something else takes the place of the old one.
function swapped(chosen, key, value) {
  const next = { ...chosen, [key]: value };
  for (const other of Object.keys(chosen)) {
    if (other !== key && chosen[other] === value) next[other] = chosen[key];
  }
  return next;
}
