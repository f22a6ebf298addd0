"""The sixth stage: what the engine reads, as a register of examples that are evaluated."""
