"""Pictures of fitted models, drawn with matplotlib."""
