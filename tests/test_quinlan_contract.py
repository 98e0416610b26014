"""ID3 and C4.5 keep scikit-learn's conventions, and work inside ensembles and files."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from committee import C45Classifier, ID3Classifier


@parametrize_with_checks(
    [
        ID3Classifier(),
        ID3Classifier(max_depth=4, min_gain=0.01),
        C45Classifier(),
        C45Classifier(criterion="gain", pruning=None, min_samples_leaf=1, split_finding="hist"),
        C45Classifier(category_split="grouped", subtree_raising=False, confidence=0.1),
    ]
)
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)
