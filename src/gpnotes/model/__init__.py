"""The parts of a model: kernels, means, likelihoods, priors, and what each must have."""
