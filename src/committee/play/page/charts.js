// Curves of errors and margins, and the votes at a place.

import { clamp, classColor, draw, make } from "./dom.js";
import { chosen, shown } from "./math.js";
import { cellAt, ofRound, sharesOfCell } from "./run.js";

const WIDTH = 360;
const HEIGHT = 150;
const BOX = { left: 42, right: 10, top: 8, bottom: 24 };

const line = (places) => `M${places.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`;

function chart(label, ...children) {
  return draw(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label },
    ...children,
  );
}

function scale(low, high, from, to) {
  return (value) => from + ((value - low) / (high - low || 1)) * (to - from);
}

function legend(entries) {
  const items = entries.map(([kind, text, value]) =>
    make("span", {}, make("i", { class: `key ${kind}` }), text, " ", make("b", {}, value)),
  );
  return make("p", { class: "legend" }, ...items);
}

// Errors after each round; a press on a round goes there.
export function errorChart(run, round, goTo) {
  const training = run.method === "stacking" ? "left-out folds" : "training";
  const series = [
    ["train", training, run.rounds.map((each) => each.committee_error)],
    ["unseen", "unseen points", run.rounds.map((each) => each.committee_unseen_error)],
    ["oob", "out of bag", run.rounds.map((each) => each.oob_error ?? null)],
  ].filter(([, , values]) => values.some((value) => value !== null && value !== undefined));
  const most = Math.max(0.05, ...series.flatMap(([, , values]) => values.map((v) => v ?? 0)));
  const across = scale(1, Math.max(run.nRounds, 2), BOX.left, WIDTH - BOX.right);
  const up = scale(0, most * 1.05, HEIGHT - BOX.bottom, BOX.top);
  const parts = [...gridUp([0, most / 2, most], up, (value) => `${Math.round(100 * value)} %`)];
  for (const tick of roundTicks(run.nRounds)) {
    parts.push(draw("text", { x: across(tick), y: HEIGHT - 8, class: "middle" }, String(tick)));
  }
  parts.push(
    draw("line", { class: "at", x1: across(round), x2: across(round), y1: BOX.top, y2: up(0) }),
  );
  for (const [kind, , values] of series) {
    const places = values.map((value, k) => [across(k + 1), value]).filter(([, v]) => v !== null);
    const drawn = places.map(([x, value]) => [x, up(value)]);
    if (drawn.length) parts.push(draw("path", { class: `curve ${kind}`, d: line(drawn) }));
    const value = values[round - 1];
    if (value !== null && value !== undefined) {
      parts.push(draw("circle", { class: `dot ${kind}`, cx: across(round), cy: up(value), r: 4 }));
    }
  }
  const picture = chart("Errors by round", ...parts);
  picture.addEventListener("pointerdown", (event) => {
    const box = picture.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * WIDTH;
    const share = (x - BOX.left) / (WIDTH - BOX.left - BOX.right);
    goTo(clamp(Math.round(1 + share * (run.nRounds - 1)), 1, run.nRounds));
  });
  const values = series.map(([kind, text, all]) => [kind, text, percent(all[round - 1])]);
  return [picture, legend(values)];
}

export const percent = (value) =>
  value === null || value === undefined ? "–" : `${(100 * value).toFixed(1)} %`;

function roundTicks(n) {
  if (n <= 6) return Array.from({ length: n }, (_, k) => k + 1);
  const step = [1, 2, 5, 10, 20, 50].find((each) => n / each <= 6);
  return [1, ...Array.from({ length: Math.floor(n / step) }, (_, k) => (k + 1) * step)].filter(
    (tick, k, all) => k === 0 || tick - all[0] > step / 2,
  );
}

function* gridUp(values, up, label) {
  for (const value of values) {
    yield draw("line", { class: "grid", x1: BOX.left, x2: WIDTH - BOX.right, y1: up(value), y2: up(value) });
    yield draw("text", { x: BOX.left - 5, y: up(value) + 4, class: "right" }, label(value));
  }
}

