// Names of what a run shows.

const ROUNDS = { tree: "Split", bagging: "Tree", forest: "Tree", voting: "Member", stacking: "Step" };

export const roundTitle = (run, round) =>
  `${ROUNDS[run.method] ?? "Round"} ${round} of ${run.nRounds}`;

const MEMBERS = { tree: "Splits", boosting: "Steps", adaboost: "Weak learners" };

export const memberTitle = (run) => MEMBERS[run.method] ?? "Members";

const SIZES = {
  tree: "large: points of the node that is split",
  bagging: "size: how often a point was drawn",
  forest: "size: how often a point was drawn",
  adaboost: "size: weight in this round",
  boosting: "size: residual before this round",
};

// What the marks of points mean.
export function markWords(run) {
  const heldOut = run.held_out.length ? "hollow: held out" : null;
  return [SIZES[run.method], "ring: wrong", heldOut].filter(Boolean).join(" · ");
}
