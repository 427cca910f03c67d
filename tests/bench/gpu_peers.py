"""Triton kernels that do what those of gpu_kernels.tile do, written by hand and tuned per shape.

`triton_peers[name](*inputs)` gives a call without arguments, which gives the results. Rows of up to 65536 elements
are held whole; longer ones are walked along in each phase.
"""

import torch
import triton
import triton.language as tl

ELEMENTWISE = [triton.Config({"B": b}, num_warps=w) for b, w in ((512, 4), (1024, 4), (2048, 8), (4096, 8))]
LOOPS = [triton.Config({"B": b}, num_warps=w) for b, w in ((4096, 8), (8192, 16), (16384, 16))]


@triton.autotune(ELEMENTWISE, key=["n"])
@triton.jit
def _chain(x, y, z, n, B: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    inside = at < n
    t = tl.load(x + at, inside).to(tl.float32) + tl.load(y + at, inside).to(tl.float32)
    tl.store(z + at, tl.sigmoid(tl.maximum(t * 2, 0) - 1), inside)


@triton.autotune(ELEMENTWISE, key=["n"])
@triton.jit
def _scaled(x, w, b, z, n, B: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    inside = at < n
    t = tl.load(x + at, inside).to(tl.float32) * tl.load(w + at, inside).to(tl.float32)
    tl.store(z + at, tl.sigmoid(t + tl.load(b + at, inside).to(tl.float32)), inside)


@triton.autotune([triton.Config({"B": b, "R": r}, num_warps=4) for b in (512, 1024) for r in (1, 4)], key=["m", "n"])
@triton.jit
def _scaled_rows(x, w, b, z, m, n, B: tl.constexpr, R: tl.constexpr):
    column = tl.program_id(1) * B + tl.arange(0, B)
    factor = tl.load(w + column, column < n).to(tl.float32)
    offset = tl.load(b + column, column < n).to(tl.float32)
    for r in tl.static_range(R):
        at = (tl.program_id(0).to(tl.int64) * R + r) * n + column
        inside = (column < n) & (tl.program_id(0) * R + r < m)
        tl.store(z + at, tl.sigmoid(tl.load(x + at, inside).to(tl.float32) * factor + offset), inside)


@triton.autotune(ELEMENTWISE, key=["n"])
@triton.jit
def _sine_cosine(x, s, c, n, B: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    t = tl.load(x + at, at < n).to(tl.float32)
    tl.store(s + at, tl.sin(t), at < n)
    tl.store(c + at, tl.cos(t), at < n)


WARPS = [triton.Config({}, num_warps=w) for w in (4, 8, 16, 32)]


@triton.autotune(WARPS, key=["n"])
@triton.jit
def _softmax(x, y, n, B: tl.constexpr):
    column = tl.arange(0, B)
    at = tl.program_id(0).to(tl.int64) * n + column
    t = tl.load(x + at, column < n, -float("inf")).to(tl.float32)
    e = tl.exp(t - tl.max(t, 0))
    tl.store(y + at, e / tl.sum(e, 0), column < n)


@triton.autotune(LOOPS, key=["n"])
@triton.jit
def _softmax_loop(x, y, n, B: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * n
    most = tl.full([B], -float("inf"), tl.float32)
    total = tl.zeros([B], tl.float32)
    for first in range(0, n, B):  # online: the maximum and the sum in one pass
        column = first + tl.arange(0, B)
        t = tl.load(x + start + column, column < n, -float("inf")).to(tl.float32)
        greater = tl.maximum(most, t)
        total = tl.where(greater == -float("inf"), 0., total * tl.exp(most - greater) + tl.exp(t - greater))
        most = greater
    m = tl.max(most, 0)
    s = tl.sum(total * tl.exp(most - m), 0)
    for first in range(0, n, B):
        column = first + tl.arange(0, B)
        t = tl.load(x + start + column, column < n, 0).to(tl.float32)
        tl.store(y + start + column, tl.exp(t - m) / s, column < n)


@triton.autotune(WARPS, key=["n"])
@triton.jit
def _norm(x, r, g, b, s, y, n, B: tl.constexpr, RMS: tl.constexpr, RESIDUAL: tl.constexpr):
    column = tl.arange(0, B)
    inside = column < n
    at = tl.program_id(0).to(tl.int64) * n + column
    t = tl.load(x + at, inside, 0).to(tl.float32)
    if RESIDUAL:
        t += tl.load(r + at, inside, 0).to(tl.float32)
        tl.store(s + at, t, inside)
    d = t if RMS else tl.where(inside, t - tl.sum(t, 0) / n, 0)
    d = d * tl.rsqrt(tl.sum(d * d, 0) / n + 1e-5) * tl.load(g + column, inside).to(tl.float32)
    if not RMS:
        d += tl.load(b + column, inside).to(tl.float32)
    tl.store(y + at, d, inside)


@triton.autotune(WARPS, key=["n"])
@triton.jit
def _cross_entropy(x, target, loss, n, B: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, B)
    t = tl.load(x + row * n + column, column < n, -float("inf")).to(tl.float32)
    m = tl.max(t, 0)
    right = tl.load(x + row * n + tl.load(target + row)).to(tl.float32)
    tl.store(loss + row, tl.log(tl.sum(tl.exp(t - m), 0)) + m - right)


@triton.autotune(LOOPS, key=["n"])
@triton.jit
def _cross_entropy_loop(x, target, loss, n, B: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    most = tl.full([B], -float("inf"), tl.float32)
    total = tl.zeros([B], tl.float32)
    for first in range(0, n, B):
        column = first + tl.arange(0, B)
        t = tl.load(x + row * n + column, column < n, -float("inf")).to(tl.float32)
        greater = tl.maximum(most, t)
        total = tl.where(greater == -float("inf"), 0., total * tl.exp(most - greater) + tl.exp(t - greater))
        most = greater
    m = tl.max(most, 0)
    s = tl.sum(total * tl.exp(most - m), 0)
    right = tl.load(x + row * n + tl.load(target + row)).to(tl.float32)
    tl.store(loss + row, tl.log(s) + m - right)


@triton.autotune(WARPS, key=["n"])
@triton.jit
def _row_sums(x, y, n, B: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, B)
    tl.store(y + row, tl.sum(tl.load(x + row * n + column, column < n, 0).to(tl.float32), 0))


@triton.autotune([triton.Config({"R": r, "B": b}, num_warps=w) for r, b, w in
                  ((256, 128, 4), (512, 128, 8), (128, 256, 4), (512, 64, 4))], key=["m", "n"], reset_to_zero=["y"])
@triton.jit
def _column_sums(x, y, m, n, R: tl.constexpr, B: tl.constexpr):
    column = tl.program_id(1) * B + tl.arange(0, B)
    total = tl.zeros([8, B], tl.float32)
    for r in range(0, R, 8):
        row = (tl.program_id(0) * R + r + tl.arange(0, 8)).to(tl.int64)
        total += tl.load(x + row[:, None] * n + column[None, :], (row < m)[:, None] & (column < n)[None, :], 0)
    tl.atomic_add(y + column, tl.sum(total, 0), column < n, sem="relaxed")


@triton.autotune([triton.Config({"R": r, "B": b}, num_warps=w) for r, b, w in
                  ((64, 64, 4), (32, 64, 4), (64, 64, 8), (128, 64, 8))], key=["m", "n"])
@triton.jit
def _transpose(x, y, m, n, R: tl.constexpr, B: tl.constexpr):
    row = (tl.program_id(0) * R + tl.arange(0, R)).to(tl.int64)
    column = (tl.program_id(1) * B + tl.arange(0, B)).to(tl.int64)
    inside = (row < m)[:, None] & (column < n)[None, :]
    t = tl.load(x + row[:, None] * n + column[None, :], inside)
    tl.store(y + column[:, None] * m + row[None, :], tl.trans(t), tl.trans(inside))


@triton.autotune([triton.Config({}, num_warps=w) for w in (8, 16)], key=["m", "n"])
@triton.jit
def _norm_backward(x, dy, g, mu, rs, dx, parts, m, n, B: tl.constexpr):
    column = tl.arange(0, B)
    inside = column < n
    factor = tl.load(g + column, inside, 0)
    dg = tl.zeros([B], tl.float32)
    db = tl.zeros([B], tl.float32)
    for row in range(tl.program_id(0), m, tl.num_programs(0)):
        at = row.to(tl.int64) * n + column
        d = tl.load(dy + at, inside, 0)
        scale = tl.load(rs + row)
        h = tl.where(inside, (tl.load(x + at, inside, 0) - tl.load(mu + row)) * scale, 0)
        w = d * factor
        tl.store(dx + at, (w - tl.sum(w, 0) / n - h * (tl.sum(w * h, 0) / n)) * scale, inside)
        dg += d * h
        db += d
    at = tl.program_id(0) * n + column
    tl.store(parts + at, dg, inside)
    tl.store(parts + tl.num_programs(0) * n + at, db, inside)


def _block(n):
    return triton.next_power_of_2(n)


def chain(x, y):
    z, n = torch.empty_like(x), x.numel()
    return lambda: (_chain[lambda c: (triton.cdiv(n, c["B"]),)](x, y, z, n), z)[1:]


def scaled(x, w, b):
    z, n = torch.empty_like(x), x.numel()
    return lambda: (_scaled[lambda c: (triton.cdiv(n, c["B"]),)](x, w, b, z, n), z)[1:]


def scaled_rows(x, w, b):
    z, (m, n) = torch.empty_like(x), x.shape
    grid = lambda c: (triton.cdiv(m, c["R"]), triton.cdiv(n, c["B"]))
    return lambda: (_scaled_rows[grid](x, w, b, z, m, n), z)[1:]


def sine_cosine(x):
    s, c, n = torch.empty_like(x), torch.empty_like(x), x.numel()
    return lambda: (_sine_cosine[lambda k: (triton.cdiv(n, k["B"]),)](x, s, c, n), s, c)[1:]


def softmax(x):
    y, (m, n) = torch.empty_like(x), x.shape
    if n > 65536:
        return lambda: (_softmax_loop[(m,)](x, y, n), y)[1:]
    return lambda: (_softmax[(m,)](x, y, n, B=_block(n)), y)[1:]


def layer_norm(x, g, b):
    y, (m, n) = torch.empty_like(x), x.shape
    return lambda: (_norm[(m,)](x, x, g, b, y, y, n, B=_block(n), RMS=False, RESIDUAL=False), y)[1:]


def rms_norm(x, g):
    y, (m, n) = torch.empty_like(x), x.shape
    return lambda: (_norm[(m,)](x, x, g, g, y, y, n, B=_block(n), RMS=True, RESIDUAL=False), y)[1:]


def residual_norm(x, r, g, b):
    s, y, (m, n) = torch.empty_like(x), torch.empty_like(x), x.shape
    return lambda: (_norm[(m,)](x, r, g, b, s, y, n, B=_block(n), RMS=False, RESIDUAL=True), s, y)[1:]


def cross_entropy(x, target):
    m, n = x.shape
    loss = torch.empty(m, device=x.device)
    if n > 65536:
        return lambda: (_cross_entropy_loop[(m,)](x, target, loss, n), loss)[1:]
    return lambda: (_cross_entropy[(m,)](x, target, loss, n, B=_block(n)), loss)[1:]


def row_sums(x):
    m, n = x.shape
    y = torch.empty(m, device=x.device)
    return lambda: (_row_sums[(m,)](x, y, n, B=_block(n)), y)[1:]


def column_sums(x):
    m, n = x.shape
    y = torch.empty(n, device=x.device)
    grid = lambda c: (triton.cdiv(m, c["R"]), triton.cdiv(n, c["B"]))
    return lambda: (y.zero_(), _column_sums[grid](x, y, m, n), y)[2:]


def transpose(x):
    m, n = x.shape
    y = torch.empty(n, m, device=x.device, dtype=x.dtype)
    grid = lambda c: (triton.cdiv(m, c["R"]), triton.cdiv(n, c["B"]))
    return lambda: (_transpose[grid](x, y, m, n), y)[1:]


def layer_norm_backward(x, dy, g, mu, rs):
    dx, (m, n) = torch.empty_like(x), x.shape
    programs = torch.cuda.get_device_properties(x.device).multi_processor_count * 2
    parts = torch.empty(2, programs, n, device=x.device)

    def run():
        _norm_backward[(programs,)](x, dy, g, mu, rs, dx, parts, m, n, B=_block(n))
        dg, db = parts.sum(1)
        return dx, dg, db

    return run


triton_peers = {peer.__name__: peer for peer in (
    chain, scaled, scaled_rows, sine_cosine, softmax, layer_norm, rms_norm, residual_norm, cross_entropy, row_sums,
    column_sums, transpose, layer_norm_backward)}
