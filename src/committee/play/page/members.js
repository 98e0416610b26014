// A small picture of what each round has added, and their sum.

import { make } from "./dom.js";
import { drawRegions } from "./regions.js";
import { chosen, shown } from "./math.js";
import { weightOf } from "./charts.js";

const SIDE = 64;

export class Members {
  constructor(place, goTo) {
    this.place = place;
    this.goTo = goTo;
    this.run = null;
  }

  // Builds the pictures of a run; each is drawn when it comes into view.
  show(run, title) {
    this.run = run;
    this.watcher?.disconnect();
    this.watcher = new IntersectionObserver((seen) => {
      for (const each of seen) {
        if (!each.isIntersecting) continue;
        this.paint(each.target);
        this.watcher.unobserve(each.target);
      }
    });
    const items = run.rounds.map((_, k) => this.item(run, k + 1));
    const whole = make("canvas", { width: 2 * SIDE, height: 2 * SIDE, "aria-hidden": "true" });
    this.whole = whole;
    const sum = make("figure", { class: "sum" }, whole, make("figcaption"));
    this.caption = sum.lastChild;
    this.strip = make("ol", {}, ...items);
    this.place.replaceChildren(make("h2", {}, title), make("div", { class: "members" }, this.strip, sum));
    for (const canvas of this.strip.querySelectorAll("canvas")) this.watcher.observe(canvas);
  }

  item(run, round) {
    const canvas = make("canvas", { width: 2 * SIDE, height: 2 * SIDE, "aria-hidden": "true" });
    canvas.dataset.round = round;
    const caption = make("span", { class: "weight" }, weightText(run, round));
    const label = make("span", { class: "label" }, run.labels[round - 1]);
    const button = make(
      "button",
      { type: "button", onclick: () => this.goTo(round), title: `Round ${round}: ${run.labels[round - 1]}` },
      canvas,
      caption,
      label,
    );
    return make("li", {}, button);
  }

  paint(canvas) {
    paintPicture(canvas, this.run, "member", Number(canvas.dataset.round));
  }

  // Marks a round, and draws the committee of the rounds so far.
  mark(round) {
    const { run } = this;
    [...this.strip.children].forEach((item, k) => {
      item.classList.toggle("later", k + 1 > round);
      if (k + 1 === round) item.firstChild.setAttribute("aria-current", "step");
      else item.firstChild.removeAttribute("aria-current");
    });
    paintPicture(this.whole, run, "committee", round);
    this.caption.textContent = sumText(run, round);
    const current = this.strip.children[round - 1];
    const from = this.strip.getBoundingClientRect();
    const box = current.getBoundingClientRect();
    if (box.left < from.left || box.right > from.right) {
      this.strip.scrollBy({ left: box.left - from.left - from.width / 2 + box.width / 2 });
    }
  }

  repaint(round) {
    for (const canvas of this.strip.querySelectorAll("canvas")) this.watcher.observe(canvas);
    this.mark(round);
  }
}

function paintPicture(canvas, run, who, round) {
  const context = canvas.getContext("2d");
  const side = canvas.width;
  context.clearRect(0, 0, side, side);
  const { x, y } = run.plane;
  const across = (value) => ((value - x[0]) / (x[run.nAcross] - x[0])) * side;
  const up = (value) => (1 - (value - y[0]) / (y[run.nUp] - y[0])) * side;
  drawRegions(context, run, who, round, across, up, run.method === "boosting" && who === "member" ? 0 : 2);
}

function weightText(run, round) {
  if (run.method === "adaboost") return shown(weightOf(run, round));
  if (run.method === "voting") return chosen(run.rounds[round - 1].weight);
  if (run.method === "boosting") return chosen(run.rounds[round - 1].learning_rate);
  if (run.method === "tree") return shown(run.rounds[round - 1].gain);
  return "";
}

function sumText(run, round) {
  if (run.method === "tree") return `${round + 1} leaves`;
  if (run.method === "stacking") return round === run.nRounds ? "the stack" : "by itself";
  return round === 1 ? "1 member" : `${round} together`;
}
