"""What to do next: where to measure, what to try, how to act, what to play."""
