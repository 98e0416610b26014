// What the page shows, and the same as the part of its address behind the #.
//
// Points of an example are named by what draws them; others are in the address one by one, five
// bytes each: two places on the axes in 65,535 parts, and a class.

const PARTS = 65535;

export function initialState(setup) {
  return {
    example: { name: "moons", n: 200, noise: 0.15, seed: 0 }, // null: points of one's own
    points: { x: [], y: [], class: [], classes: ["blue", "orange"], names: ["x", "y"],
      axes: { x: [-1.2, 1.2], y: [-1.2, 1.2] } },
    method: "adaboost",
    settings: Object.fromEntries(setup.methods.map((each) => [each.name, defaults(each)])),
    rounds: Object.fromEntries(setup.methods.map((each) => [each.name, each.rounds?.default ?? 1])),
    heldOut: 0.3,
    seed: 0,
    round: 1,
    who: "committee",
    place: null,
  };
}

const defaults = (method) =>
  Object.fromEntries(method.settings.map((each) => [each.name, structuredClone(each.default)]));

// Puts a value on the lattice that the address can hold.
export function snap(value, [low, high]) {
  return low + (Math.round(((value - low) / (high - low)) * PARTS) / PARTS) * (high - low);
}

export function toAddress(state, setup) {
  const fields = new URLSearchParams();
  fields.set("method", state.method);
  const method = setup.methods.find((each) => each.name === state.method);
  if (method.rounds && state.rounds[method.name] !== method.rounds.default) {
    fields.set("rounds", state.rounds[method.name]);
  }
  for (const setting of method.settings) {
    const value = settingText(state.settings[method.name][setting.name]);
    if (value !== settingText(setting.default)) fields.set(setting.name, value);
  }
  fields.set("points", state.example ? state.example.name : "own");
  if (state.example) {
    if (setup.examples.find((each) => each.name === state.example.name).is_drawn) {
      for (const key of ["n", "noise"]) fields.set(key, state.example[key]);
      if (state.example.seed) fields.set("draw", state.example.seed);
    }
  } else putPoints(fields, state.points);
  fields.set("held_out", state.heldOut);
  if (state.seed) fields.set("seed", state.seed);
  fields.set("round", state.round);
  if (state.who !== "committee") fields.set("show", state.who);
  if (state.place) fields.set("at", [state.place.x, state.place.y].map(short).join(","));
  return `#${fields}`;
}

// As places of the cross are in the address.
export const short = (value) => Number(value.toPrecision(5));

function settingText(value) {
  if (Array.isArray(value)) return value.join(",");
  if (value !== null && typeof value === "object") {
    return Object.entries(value).map(([key, each]) => `${key}:${each}`).join(",");
  }
  return String(value);
}

// Reads an address into a state; what cannot be read is left as it is.
export function fromAddress(hash, state, setup) {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const method = setup.methods.find((each) => each.name === fields.get("method"));
  if (method) {
    state.method = method.name;
    if (method.rounds) {
      readNumber(fields, "rounds", (value) => (state.rounds[method.name] = value), method.rounds);
    }
    for (const setting of method.settings) readSetting(fields, setting, state.settings[method.name]);
  }
  readExample(fields, state, setup);
  readNumber(fields, "held_out", (value) => (state.heldOut = value), { low: 0, high: setup.limits.held_out });
  readNumber(fields, "seed", (value) => (state.seed = value), { low: 0, high: setup.limits.seed, kind: "whole" });
  readNumber(fields, "round", (value) => (state.round = value), { low: 1, high: 1000, kind: "whole" });
  state.who = fields.get("show") === "member" ? "member" : "committee";
  const at = (fields.get("at") ?? "").split(",").map(Number);
  if (fields.has("at") && at.length === 2 && at.every(Number.isFinite)) {
    state.place = { x: at[0], y: at[1] };
  }
  return state;
}

function readNumber(fields, key, use, { low, high, kind }) {
  if (!fields.has(key)) return;
  const value = Number(fields.get(key));
  if (!Number.isFinite(value) || value < low || value > high) return;
  if (kind !== "whole" || Number.isInteger(value)) use(value);
}

function readSetting(fields, setting, values) {
  const text = fields.get(setting.name);
  if (text === null) return;
  if (setting.kind === "choice") {
    if (text in setting.options) values[setting.name] = text;
  } else if (setting.kind === "members") {
    const names = [...new Set(text.split(","))].filter((each) => each in setting.options);
    if (names.length >= setting.least) values[setting.name] = names;
  } else if (setting.kind === "weights") {
    for (const [key, value] of text.split(",").map((each) => each.split(":"))) {
      const weight = Number(value);
      if (key in setting.default && weight >= setting.low && weight <= setting.high) {
        values[setting.name][key] = weight;
      }
    }
  } else readNumber(fields, setting.name, (value) => (values[setting.name] = value), setting);
}

function readExample(fields, state, setup) {
  const name = fields.get("points");
  if (name === "own") {
    const points = takePoints(fields, setup);
    if (points) Object.assign(state, { points, example: null });
    return;
  }
  if (!setup.examples.some((each) => each.name === name)) return;
  const example = { ...state.example, name };
  const { limits } = setup;
  readNumber(fields, "n", (value) => (example.n = value), { low: 2, high: limits.points, kind: "whole" });
  readNumber(fields, "noise", (value) => (example.noise = value), { low: 0, high: limits.noise });
  readNumber(fields, "draw", (value) => (example.seed = value), { low: 0, high: limits.seed, kind: "whole" });
  state.example = example;
}

function putPoints(fields, { x, y, class: codes, classes, names, axes }) {
  const bytes = new Uint8Array(5 * x.length);
  const part = (value, [low, high]) => Math.round(((value - low) / (high - low)) * PARTS);
  x.forEach((_, k) => {
    const [across, up] = [part(x[k], axes.x), part(y[k], axes.y)];
    bytes.set([across >> 8, across & 255, up >> 8, up & 255, codes[k]], 5 * k);
  });
  const text = btoa(String.fromCharCode(...bytes));
  fields.set("xy", text.replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, ""));
  fields.set("axes", [...axes.x, ...axes.y].join(","));
  fields.set("names", JSON.stringify(names));
  fields.set("classes", JSON.stringify(classes));
}

function takePoints(fields, setup) {
  try {
    const plain = atob((fields.get("xy") ?? "").replace(/-/g, "+").replace(/_/g, "/"));
    const ends = fields.get("axes").split(",").map(Number);
    const names = JSON.parse(fields.get("names")).map(String);
    const classes = JSON.parse(fields.get("classes")).map(String);
    const axes = { x: ends.slice(0, 2), y: ends.slice(2, 4) };
    const isSound = ends.length === 4 && ends.every(Number.isFinite) && names.length === 2 &&
      axes.x[0] < axes.x[1] && axes.y[0] < axes.y[1] && plain.length % 5 === 0 &&
      plain.length <= 5 * setup.limits.points && classes.length <= setup.colors.length;
    if (!isSound) return null;
    const points = { x: [], y: [], class: [], classes, names, axes };
    for (let k = 0; k < plain.length; k += 5) {
      const [a, b, c, d, code] = [0, 1, 2, 3, 4].map((i) => plain.charCodeAt(k + i));
      if (code >= setup.colors.length) return null;
      points.x.push(axes.x[0] + ((256 * a + b) / PARTS) * (axes.x[1] - axes.x[0]));
      points.y.push(axes.y[0] + ((256 * c + d) / PARTS) * (axes.y[1] - axes.y[0]));
      points.class.push(code);
    }
    return points;
  } catch {
    return null;
  }
}
