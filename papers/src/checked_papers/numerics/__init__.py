"""Values without bindings: of integrals, endless sums and products, dots and derivatives."""
