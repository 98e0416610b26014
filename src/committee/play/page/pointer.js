// Placing, moving and removing points in the plane, by pointer and by keyboard.

import { clamp } from "./dom.js";

const SPACING = 14; // pixels between points that are drawn in one go
const REACH = 9; // pixels from a point that still mean it
const STEP = 0.02; // of the axes, by an arrow key

// `edit` has canEdit(), points(), tool(), cross(), moveCross(place, isCursor), showCursor(isShown),
// add(place, code), move(index, place), remove(index), choose(tool).
export function listen(plane, edit) {
  const { canvas } = plane;
  let action = null; // what the pressed pointer does
  let tap = null; // a finger that may be about to scroll the page: it acts when it is lifted

  const placeOf = (event) => plane.valuesAt(event.clientX, event.clientY, edit.points().axes);
  const pointNear = (event) => plane.nearest(edit.points(), placeOf(event), REACH);
  const isFar = (event, from) =>
    Math.hypot(event.clientX - from.x, event.clientY - from.y) >= SPACING;

  function begin(event, place, near) {
    if (event.button === 2 || event.altKey || edit.tool() === "remove") {
      action = { kind: "remove" };
      if (near >= 0) edit.remove(near);
    } else if (near >= 0) action = { kind: "move", index: near };
    else {
      action = { kind: "add", x: event.clientX, y: event.clientY };
      edit.add(place, edit.tool());
    }
  }

  canvas.addEventListener("pointerdown", (event) => {
    const place = placeOf(event);
    if (!edit.canEdit()) {
      edit.moveCross(place, false);
      return;
    }
    const near = pointNear(event);
    if (event.pointerType === "touch" && near < 0) {
      tap = { x: event.clientX, y: event.clientY, place };
      return;
    }
    event.preventDefault();
    canvas.focus({ preventScroll: true });
    edit.moveCross(place, false);
    canvas.setPointerCapture(event.pointerId);
    begin(event, place, near);
  });

  canvas.addEventListener("pointermove", (event) => {
    if (tap) {
      if (!isFar(event, tap)) return;
      const isAcross = Math.abs(event.clientX - tap.x) > Math.abs(event.clientY - tap.y);
      if (isAcross) begin(event, tap.place, -1); // up and down scrolls
      tap = null;
    }
    const place = placeOf(event);
    edit.moveCross(place, false);
    if (!action) return;
    if (action.kind === "move") edit.move(action.index, place);
    else if (action.kind === "remove") {
      const near = pointNear(event);
      if (near >= 0) edit.remove(near);
    } else if (isFar(event, action)) begin(event, place, -1);
  });

  canvas.addEventListener("pointerup", (event) => {
    if (tap) {
      edit.moveCross(tap.place, false);
      begin(event, tap.place, -1);
    }
    tap = action = null;
  });
  canvas.addEventListener("pointercancel", () => {
    tap = action = null;
  });
  // A finger on a point moves it, and not the page.
  canvas.addEventListener(
    "touchstart",
    (event) => {
      if (edit.canEdit() && pointNear(event.touches[0]) >= 0) event.preventDefault();
    },
    { passive: false },
  );
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("keydown", (event) => onPlaneKey(event, plane, edit));
  canvas.addEventListener("focus", () => edit.showCursor(canvas.matches(":focus-visible")));
  canvas.addEventListener("blur", () => edit.showCursor(false));
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

function onPlaneKey(event, plane, edit) {
  if (event.ctrlKey || event.metaKey) return;
  const { axes } = edit.points();
  const cross = edit.cross();
  if (event.key in ARROWS) {
    const [right, up] = ARROWS[event.key].map((way) => way * STEP * (event.shiftKey ? 5 : 1));
    edit.moveCross(
      {
        x: clamp(cross.x + right * (axes.x[1] - axes.x[0]), ...axes.x),
        y: clamp(cross.y + up * (axes.y[1] - axes.y[0]), ...axes.y),
      },
      true,
    );
  } else if (event.key === "Escape") plane.canvas.blur();
  else if (!edit.canEdit()) return;
  else if (event.key === "Enter" || event.key === " ") {
    if (edit.tool() === "remove") removeNear(plane, edit, cross);
    else edit.add(cross, edit.tool());
  } else if (event.key === "Delete" || event.key === "Backspace") removeNear(plane, edit, cross);
  else if (/^[1-4]$/.test(event.key)) edit.choose(Number(event.key) - 1);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

function removeNear(plane, edit, cross) {
  const near = plane.nearest(edit.points(), cross, 4 * REACH);
  if (near >= 0) edit.remove(near);
}
