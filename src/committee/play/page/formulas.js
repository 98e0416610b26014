// What a round does, as sentences and formulas with its numbers in them.

import { make } from "./dom.js";
import { chosen, equation, frac, ln, name, root, shown, space, sub, sum, sup, words } from "./math.js";
import { percent } from "./charts.js";
import { cellAt, sharesOfCell } from "./run.js";

const note = (...children) => make("p", {}, ...children);
const strong = (text) => make("b", {}, text);

// Parts of the card of a round: `context` has run, round, place (the cross) and class names.
export function formulas(context) {
  return FORMULAS[context.run.method]({
    ...context,
    numbers: context.run.rounds[context.round - 1],
  });
}

const FORMULAS = { tree, bagging: bag, forest: bag, adaboost, boosting, voting, stacking };

function tree({ run, numbers, round }) {
  const { n, impurity } = numbers;
  const feature = run.names[numbers.feature];
  const part = (side) => [frac(n[side], n.node), "·", impurity[side]];
  return [
    note(
      "The split that gains most parts ", strong(`${n.node} points`), " by ",
      strong(`${feature} ≤ ${shown(numbers.threshold)}`),
      ` into ${n.left} and ${n.right}. The tree has ${round + 1} leaves.`,
    ),
    equation(
      [name("gain"), "=", name("H"), "−", frac(sub("n", "L"), "n"), sub("H", "L"), "−",
        frac(sub("n", "R"), "n"), sub("H", "R")],
      ["=", impurity.node],
      ["−", ...part("left")],
      ["−", ...part("right")],
      ["=", strongly(numbers.gain)],
    ),
    note("H is the impurity of a node, 0 where all points are of one class. Points of the node are large."),
  ];
}

function strongly(value) {
  const made = words(shown(value));
  made.classList.add("strong");
  return made;
}

function bag({ run, numbers, round }) {
  const { n_points: n, n_draws: draws, n_left_out: out } = numbers;
  return [
    note(
      strong(`Tree ${round}`), ` learns from ${draws} draws with replacement out of ${n} points. `,
      `It never saw ${out} of them, the small ones: out of bag, they test it.`,
      run.method === "forest" ? " Each node tries features that are drawn." : "",
    ),
    equation(
      [name("left out"), "=", frac(out, n), "=", strongly(out / n)],
      [words("expected"), space(), sup(["(", 1, "−", frac(1, n), ")"], draws), "=", (1 - 1 / n) ** draws],
    ),
    equation(
      [sub("P", "k"), "(", "x", ")", "=", frac(1, round), sum(["b", "=", 1], round),
        sub("P", ["k", "b"]), "(", "x", ")"],
    ),
    note(
      "Errors on points out of bag: this tree ", strong(percent(numbers.member_oob_error)),
      ", all so far together ", strong(percent(numbers.oob_error)), ".",
    ),
  ];
}

function adaboost({ run, numbers, round }) {
  const { error, beta, normalizer, learning_rate: rate } = numbers;
  const several = run.nClasses > 2;
  const isEnd = error <= 0 || error >= 1 - 1 / run.nClasses;
  const found = [
    note(
      strong(`Learner ${round}`), " is fitted to weighted points, ", strong(run.labels[round - 1]),
      ". The weight of those it gets wrong is its error:",
    ),
    equation([sub("ε", round), "=", sum([words("wrong")]), sub("w", "i"), "=", strongly(error)]),
  ];
  if (isEnd) {
    const reason = error <= 0 ? "No point is wrong" : "That is no better than chance";
    return [...found, note(`${reason}: there is no further round.`)];
  }
  const half = () => frac(chosen(rate), "2");
  const more = several ? ["+", half(), ln(), run.nClasses - 1] : [];
  found.push(
    note("Its vote gets the weight"),
    equation(
      [sub("β", round), "=", half(), ln(), frac(["1", "−", sub("ε", round)], sub("ε", round)),
        ...(several ? ["+", half(), ln(), "(", "K", "−", "1", ")"] : [])],
      ["=", half(), ln(), frac(1 - error, error), ...more, "=", strongly(beta)],
    ),
  );
  if (!several && rate === 1) found.push(...newWeights(normalizer, beta, error, round));
  return found;
}

function newWeights(normalizer, beta, error, round) {
  const up = Math.exp(beta) / normalizer;
  const down = Math.exp(-beta) / normalizer;
  return [
    note("and for the next round, wrong points are multiplied by ", strong(shown(up)), ", right ones by ",
      strong(shown(down)), ":"),
    equation(
      [name("w"), "←", frac(["w", sup("e", ["±", sub("β", round)])], sub("Z", round))],
    ),
    equation(
      [sub("Z", round), "=", "2", root([sub("ε", round), "(", "1", "−", sub("ε", round), ")"]), "=",
        2 * Math.sqrt(error * (1 - error))],
    ),
  ];
}

