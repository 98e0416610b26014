// The plane: regions, axes, points by weight, and the cross.

import { clamp, classColor, color } from "./dom.js";
import { drawRegions } from "./regions.js";
import { isSilent, ofRound } from "./run.js";

const MARGIN = { left: 34, right: 8, top: 8, bottom: 24 };
const FEW = 60; // points; few of two classes are minus and plus, as on the blackboard

export class Plane {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.sizes = null; // radii, which move towards those of the round
  }

  // Takes the size that the style sheet gives.
  fit() {
    const box = this.canvas.getBoundingClientRect();
    const scale = window.devicePixelRatio || 1;
    this.width = box.width;
    this.height = box.height;
    this.canvas.width = Math.round(box.width * scale);
    this.canvas.height = Math.round(box.height * scale);
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
  }

  across(value, axes) {
    const [low, high] = axes.x;
    const room = this.width - MARGIN.left - MARGIN.right;
    return MARGIN.left + ((value - low) / (high - low)) * room;
  }

  up(value, axes) {
    const [low, high] = axes.y;
    const room = this.height - MARGIN.top - MARGIN.bottom;
    return this.height - MARGIN.bottom - ((value - low) / (high - low)) * room;
  }

  // The values at a place of the window, inside of the axes.
  valuesAt(clientX, clientY, axes) {
    const box = this.canvas.getBoundingClientRect();
    const right = (clientX - box.left - MARGIN.left) / (this.width - MARGIN.left - MARGIN.right);
    const down = (clientY - box.top - MARGIN.top) / (this.height - MARGIN.top - MARGIN.bottom);
    const share = [clamp(right, 0, 1), clamp(1 - down, 0, 1)];
    return {
      x: axes.x[0] + share[0] * (axes.x[1] - axes.x[0]),
      y: axes.y[0] + share[1] * (axes.y[1] - axes.y[0]),
    };
  }

  // The point nearest to some values within a number of pixels, or -1.
  nearest(points, { x, y }, within) {
    let best = -1;
    let least = within;
    for (let k = 0; k < points.x.length; k++) {
      const distance = Math.hypot(
        this.across(points.x[k], points.axes) - this.across(x, points.axes),
        this.up(points.y[k], points.axes) - this.up(y, points.axes),
      );
      if (distance < least) [best, least] = [k, distance];
    }
    return best;
  }

  // Draws a scene: points, run or null, whether it knows the points, round, who ("committee" or
  // "member"), cross or null. Points that came after the run look like those of mean weight.
  // Returns whether sizes are still on their way.
  draw(scene) {
    const { context } = this;
    const { axes } = scene.points;
    const across = (value) => this.across(value, axes);
    const up = (value) => this.up(value, axes);
    context.clearRect(0, 0, this.width, this.height);
    context.fillStyle = color("plane");
    const frame = [across(axes.x[0]), up(axes.y[1])];
    frame.push(across(axes.x[1]) - frame[0], up(axes.y[0]) - frame[1]);
    context.fillRect(...frame);
    context.save();
    context.beginPath();
    context.rect(...frame);
    context.clip();
    if (scene.run) drawRegions(context, scene.run, scene.who, scene.round, across, up);
    const isMoving = this.moveSizes(scene);
    this.drawPoints(scene, across, up);
    if (scene.cross) this.drawCross(scene.cross, scene.isCursor, across, up);
    context.restore();
    this.drawAxes(scene.points, across, up, frame);
    return isMoving;
  }

  moveSizes(scene) {
    const wanted = radii(scene, Math.min(this.width, 560) / 560);
    const isNew = !this.sizes || this.sizes.length !== wanted.length || scene.isStill;
    if (isNew) {
      this.sizes = wanted;
      return false;
    }
    let isMoving = false;
    for (let k = 0; k < wanted.length; k++) {
      const way = wanted[k] - this.sizes[k];
      this.sizes[k] += Math.abs(way) < 0.1 ? way : way * 0.3;
      isMoving ||= Math.abs(way) >= 0.1;
    }
    return isMoving;
  }

  drawPoints({ points, run, knowsPoints, round, who }, across, up) {
    const predicted = run && ofRound(run[`${who}_predictions`], run, round);
    const nKnown = run && knowsPoints ? run.nPoints : 0;
    const heavyFirst = [...points.x.keys()].sort((a, b) => this.sizes[b] - this.sizes[a]);
    const areFew = points.x.length <= FEW && Math.max(0, ...points.class) < 2;
    const isStep = run?.method === "boosting" && who === "member"; // which predicts no classes
    for (const k of heavyFirst) {
      const isJudged = k < nKnown && !isStep && !isSilent(run, who, round, k);
      const isWrong = isJudged && run.classes[predicted[k]] !== points.class[k];
      const place = [across(points.x[k]), up(points.y[k])];
      this.drawMark(place, this.sizes[k], points.class[k], areFew, k < nKnown && run.isHeldOut[k]);
      if (isWrong) this.drawRing(place, this.sizes[k] + (areFew ? 4 : 2.2), areFew);
    }
  }

  drawMark([x, y], radius, code, areFew, isHeldOut) {
    const { context } = this;
    context.beginPath();
    trace(context, x, y, radius, areFew ? (code === 0 ? "minus" : "plus") : SHAPES[code]);
    if (isHeldOut) {
      context.fillStyle = color("plane");
      context.strokeStyle = classColor(code);
      context.lineWidth = 1.5;
    } else {
      context.fillStyle = classColor(code);
      context.strokeStyle = color("plane");
      context.lineWidth = radius > 5 ? 1.2 : 0.7;
    }
    context.fill();
    if (isHeldOut || radius > 2.2) context.stroke();
  }

  drawRing([x, y], radius, areFew) {
    const { context } = this;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.strokeStyle = color("ink");
    context.lineWidth = areFew ? 1.6 : 1.2;
    context.stroke();
  }

  drawCross({ x, y }, isCursor, across, up) {
    const { context } = this;
    context.strokeStyle = color("ink");
    context.lineWidth = isCursor ? 1.6 : 1;
    context.setLineDash(isCursor ? [] : [3, 3]);
    context.beginPath();
    const [left, top] = [across(x), up(y)];
    const reach = isCursor ? 12 : 9;
    context.moveTo(left - reach, top);
    context.lineTo(left + reach, top);
    context.moveTo(left, top - reach);
    context.lineTo(left, top + reach);
    context.stroke();
    context.setLineDash([]);
  }

  drawAxes({ axes, names }, across, up, frame) {
    const { context } = this;
    context.strokeStyle = color("line");
    context.lineWidth = 1;
    context.strokeRect(frame[0] + 0.5, frame[1] + 0.5, frame[2] - 1, frame[3] - 1);
    context.fillStyle = color("soft");
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "center";
    const end = across(axes.x[1]) - context.measureText(names[0]).width - 16;
    for (const tick of ticks(axes.x)) {
      if (across(tick) < end) context.fillText(label(tick), across(tick), this.height - 8);
    }
    context.textAlign = "right";
    for (const tick of ticks(axes.y)) {
      if (up(tick) > 30) context.fillText(label(tick), MARGIN.left - 5, up(tick) + 4);
    }
    context.fillStyle = color("ink");
    context.fillText(names[0], across(axes.x[1]), this.height - 8);
    context.textAlign = "left";
    context.save();
    context.fillStyle = color("ink");
    if (names[1].length > 3) {
      context.translate(12, up(axes.y[1]));
      context.rotate(-Math.PI / 2);
      context.textAlign = "right";
      context.fillText(names[1], 0, 0);
    } else context.fillText(names[1], MARGIN.left - 16, up(axes.y[1]) + 11);
    context.restore();
  }
}

