"""What notebooks show of committees, fitted or not."""

import sklearn
from report.report_tools import Page

from committee import CommitteeClassifier


def test_a_fitted_committee_shows_its_score_and_its_models(binary):
    model = binary[0]
    bundle = model._repr_mimebundle_()
    assert bundle["text/plain"] == repr(model)
    found = Page(bundle["text/html"])
    assert found.unbalanced == []
    assert found.all("script", "img") == []
    (whole,) = [e for e in found.all("div") if e["attrs"].get("class") == "committee-summary"]
    assert f"{-model.score_.score:.4g}" in whole["text"]
    assert all(entry.name in whole["text"] for entry in model.leaderboard_)
    assert model._repr_html_() == bundle["text/html"]


def test_an_unfitted_one_is_shown_as_scikit_learn_does():
    shown = CommitteeClassifier()._repr_mimebundle_()["text/html"]
    assert "committee-summary" not in shown
    assert "sk-" in shown


def test_scikit_learns_setting_for_text_is_kept(binary):
    with sklearn.config_context(display="text"):
        assert "text/html" not in binary[0]._repr_mimebundle_()
        assert not hasattr(binary[0], "_repr_html_")
