"""What everything stands on: arrays and their libraries, checks, linear algebra, parameters."""
