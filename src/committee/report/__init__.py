"""Reports of fitted committees: one HTML file without anything from the network."""
