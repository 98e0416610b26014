"""AdaBoost round by round: what each stump splits, how the committee grows, which rows are hard.

With matplotlib, `committee.plot_rounds(model, X, y, features=[...])` draws the same rounds.
"""

from committee import AdaBoostClassifier
from committee.datasets import load_penguins

X, y = load_penguins("sex")  # text, missing values and all
model = AdaBoostClassifier(n_estimators=30, criterion="error", keep_weights=True).fit(X, y)
trace = model.trace_

for number in range(5):
    print(
        f"round {number + 1}: error {trace.error[number]:.2f}, beta {trace.beta[number]:.2f}, "
        f"committee wrong on {trace.train_error[number]:.1%} (bound {trace.bound[number]:.1%})"
    )
    print(f"         {trace.rules[number]}")
print(f"round {len(model)}: committee wrong on {trace.train_error[-1]:.1%}")

# The rows that weigh most in the last round are those that were wrong again and again.
weights, margins = trace.distributions[-1], model.margins(X, y)
print("\nthe hardest birds:")
for row in weights.argsort()[::-1][:3]:
    print(f"  bird {row}, {y[row]}: {len(y) * weights[row]:.1f} times the mean weight, ", end="")
    print(f"margin {margins[row]:+.2f}")
