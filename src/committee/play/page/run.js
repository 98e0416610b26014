// A run as the page reads it: bytes become arrays, and shares of classes become predictions.
//
// Shares are in 65,535 parts, of all classes but the first, class by class; see plane.py.

const WHOLE = 65535;

export function bytes(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const plain = atob(text);
  const found = new Uint8Array(plain.length);
  for (let k = 0; k < plain.length; k++) found[k] = plain.charCodeAt(k);
  return found;
}

const floats = (text) => new Float32Array(bytes(text).buffer);
const parts = (text) => new Uint16Array(bytes(text).buffer);

export function decode(answer) {
  const run = { ...answer };
  run.nAcross = answer.plane.x.length - 1;
  run.nUp = answer.plane.y.length - 1;
  run.nCells = run.nAcross * run.nUp;
  run.nClasses = answer.classes.length;
  run.nRounds = answer.rounds.length;
  for (const key of ["committee", "member"]) {
    run[key] = parts(answer[key]);
    run[`${key}_points`] = parts(answer[`${key}_points`]);
    run[`${key}_predictions`] = bytes(answer[`${key}_predictions`]);
  }
  run.weights = floats(answer.weights);
  run.margins = floats(answer.margins);
  run.nPoints = run.weights.length / run.nRounds;
  run.isHeldOut = new Uint8Array(run.nPoints);
  for (const point of answer.held_out) run.isHeldOut[point] = 1;
  return run;
}

// The shares of all classes at one of `n` places of a round, in parts.
function sharesAt(values, nClasses, n, round, place) {
  const found = new Array(nClasses);
  let rest = WHOLE;
  for (let k = 1; k < nClasses; k++) {
    found[k] = values[((round - 1) * (nClasses - 1) + k - 1) * n + place];
    rest -= found[k];
  }
  found[0] = Math.max(rest, 0);
  return found;
}

export function sharesOfCell(run, who, round, cell) {
  return sharesAt(run[who], run.nClasses, run.nCells, round, cell).map((part) => part / WHOLE);
}

// The class with the largest share, and by how much it leads, in parts.
export function leader(shares) {
  let best = 0;
  for (let k = 1; k < shares.length; k++) if (shares[k] > shares[best]) best = k;
  // Halves were rounded down, for the first class.
  if (shares.length === 2) return [2 * shares[1] > WHOLE ? 1 : 0, Math.abs(2 * shares[1] - WHOLE)];
  let second = -1;
  for (let k = 0; k < shares.length; k++) {
    if (k !== best && (second < 0 || shares[k] > shares[second])) second = k;
  }
  return [best, shares[best] - shares[second]];
}

// Leads of equal shares, but for rounding.
export const NOTHING = 3; // parts

// Whether a round says nothing about a point: a split of a tree is about its node only.
export function isSilent(run, who, round, point) {
  if (run.method !== "tree" || who !== "member") return false;
  const shares = sharesAt(run.member_points, run.nClasses, run.nPoints, round, point);
  return leader(shares)[1] <= NOTHING;
}

// Winners and leads of all cells of a round.
export function pictureOf(run, who, round) {
  const winners = new Uint8Array(run.nCells);
  const leads = new Uint16Array(run.nCells);
  for (let cell = 0; cell < run.nCells; cell++) {
    const [winner, lead] = leader(sharesAt(run[who], run.nClasses, run.nCells, round, cell));
    winners[cell] = winner;
    leads[cell] = lead;
  }
  return { winners, leads };
}

// By how much a class leads in all cells of a round, less than zero where another one does.
export function leadsOf(run, who, round, k) {
  return Int32Array.from({ length: run.nCells }, (_, cell) => {
    const shares = sharesAt(run[who], run.nClasses, run.nCells, round, cell);
    return 2 * shares[k] - (run.nClasses === 2 ? WHOLE : shares[k] + nextTo(shares, k));
  });
}

const nextTo = (shares, k) => Math.max(...shares.filter((_, other) => other !== k));

function interval(edges, value) {
  let low = 0;
  let high = edges.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    // A tree sends what equals a threshold to the left.
    if (edges[middle] < value) low = middle;
    else high = middle - 1;
  }
  return low;
}

export function cellAt(run, x, y) {
  return interval(run.plane.y, y) * run.nAcross + interval(run.plane.x, x);
}

export const ofRound = (values, run, round) =>
  values.subarray((round - 1) * run.nPoints, round * run.nPoints);
