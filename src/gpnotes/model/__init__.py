"""What a model is made of: kernels, means, likelihoods, priors, and what each must have."""
