"""What torch.compile makes of graphs of tests/e2e/fusion/figures.tile.

`seconds(graph, dims)` is the median time of a call, with the L2 cache flushed before each; None for a graph that isn't here.
Needs torch and a GPU.
"""

import compare
import torch
import torch.nn.functional as F


def normal(*shape):
    return torch.randn(*shape, device="cuda")


# A graph's function, and its inputs for the dims.
PEERS = {
    "biased": (lambda x, b: torch.relu(2 * x + b), lambda N: [normal(N), normal(N)]),
    "gated": (lambda x, w, b: torch.sigmoid(torch.relu(x * w + b)), lambda N: [normal(N), normal(N), normal(N)]),
    "forked": (lambda x: torch.sigmoid(x) * torch.tanh(x + 1), lambda N: [normal(N)]),
    "summed": (lambda x, y: torch.relu(x) + torch.sigmoid(y), lambda N: [normal(N), normal(N)]),
    "sine_cosine": (lambda x: (torch.sin(x), torch.cos(x)), lambda N: [normal(N)]),
    "mean_squared_loss": (lambda x, y: ((x - y) ** 2).mean(), lambda M, N: [normal(M, N), normal(M, N)]),
    "normalized": (lambda x: x / x.sum(), lambda M, N: [torch.rand(M, N, device="cuda")]),
    "root_of_squares": (lambda x: (x * x).sum().sqrt(), lambda M, N: [normal(M, N)]),
    "residual_norm": (lambda x, r, g, b: (F.layer_norm(x + r, x.shape[1:], g, b), x + r),
                      lambda M, N: [normal(M, N), normal(M, N), normal(N), normal(N)]),
    "masked_softmax": (lambda x, m, s: torch.softmax(torch.where(m, x * s, -1e30), 1),
                       lambda M, N: [normal(M, N), normal(M, N) > 0, torch.tensor(0.125, device="cuda")]),
    "cross_entropy_of": (lambda x, target: F.cross_entropy(x, target, reduction="none"),
                         lambda M, V: [normal(M, V), torch.randint(V, (M,), device="cuda")]),
    "embedded": (lambda ids, table, position, g, b: F.layer_norm(table[ids] + position, position.shape[1:], g, b),
                 lambda S, V, D: [torch.randint(V, (S,), device="cuda"), normal(V, D), normal(S, D), normal(D), normal(D)]),
    "both_sums": (lambda x: (x.sum(1), x.sum(0)), lambda M, N: [normal(M, N)]),
    "column_moments": (lambda x: (x.sum(0), (x * x).sum(0)), lambda M, N: [normal(M, N)]),
    "standardized": (lambda x: (x - x.mean(1, keepdim=True)) * torch.rsqrt(x.var(1, unbiased=False, keepdim=True) + 1e-5),
                     lambda M, N: [normal(M, N)]),
    "nested": (lambda x, r, g, b: torch.relu(F.layer_norm(x + r, x.shape[1:], g, b)),
               lambda M, N: [normal(M, N), normal(M, N), normal(N), normal(N)]),
}


def half(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def rotated(q, k, cosines, sines):
    def turned(x):
        x, middle = x.float(), x.shape[-1] // 2
        return (x * cosines + torch.cat((-x[..., middle:], x[..., :middle]), -1) * sines).bfloat16()
    return turned(q), turned(k)


def normed_f8(x, g):
    n = F.rms_norm(x, x.shape[1:], g, 1e-6).float()
    most = n.abs().amax(1, keepdim=True)
    return (n * (448 / most.clamp(min=1e-12))).to(torch.float8_e4m3fn), most / 448


PEERS |= {
    "transposed_sum": (lambda x, y: 2 * x + 3 * y.T, lambda M, N: [normal(M, N), normal(N, M)]),
    "gated_unit": (lambda g, x: F.silu(g) * x, lambda M, N: [half(M, N), half(M, N)]),
    "rotated": (rotated, lambda B, H, S, D: [half(B, H, S, D), half(B, H, S, D), normal(S, D), normal(S, D)]),
    "normed_f8": (normed_f8, lambda M, N: [half(M, N), half(N)]),
}


def chain(x):
    for _ in range(5):
        x = 0.5 * x + 0.25
    return x


PEERS["chain"] = chain, lambda M, N: [normal(M, N)]


def seconds(graph, dims, runs=30):
    if graph not in PEERS:
        return None
    function, make = PEERS[graph]
    inputs = make(**dims)
    torch._dynamo.reset()
    call = torch.compile(function)
    for _ in range(5):
        call(*inputs)
    return compare.milliseconds([lambda: call(*inputs)], runs)[0] / 1e3
