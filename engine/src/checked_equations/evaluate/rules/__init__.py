"""One small function a node, which importing its module registers."""
