"""Deep kernel learning: a network of PyTorch makes the inputs, and gradients come through ours."""

import torch

from gpnotes import GP, RBF, condition


class LogEvidence(torch.autograd.Function):
    """The log evidence of y at the features Z, as PyTorch wants to have it."""

    @staticmethod
    def forward(ctx, Z, y, variance, noise_var):
        gp = GP(RBF(variance.detach(), 1.0), noise_var.detach())
        ctx.posterior = condition(gp, Z.detach(), y.detach())
        return Z.new_tensor(ctx.posterior.log_evidence)

    @staticmethod
    def backward(ctx, bar):
        gp_bar, Z_bar, y_bar = ctx.posterior.evidence_gradient()
        return bar * Z_bar, bar * y_bar, bar * gp_bar.kernel.variance, bar * gp_bar.noise_var


class DeepKernel(torch.nn.Module):
    """A squared exponential kernel of what a network makes of the inputs, and noise."""

    def __init__(self, inputs, features=2, hidden=20):
        super().__init__()
        self.network = torch.nn.Sequential(
            torch.nn.Linear(inputs, hidden), torch.nn.Tanh(), torch.nn.Linear(hidden, features)
        )
        self.logs = torch.nn.Parameter(torch.tensor([0.0, -2.0]))  # of variance and noise_var

    def log_evidence(self, X, y):
        return LogEvidence.apply(self.network(X), y, *self.logs.exp())

    def posterior(self, X, y):
        variance, noise_var = self.logs.detach().exp()
        return condition(GP(RBF(variance, 1.0), noise_var), self.network(X).detach(), y)


def fit(model, X, y, steps=200, rate=0.01):
    """Raise the log evidence by all weights, the variance and the noise; return its values."""
    found, optimiser = [], torch.optim.Adam(model.parameters(), lr=rate)
    for _ in range(steps):
        optimiser.zero_grad()
        loss = -model.log_evidence(X, y)
        loss.backward()
        optimiser.step()
        found.append(-loss.item())
    return found


if __name__ == "__main__":
    torch.manual_seed(0)
    X = torch.linspace(-1.0, 1.0, 60, dtype=torch.float64)[:, None]
    y = torch.sign(X[:, 0]) + 0.1 * torch.randn(60, dtype=torch.float64)  # a step
    model = DeepKernel(inputs=1).double()
    values = fit(model, X, y)
    print(f"log evidence: {values[0]:.1f} at the start, {values[-1]:.1f} at the end")
    Xs = torch.tensor([[-0.05], [0.05]], dtype=torch.float64)
    mean, variance = model.posterior(X, y).predict(model.network(Xs).detach())
    print("beside the step:", mean, "±", variance.sqrt())
