// Regions of the plane by the predicted class, and the borders between them.

import { classColor, color } from "./dom.js";
import { leadsOf, NOTHING, pictureOf } from "./run.js";

const PALE = 0.1;
const STRONG = 0.44;

function rgb(text) {
  const value = parseInt(text.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

const opacity = (lead) => (lead < 0 ? 0 : PALE + ((STRONG - PALE) * lead) / 65535);

// Winners and leads of a round; -1 is the lead where a split of a tree says nothing.
function pictureOfRound(run, who, round) {
  const { winners, leads } = pictureOf(run, who, round);
  const isPart = run.method === "tree" && who === "member";
  return { winners, leads: Int32Array.from(leads, (lead) => (isPart && lead <= NOTHING ? -1 : lead)) };
}

// Draws a round of a run; `across` and `up` turn values into pixels of the canvas.
export function drawRegions(context, run, who, round, across, up, lineWidth = 1.6) {
  const picture = pictureOfRound(run, who, round);
  if (run.plane.is_smooth) drawSmooth(context, run, picture, across, up);
  else drawCells(context, run, picture, across, up);
  if (lineWidth === 0) return;
  context.strokeStyle = color("border");
  context.lineWidth = lineWidth;
  context.lineCap = "square";
  context.beginPath();
  if (run.plane.is_smooth) {
    const first = run.nClasses === 2 ? 1 : 0; // of two classes one border is both
    for (let k = first; k < run.nClasses; k++) {
      traceLevel(context, run, leadsOf(run, who, round, k), across, up);
    }
  } else traceEdges(context, run, picture, across, up);
  context.stroke();
}

// Cells of a row that look the same are one rectangle.
function drawCells(context, run, { winners, leads }, across, up) {
  const { x, y } = run.plane;
  const colors = run.classes.map(classColor);
  for (let j = 0; j < run.nUp; j++) {
    const top = Math.round(up(y[j + 1]));
    const height = Math.round(up(y[j])) - top;
    for (let i = 0; i < run.nAcross; ) {
      const cell = j * run.nAcross + i;
      let end = i + 1;
      while (
        end < run.nAcross &&
        winners[j * run.nAcross + end] === winners[cell] &&
        leads[j * run.nAcross + end] === leads[cell]
      ) {
        end++;
      }
      const left = Math.round(across(x[i]));
      context.globalAlpha = opacity(leads[cell]);
      context.fillStyle = colors[winners[cell]];
      context.fillRect(left, top, Math.round(across(x[end])) - left, height);
      i = end;
    }
  }
  context.globalAlpha = 1;
}

// A small image, a pixel a cell, which the canvas enlarges smoothly.
function drawSmooth(context, run, { winners, leads }, across, up) {
  const small = document.createElement("canvas");
  small.width = run.nAcross;
  small.height = run.nUp;
  const inner = small.getContext("2d");
  const image = inner.createImageData(run.nAcross, run.nUp);
  const colors = run.classes.map((code) => rgb(classColor(code)));
  for (let j = 0; j < run.nUp; j++) {
    for (let i = 0; i < run.nAcross; i++) {
      const cell = j * run.nAcross + i;
      const at = 4 * ((run.nUp - 1 - j) * run.nAcross + i);
      image.data.set(colors[winners[cell]], at);
      image.data[at + 3] = 255 * opacity(leads[cell]);
    }
  }
  inner.putImageData(image, 0, 0);
  const { x, y } = run.plane;
  const left = across(x[0]);
  const top = up(y[run.nUp]);
  context.imageSmoothingEnabled = true;
  context.imageSmoothingQuality = "high";
  context.drawImage(small, left, top, across(x[run.nAcross]) - left, up(y[0]) - top);
}

// Sides of cells where the prediction changes; where a model predicts nothing, there is no border.
function traceEdges(context, run, { winners, leads }, across, up) {
  const { x, y } = run.plane;
  const kind = (cell) => (leads[cell] < 0 ? -1 : winners[cell]);
  for (let j = 0; j < run.nUp; j++) {
    for (let i = 0; i < run.nAcross; i++) {
      const cell = j * run.nAcross + i;
      if (i + 1 < run.nAcross && kind(cell) !== kind(cell + 1)) {
        context.moveTo(across(x[i + 1]), up(y[j]));
        context.lineTo(across(x[i + 1]), up(y[j + 1]));
      }
      if (j + 1 < run.nUp && kind(cell) !== kind(cell + run.nAcross)) {
        context.moveTo(across(x[i]), up(y[j + 1]));
        context.lineTo(across(x[i + 1]), up(y[j + 1]));
      }
    }
  }
}

// Where a class has as large a share as the next one, between the middles of four cells at a time.
function traceLevel(context, run, leads, across, up) {
  const middles = (edges) => edges.slice(1).map((end, k) => (end + edges[k]) / 2);
  const x = middles(run.plane.x);
  const y = middles(run.plane.y);
  const height = (i, j) => leads[j * run.nAcross + i] - 0.5;
  for (let j = 0; j + 1 < run.nUp; j++) {
    for (let i = 0; i + 1 < run.nAcross; i++) {
      const corners = [height(i, j), height(i + 1, j), height(i + 1, j + 1), height(i, j + 1)];
      const places = [[x[i], y[j]], [x[i + 1], y[j]], [x[i + 1], y[j + 1]], [x[i], y[j + 1]]];
      const cuts = [];
      for (let k = 0; k < 4; k++) {
        const l = (k + 1) % 4;
        if (corners[k] > 0 === corners[l] > 0) continue;
        const share = corners[k] / (corners[k] - corners[l]);
        cuts.push(places[k].map((value, axis) => value + share * (places[l][axis] - value)));
      }
      for (let k = 0; k + 1 < cuts.length; k += 2) {
        context.moveTo(across(cuts[k][0]), up(cuts[k][1]));
        context.lineTo(across(cuts[k + 1][0]), up(cuts[k + 1][1]));
      }
    }
  }
}