const SHAPES = ["circle", "square", "triangle", "diamond"];

// Outlines with about the area of a circle of the radius.
function trace(context, x, y, radius, shape) {
  const corners = {
    minus: [[1.35, -0.42], [1.35, 0.42], [-1.35, 0.42], [-1.35, -0.42]],
    plus: [
      [0.42, -1.25], [0.42, -0.42], [1.25, -0.42], [1.25, 0.42], [0.42, 0.42], [0.42, 1.25],
      [-0.42, 1.25], [-0.42, 0.42], [-1.25, 0.42], [-1.25, -0.42], [-0.42, -0.42], [-0.42, -1.25],
    ],
    square: [[0.9, -0.9], [0.9, 0.9], [-0.9, 0.9], [-0.9, -0.9]],
    triangle: [[0, -1.25], [1.2, 0.85], [-1.2, 0.85]],
    diamond: [[0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]],
  }[shape];
  if (!corners) {
    context.arc(x, y, radius, 0, 2 * Math.PI);
    return;
  }
  corners.forEach(([right, down], k) => {
    context[k ? "lineTo" : "moveTo"](x + radius * right, y + radius * down);
  });
  context.closePath();
}

// Areas are weights: the radius of a point of mean weight goes by the number of points.
function radii({ points, run, knowsPoints, round }, scale) {
  const n = points.x.length;
  const mean = scale * clamp(26 / n ** 0.32, 2.6, 11);
  const found = new Float32Array(n).fill(mean);
  if (!run || !knowsPoints) return found;
  const known = Math.min(n, run.nPoints);
  const weights = ofRound(run.weights, run, round);
  let total = 0;
  let count = 0;
  for (let k = 0; k < known; k++) {
    if (run.isHeldOut[k]) continue;
    total += weights[k];
    count++;
  }
  if (total === 0) return found;
  for (let k = 0; k < known; k++) {
    if (run.isHeldOut[k]) found[k] = 0.8 * mean;
    else found[k] = clamp(mean * Math.sqrt((weights[k] * count) / total), 0.28 * mean, 3.2 * mean);
  }
  return found;
}

// Round values inside of an axis, about five of them.
export function ticks([low, high]) {
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough) * power;
  const found = [];
  for (let tick = Math.ceil(low / step); tick * step <= high; tick++) found.push(tick * step);
  return found;
}

const label = (value) => String(Number(value.toPrecision(6))).replace("-", "−");
