"""The playground of `committee play`: points in the plane, and ensembles of them step by step.

A *run* is one method fitted to one set of points; a *round* is one step of it: a split, a member,
or a round of boosting. The page asks for a whole run and draws its rounds without asking again, so
that runs that were recorded are played by the same page without a server. Models are fitted by the
public estimators; nothing here computes what they can answer.
"""