// The share of points with a margin up to each value, from -1 to 1.
export function marginChart(run, round) {
  const margins = ofRound(run.margins, run, round);
  const across = scale(-1, 1, BOX.left, WIDTH - BOX.right);
  const up = scale(0, 1, HEIGHT - BOX.bottom, BOX.top);
  const wrong = { class: "wrong-side", x: across(-1), y: up(1), width: across(0) - across(-1) };
  const parts = [draw("rect", { ...wrong, height: up(0) - up(1) })];
  parts.push(...gridUp([0, 0.5, 1], up, (value) => `${100 * value} %`));
  for (const tick of [-1, -0.5, 0, 0.5, 1]) {
    const text = String(tick).replace("-", "−");
    parts.push(draw("text", { x: across(tick), y: HEIGHT - 8, class: "middle" }, text));
  }
  const entries = [];
  for (const [kind, text, flag] of [["train", "training", 0], ["unseen", "unseen points", 1]]) {
    const mine = [...margins].filter((_, k) => run.isHeldOut[k] === flag).sort((a, b) => a - b);
    if (!mine.length) continue;
    const places = [[across(-1), up(0)]];
    mine.forEach((margin, k) => {
      const x = across(clamp(margin, -1, 1));
      places.push([x, up(k / mine.length)], [x, up((k + 1) / mine.length)]);
    });
    places.push([across(1), up(1)]);
    parts.push(draw("path", { class: `curve ${kind}`, d: line(places) }));
    entries.push([kind, `median, ${text}`, shown(mine[mine.length >> 1])]);
  }
  return [chart("Distribution of margins", ...parts), legend(entries)];
}

// What each member so far votes at a place: a bar of the weight of each, by class.
export function votesAt(run, round, place, classes) {
  const cell = cellAt(run, place.x, place.y);
  const votes = [];
  const isStack = run.method === "stacking";
  const isTree = run.method === "tree";
  if (!isTree) {
    for (let k = 1; k <= round; k++) {
      if (isStack && "final" in run.rounds[k - 1]) break;
      const shares = sharesOfCell(run, "member", k, cell);
      votes.push({ label: run.labels[k - 1], weight: weightOf(run, k), shares });
    }
  }
  const result = sharesOfCell(run, "committee", round, cell);
  const parts = votes.length <= 8 ? votes.map((vote) => voteRow(run, vote)) : [voteStrip(run, votes)];
  if (votes.length > 8) parts.push(voteCounts(run, votes, classes));
  const [best] = result.map((share, k) => [share, k]).sort((a, b) => b[0] - a[0] || a[1] - b[1])[0];
  const winner = result.indexOf(best);
  parts.push(
    make(
      "p",
      { class: "result" },
      isTree ? "This leaf" : isStack && votes.length === round ? "This member" : "Together",
      shareBar(run, result),
      make("b", {}, `${classes[run.classes[winner]]}, ${shown(best)}`),
    ),
  );
  return parts;
}

export function weightOf(run, round) {
  const numbers = run.rounds[round - 1];
  if (run.method === "adaboost") return numbers.beta;
  if (run.method === "boosting") return numbers.scale; // with the learning rate
  if (run.method === "voting") return numbers.weight;
  return 1;
}

function voteRow(run, { label, weight, shares }) {
  const text = { adaboost: shown, voting: chosen }[run.method]?.(weight) ?? "";
  return make(
    "p",
    { class: "vote" },
    make("span", {}, label),
    shareBar(run, shares),
    make("span", { class: "number" }, run.method === "boosting" ? step(run, weight, shares) : text),
  );
}

function step(run, weight, shares) {
  if (shares.length > 2) return "";
  const value = weight * (2 * shares[1] - 1);
  return `${value >= 0 ? "+" : ""}${shown(value)}`;
}

function shareBar(run, shares) {
  const bar = make("span", { class: "shares" });
  shares.forEach((share, k) => {
    if (share <= 0.002) return;
    const part = make("i");
    part.style.flexGrow = share;
    part.style.background = classColor(run.classes[k]);
    bar.append(part);
  });
  return bar;
}

function voteCounts(run, votes, classes) {
  const counts = run.classes.map(() => 0);
  for (const { shares } of votes) counts[shares.indexOf(Math.max(...shares))]++;
  const words = counts.map((count, k) => `${count} for ${classes[run.classes[k]]}`);
  return make("p", { class: "soft" }, words.join(", "));
}

// Many members: a column each, as high as its weight, coloured by what it prefers.
function voteStrip(run, votes) {
  const most = Math.max(...votes.map(({ weight }) => weight)) || 1;
  const strip = make("div", { class: "strip", role: "img", "aria-label": "Votes of all members" });
  for (const { label, weight, shares } of votes) {
    const lead = Math.max(...shares);
    const second = Math.max(...shares.filter((_, k) => k !== shares.indexOf(lead)));
    const column = make("i", { title: `${label}: ${shares.map(shown).join(" / ")}` });
    const height = run.method === "boosting" ? lead - second : weight / most;
    column.style.height = `${Math.max(4, 100 * height)}%`;
    column.style.background = classColor(run.classes[shares.indexOf(lead)]);
    column.style.opacity = run.method === "boosting" ? 1 : 0.35 + 0.65 * (lead - second);
    strip.append(column);
  }
  return strip;
}
