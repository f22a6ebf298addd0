"""Numbers for what nobody binds: integrals, endless sums and products, dots and derivatives."""
