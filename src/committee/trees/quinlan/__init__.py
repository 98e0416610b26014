"""ID3 and C4.5, and what explains how they grew."""
