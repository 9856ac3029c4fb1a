"""What is asked of a truth: pure functions of confusion counts, curves, and estimates of them."""
