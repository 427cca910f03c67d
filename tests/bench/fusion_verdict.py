"""Whether a fused graph is slower than its calls apart, from times that were taken by turns (fusion_loses.py).

The n-th times of both were taken one after the other. They are put together to rounds, whose medians give one ratio a
round; the median of these has an interval without any assumption on how times are spread: between two of the sorted
ratios, as far apart as 95 % of all coin throws are.
"""

import dataclasses
import math
import statistics

MOST_ROUNDS, FEWEST_ROUNDS = 60, 15
SLOWER = 1.03  # a ratio that is no loss yet
WIDE = 0.05  # an interval that decides nothing, as a share of the ratio
SMALLEST_LOSS = {"cuda": 1e-6, "cpu": 5e-6}


@dataclasses.dataclass
class Verdict:
    """`word`: "passed", "LOST", "UNDECIDED" or "open": more rounds are wanted."""
    word: str
    ratio: float
    low: float
    high: float
    rounds: int
    apart: float
    fused: float


def ranks(count, share=0.95):
    """The ranks, from 0, of the two of so many sorted values between which their median is in that share of cases."""
    tail, low, below = (1 - share) / 2, 0, 0.0
    while (below := below + math.comb(count, low) * 0.5 ** count) <= tail:
        low += 1
    # So far `low` values may be below the median with no more than the tail's chance.
    low = max(0, low - 1)
    return low, count - 1 - low


def medians(times, rounds):
    """Of each round; times that don't fill one are left out."""
    length = len(times) // rounds
    return [statistics.median(times[n * length:(n + 1) * length]) for n in range(rounds)]


def judge(apart, fused, device):
    """Of times in the order in which they were taken, as many of each."""
    rounds = min(MOST_ROUNDS, len(apart))
    aparts, fuseds = medians(apart, rounds), medians(fused, rounds)
    ratios = sorted(one / other for one, other in zip(fuseds, aparts))
    low, high = (ratios[rank] for rank in ranks(rounds))
    ratio, usual = statistics.median(ratios), statistics.median(aparts)
    limit = SMALLEST_LOSS[device]
    if low > SLOWER and (ratio - 1) * usual > limit and rounds >= FEWEST_ROUNDS:
        word = "LOST"
    elif high - low > WIDE * ratio and high > SLOWER and (high - 1) * usual > limit:
        word = "UNDECIDED" if rounds >= MOST_ROUNDS else "open"
    else:
        word = "passed" if rounds >= FEWEST_ROUNDS else "open"
    return Verdict(word, ratio, low, high, rounds, usual, statistics.median(fuseds))
