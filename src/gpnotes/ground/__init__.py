"""The ground that all else stands on: arrays and their libraries, checks, linear algebra."""