function boosting({ run, numbers, round, classes }) {
  const { leaf, learning_rate: rate, l2 } = numbers;
  const score = run.nClasses === 2 ? sub("F", round) : sub("F", [`k`, ",", round]);
  const before = run.nClasses === 2 ? sub("F", round - 1) : sub("F", ["k", ",", round - 1]);
  const step = run.nClasses === 2 ? sub("h", round) : sub("h", ["k", ",", round]);
  const label = classes[run.classes[leaf.class]];
  return [
    note(
      strong(`Step ${round}`), " is fitted to the residuals ",
      equationInline(["r", "=", "y", "−", "p", "(", "x", ")"]),
      ", which are the sizes of the points. It is added, times the learning rate:",
    ),
    equation([score, "(", "x", ")", "=", before, "(", "x", ")", "+", chosen(rate), "·", step, "(", "x", ")"]),
    note(`The steepest leaf holds ${leaf.n_points} points; its step, for ${label}:`),
    equation(
      ["h", "=", frac([sum([]), "r"], [sum([]), "p", "(", "1", "−", "p", ")", "+", "λ"]), "=",
        frac(leaf.residuals, [leaf.curvature, "+", chosen(l2)])],
      ["=", strongly(leaf.residuals / (leaf.curvature + l2))],
    ),
    note("Log loss of the training points: ", strong(shown(numbers.loss_before)), " → ",
      strong(shown(numbers.loss)), "."),
  ];
}

function equationInline(children) {
  const made = equation(children);
  return made.firstChild;
}

function voting({ run, numbers, round, place, classes }) {
  const cell = cellAt(run, place.x, place.y);
  const together = sharesOfCell(run, "committee", round, cell);
  const label = together.indexOf(Math.max(...together));
  const terms = [];
  let total = 0;
  for (let k = 1; k <= round; k++) {
    const { weight } = run.rounds[k - 1];
    const share = sharesOfCell(run, "member", k, cell)[label];
    terms.push(...(k > 1 ? ["+"] : []), chosen(weight), "·", share);
    total += weight * share;
  }
  return [
    note(strong(run.labels[round - 1]), ` joins with weight ${chosen(numbers.weight)}. `,
      `For ${classes[run.classes[label]]}, at the cross:`),
    equation(
      ["p", "=", frac([sum("j"), sub("w", "j"), sub("p", "j")], [sum("j"), sub("w", "j")])],
      ["=", frac(terms, chosen(numbers.total))],
      ["=", strongly(total / numbers.total)],
    ),
    note("By itself this member errs on ", strong(percent(numbers.member_error)), " of the training points",
      numbers.member_unseen_error === null ? "." : make("span", {}, " and ",
        strong(percent(numbers.member_unseen_error)), " of unseen ones.")),
  ];
}

function stacking({ run, numbers, round, place }) {
  if (!("final" in numbers)) {
    return [
      note(strong(run.labels[round - 1]), ` is fitted ${numbers.folds} times, each time without one fold, `,
        "and predicts the points of that fold. Wrong ones have a ring: these are the predictions that ",
        "the meta-learner learns from."),
      note("Error of these predictions: ", strong(percent(numbers.fold_error)), "."),
    ];
  }
  const { coefficients, intercept, final } = numbers;
  const labels = run.labels.slice(0, -1);
  if (intercept === null) {
    return [
      note("The meta-learner is a logistic regression of all probabilities. Mean size of its coefficients:"),
      list(labels, coefficients),
    ];
  }
  const cell = cellAt(run, place.x, place.y);
  const shares = labels.map((_, k) => sharesOfCell(run, "member", k + 1, cell)[1]);
  const terms = coefficients.map((value, k) => ["+", value, "·", shares[k]]);
  const total = coefficients.reduce((all, value, k) => all + value * shares[k], intercept);
  const isLogistic = final === "logistic";
  return [
    note("The meta-learner is fitted to what the members predicted for points they had not seen. ",
      isLogistic ? "A logistic regression:" : "Weights that are not negative and add up to one:"),
    list(labels, coefficients),
    equation(
      isLogistic
        ? [ln(), frac("p", ["1", "−", "p"]), "=", "b", "+", sum("j"), sub("c", "j"), sub("p", "j")]
        : ["p", "=", sum("j"), sub("c", "j"), sub("p", "j")],
      ["=", ...(isLogistic ? [intercept] : terms.shift().slice(1))],
      ...terms,
      ["=", strongly(total)],
    ),
    isLogistic ? note("At the cross: p = ", strong(shown(1 / (1 + Math.exp(-total)))), ".") : note("At the cross."),
  ];
}

function list(labels, values) {
  const rows = labels.map((label, k) => make("li", {}, label, " ", strong(shown(values[k]))));
  return make("ul", { class: "coefficients" }, ...rows);
}
