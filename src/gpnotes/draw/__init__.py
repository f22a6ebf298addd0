"""Functions drawn from a prior or a posterior."""
