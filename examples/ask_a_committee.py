"""What a fitted committee can be asked: intervals, contributions, what is new, a small student."""

import numpy as np
import pandas as pd

import committee

rng = np.random.default_rng(0)
n_rows = 500
table = pd.DataFrame(
    {
        "area": rng.gamma(6.0, 15.0, n_rows),
        "district": rng.choice(["north", "south", "centre"], n_rows),
        "built": rng.integers(1900, 2020, n_rows),
    }
)
rent = 9.0 * table["area"] + 250.0 * (table["district"] == "centre")
rent += rng.normal(size=n_rows) * (20.0 + 0.8 * table["area"])  # large flats differ more

model = committee.train(table, rent.rename("rent"), budget=1.0, random_state=0, verbose=0)

small, large = table.nsmallest(1, "area"), table.nlargest(1, "area")
for flat in (small, large):
    low, high = model.predict_interval(flat, coverage=0.9)[0]
    print(f"{flat['area'].item():.0f} m2: between {low:.0f} and {high:.0f}")

print(model.explain(large))
print(model.novelty(large.assign(district="west", area=900.0)))

student = model.distill(table, rent, max_leaf_nodes=8)
print(student.distillation_)
print(committee.export_text(student.members_[0].estimators[0]))
