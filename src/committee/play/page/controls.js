// The forms: examples, numbers of points, files, and the settings of a method.

import { classColor, find, make } from "./dom.js";

const ICONS = {
  first: "M5 4v12M15 4l-8 6 8 6z",
  back: "M14 4l-9 6 9 6z",
  play: "M5 3l12 7-12 7z",
  pause: "M6 4v12M14 4v12",
  next: "M6 4l9 6-9 6z",
  last: "M15 4v12M5 4l8 6-8 6z",
};

export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const picture = document.createElementNS(space, "svg");
  picture.setAttribute("viewBox", "0 0 20 20");
  picture.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", ICONS[name]);
  picture.append(path);
  return picture;
}

// A slider with its value; `change` gets each new one.
export function slider({ label, low, high, step, value, change, text = String }) {
  const output = make("output", {}, text(value));
  const input = make("input", { type: "range", min: low, max: high, step, value });
  input.addEventListener("input", () => {
    output.textContent = text(Number(input.value));
    change(Number(input.value));
  });
  return make("label", { class: "slider" }, make("span", {}, label), output, input);
}

function choice({ label, options, value, change }) {
  const select = make("select", { onchange: () => change(select.value) });
  for (const [key, text] of Object.entries(options)) {
    select.append(make("option", { value: key, selected: key === value }, text));
  }
  return make("label", { class: "choice" }, make("span", {}, label), select);
}

// The members of a team, each with its weight where the method has weights.
function team(setting, weights, values, change) {
  const rows = Object.entries(setting.options).map(([key, text]) => {
    const box = make("input", { type: "checkbox", checked: values.members.includes(key) });
    box.addEventListener("change", () => {
      const order = Object.keys(setting.options);
      const wanted = order.filter((each) => (each === key ? box.checked : values.members.includes(each)));
      if (wanted.length < setting.least) box.checked = true;
      else change("members", wanted);
    });
    const row = make("li", {}, make("label", {}, box, text));
    if (weights) row.append(weightInput(key, text, weights, values, change));
    return row;
  });
  return make("fieldset", { class: "team" }, make("legend", {}, setting.label), make("ul", {}, ...rows));
}

function weightInput(key, text, weights, values, change) {
  const input = make("input", {
    type: "number", min: weights.low, max: weights.high, step: weights.step,
    value: values.weights[key], "aria-label": `Weight of ${text}`,
  });
  input.addEventListener("change", () => {
    if (input.validity.valid && input.value !== "") {
      change("weights", { ...values.weights, [key]: Number(input.value) });
    } else input.value = values.weights[key];
  });
  return input;
}

// The settings of a method; `change` gets a name and a value.
export function settingsForm(method, values, rounds, change) {
  const parts = [];
  if (method.rounds) {
    const { label, low, high } = method.rounds;
    parts.push(slider({ label, low, high, step: 1, value: rounds, change: (value) => change("rounds", value) }));
  }
  const weights = method.settings.find((each) => each.kind === "weights");
  for (const setting of method.settings) {
    const { name, label, low, high, step = 1, options } = setting;
    const use = (value) => change(name, value);
    if (setting.kind === "choice") parts.push(choice({ label, options, value: values[name], change: use }));
    else if (setting.kind === "members") parts.push(team(setting, weights, values, change));
    else if (setting.kind !== "weights") {
      parts.push(slider({ label, low, high, step, value: values[name], change: use }));
    }
  }
  return parts;
}

// A button with a small picture of each example.
export function exampleButtons(examples, chosen, choose) {
  return examples.map((example) => {
    const canvas = make("canvas", { width: 96, height: 96, "aria-hidden": "true" });
    const button = make(
      "button",
      { type: "button", "aria-pressed": String(example.name === chosen), onclick: () => choose(example.name) },
      canvas,
      example.label,
    );
    paintExample(canvas, example.preview);
    return button;
  });
}

function paintExample(canvas, { x, y, class: codes, axes }) {
  const context = canvas.getContext("2d");
  const side = canvas.width;
  const radius = x.length > 20 ? 4 : 7;
  x.forEach((_, k) => {
    const right = ((x[k] - axes.x[0]) / (axes.x[1] - axes.x[0])) * side;
    const down = (1 - (y[k] - axes.y[0]) / (axes.y[1] - axes.y[0])) * side;
    context.fillStyle = classColor(codes[k]);
    context.beginPath();
    context.arc(right, down, radius, 0, 2 * Math.PI);
    context.fill();
  });
}

// The classes to place, removing, and clearing.
export function toolButtons({ classes, tool, who, choose, show, clear }) {
  const brush = (code, text) =>
    make(
      "button",
      { type: "button", class: "brush", "aria-pressed": String(tool === code), title: `Place ${text}`,
        onclick: () => choose(code) },
      swatch(code),
      text,
    );
  const kinds = classes.map((text, code) => brush(code, text));
  const other = [
    make("button", { type: "button", "aria-pressed": String(tool === "remove"), onclick: () => choose("remove") },
      "Remove"),
    make("button", { type: "button", onclick: clear }, "Clear"),
  ];
  const views = [["committee", "Committee"], ["member", "This round"]].map(([key, text]) =>
    make("button", { type: "button", "aria-pressed": String(who === key), onclick: () => show(key) }, text),
  );
  return [
    make("div", { class: "group", role: "group", "aria-label": "What a press places" }, ...kinds, ...other),
    make("div", { class: "group views", role: "group", "aria-label": "Regions of" }, ...views),
  ];
}

export function swatch(code) {
  const dot = make("i", { class: "swatch" });
  dot.style.background = classColor(code);
  return dot;
}

// A file of points, and which of its columns are drawn.
export function filePicker(read) {
  const input = make("input", { type: "file", accept: ".csv,.tsv,.txt,text/csv", id: "file" });
  input.addEventListener("change", () => input.files[0] && read(input.files[0]));
  return make("label", { class: "file", for: "file" }, "Open a CSV file", input);
}

export function columnPickers(table, change) {
  const keys = [["x", "Across", table.numbers], ["y", "Up", table.numbers], ["class", "Classes", table.groups]];
  return keys.map(([key, label, names], k) =>
    choice({
      label,
      options: Object.fromEntries(names.map((name) => [name, name])),
      value: table.columns[k],
      change: (value) => change(key, value),
    }),
  );
}

export function dropFiles(area, read) {
  area.addEventListener("dragover", (event) => event.preventDefault());
  area.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files[0]) read(event.dataTransfer.files[0]);
  });
}

export const setIcons = () => {
  for (const name of ["first", "back", "play", "next", "last"]) find(name).append(icon(name));
};
