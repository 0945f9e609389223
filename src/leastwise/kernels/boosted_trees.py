"""Gradient boosted trees on codes (histograms, best-first growth), from counts of distinct rows: pure functions.

A tree is a row of each of five arrays, an entry a node: ``column`` (-1: a leaf), ``cut`` (an ordered column goes
left up to this code; an unordered one where ``left[tree, node, code]`` is 1), ``child`` (the left one; the right
one follows it) and ``value``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.kernels.compiling import njit

Ints = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.floating[Any]]

# As in scikit-learn: a code that fewer people of a node have is not told apart there, and the effect of a code is
# drawn towards 0 as if so much more were known.
_FEWEST, _SMOOTHING = 10.0, 10.0
_LEAST_HESSIAN = 1e-3


@njit()
def _histogram(
    places: Ints,
    rows: Ints,
    begin: int,
    end: int,
    gradient: Floats,
    hessian: Floats,
    people: Floats,
    histograms: Floats,
    node: int,
) -> None:
    """Add up gradient, hessian and people of some rows by column and code."""
    for place in range(histograms.shape[1]):
        for k in range(3):
            histograms[node, place, k] = 0.0
    for i in range(begin, end):
        r = rows[i]
        g, h, w = gradient[r], hessian[r], people[r]
        for j in range(places.shape[1]):
            place = places[r, j]
            histograms[node, place, 0] += g
            histograms[node, place, 1] += h
            histograms[node, place, 2] += w


@njit()
def _by_effect(histograms: Floats, node: int, start: int, size: int, order: Ints, effect: Floats) -> int:
    """Put in the codes of an unordered column that enough people of a node have, by their effect; return how many.

    Codes of the same effect stay in their order.
    """
    used = 0
    for c in range(size):
        if histograms[node, start + c, 2] >= _FEWEST:
            own = histograms[node, start + c, 0] / (histograms[node, start + c, 1] + _SMOOTHING)
            place = used
            while place > 0 and effect[place - 1] > own:
                effect[place], order[place] = effect[place - 1], order[place - 1]
                place -= 1
            effect[place], order[place] = own, c
            used += 1
    return used


@njit()
def _best_split(
    histograms: Floats,
    node: int,
    starts: Ints,
    ordered: Ints,
    penalty: float,
    left: Ints,
    order: Ints,
    effect: Floats,
) -> tuple[float, int, int]:
    """Return the gain, column and cut of the best split; of an unordered column also which codes go left.

    ``order`` and ``effect`` are room for the codes of any unordered column.
    """
    g_all, h_all, w_all = 0.0, 0.0, 0.0
    for c in range(starts[0], starts[1]):
        g_all += histograms[node, c, 0]
        h_all += histograms[node, c, 1]
        w_all += histograms[node, c, 2]
    none = g_all * g_all / (h_all + penalty)
    best, column, cut = 0.0, -1, -1
    for j in range(len(ordered)):
        start, used = starts[j], starts[j + 1] - starts[j]
        if not ordered[j]:
            used = _by_effect(histograms, node, start, used, order, effect)
        g, h, w = 0.0, 0.0, 0.0
        for i in range(used):
            c = i if ordered[j] else order[i]
            if histograms[node, start + c, 2] <= 0:
                continue
            g += histograms[node, start + c, 0]
            h += histograms[node, start + c, 1]
            w += histograms[node, start + c, 2]
            if h < _LEAST_HESSIAN or w <= 0:
                continue
            if h_all - h < _LEAST_HESSIAN or w_all - w <= 1e-9:
                break
            rest = g_all - g
            gain = g * g / (h + penalty) + rest * rest / (h_all - h + penalty) - none
            if gain > best + 1e-12:
                best, column, cut = gain, j, c
    if column >= 0 and not ordered[column]:
        size = starts[column + 1] - starts[column]
        used = _by_effect(histograms, node, starts[column], size, order, effect)
        # Who is too few to be told apart goes with the larger part.
        people, count = 0.0, 0
        for i in range(used):
            people += histograms[node, starts[column] + order[i], 2]
            count += 1
            if order[i] == cut:
                break
        for c in range(left.shape[1]):
            left[node, c] = 1 if people > w_all - people else 0
        for i in range(used):
            left[node, order[i]] = 1 if i < count else 0
    return best, column, cut


@njit()
def _part(
    rows: Ints,
    begin: int,
    end: int,
    inputs: Ints,
    j: int,
    cut: int,
    ordered: int,
    left: Ints,
    node: int,
    spare: Ints,
) -> int:
    """Put the rows of the left side before those of the right, each in their order; return where these begin."""
    kept, moved = begin, 0
    for i in range(begin, end):
        code = inputs[rows[i], j]
        if (code <= cut) if ordered else (left[node, code] == 1):
            rows[kept] = rows[i]
            kept += 1
        else:
            spare[moved] = rows[i]
            moved += 1
    for i in range(moved):
        rows[kept + i] = spare[i]
    return kept


@njit()
def _grow(
    inputs: Ints,
    places: Ints,
    starts: Ints,
    ordered: Ints,
    gradient: Floats,
    hessian: Floats,
    people: Floats,
    leaves: int,
    penalty: float,
    rate: float,
    column: Ints,
    cut: Ints,
    child: Ints,
    value: Floats,
    left: Ints,
    histograms: Floats,
    leaf: Ints,
) -> None:
    """Grow one tree, always the split that gains most; put in the leaf of each row.

    ``places`` are the inputs numbered over all columns, ``histograms`` is room for those of all nodes.
    """
    total, most, widest = len(inputs), 2 * leaves - 1, left.shape[1]
    rows, spare = np.arange(total), np.empty(total, np.int64)
    order, effect = np.empty(widest, np.int64), np.empty(widest)
    begin, end = np.zeros(most, np.int64), np.zeros(most, np.int64)
    gain = np.full(most, -1.0)
    split = np.full((most, 2), -1, np.int64)
    end[0] = total
    _histogram(places, rows, 0, total, gradient, hessian, people, histograms, 0)
    gain[0], split[0, 0], split[0, 1] = _best_split(histograms, 0, starts, ordered, penalty, left, order, effect)
    nodes = 1
    while nodes + 2 <= most:
        node = np.argmax(gain)
        if gain[node] <= 0:
            break
        j, c = split[node, 0], split[node, 1]
        column[node], cut[node], child[node] = j, c, nodes
        gain[node] = -1.0
        a, b = begin[node], end[node]
        kept = _part(rows, a, b, inputs, j, c, ordered[j], left, node, spare)
        begin[nodes], end[nodes], begin[nodes + 1], end[nodes + 1] = a, kept, kept, b
        nodes += 2
        if nodes + 2 > most:  # none of these is divided again
            break
        small = nodes - 2 if kept - a <= b - kept else nodes - 1
        large = 2 * nodes - 3 - small
        _histogram(places, rows, begin[small], end[small], gradient, hessian, people, histograms, small)
        for place in range(starts[-1]):
            for k in range(3):
                histograms[large, place, k] = histograms[node, place, k] - histograms[small, place, k]
        for new in range(nodes - 2, nodes):
            gain[new], split[new, 0], split[new, 1] = _best_split(
                histograms, new, starts, ordered, penalty, left, order, effect
            )
    for end_node in range(nodes):
        if column[end_node] < 0:
            g, h = 0.0, 0.0
            for i in range(begin[end_node], end[end_node]):
                g += gradient[rows[i]]
                h += hessian[rows[i]]
                leaf[rows[i]] = end_node
            value[end_node] = -rate * g / (h + penalty)


@njit()
def _probabilities(raw: Floats, out: Floats) -> None:
    """Softmax; of two classes the first has the score 0."""
    for r in range(len(raw)):
        top = 0.0 if raw.shape[1] == 1 else raw[r, 0]
        for k in range(raw.shape[1]):
            top = max(top, raw[r, k])
        total = 0.0
        if raw.shape[1] == 1:  # the exponential of the larger one is 1
            less = np.exp(-abs(raw[r, 0]))
            out[r, 0], out[r, 1] = (less, 1.0) if raw[r, 0] > 0 else (1.0, less)
            total = out[r, 0] + out[r, 1]
        else:
            for k in range(raw.shape[1]):
                out[r, k] = np.exp(raw[r, k] - top)
                total += out[r, k]
        for k in range(out.shape[1]):
            out[r, k] /= total


@njit()
def _log_loss(probabilities: Floats, counts: Floats) -> float:
    loss, total = 0.0, 0.0
    for r in range(len(counts)):
        for k in range(counts.shape[1]):
            if counts[r, k] > 0:
                loss -= counts[r, k] * np.log(max(probabilities[r, k], 1e-15))
                total += counts[r, k]
    return loss / max(total, 1e-300)


@njit()
def boost(
    inputs: Ints,
    starts: Ints,
    ordered: Ints,
    counts: Floats,
    held_out: Floats,
    first: Floats,
    rounds: int,
    leaves: int,
    rate: float,
    penalty: float,
    patience: int,
) -> tuple[Ints, Ints, Ints, Floats, Ints]:
    """Boost until the held-out people say that it is enough.

    Parameters
    ----------
    inputs, starts, ordered
        Distinct rows x columns of codes; where the codes of each column start, and the end; 1 where they have an
        order.
    counts, held_out
        Distinct rows x classes: how many people are learned from, and how many say when to stop (none: nobody).
    first
        The scores before anything is seen: one for two classes, otherwise one a class.
    patience
        So many rounds without a gain are the end.

    Returns
    -------
    column, cut, child, value, left
        The trees, ``len(first)`` for each round.
    """
    total, classes, scores = len(inputs), counts.shape[1], len(first)
    most = 2 * leaves - 1
    widest = 1
    for j in range(len(ordered)):
        if not ordered[j]:
            widest = max(widest, starts[j + 1] - starts[j])
    trees = rounds * scores
    column, cut = np.full((trees, most), -1, np.int64), np.full((trees, most), -1, np.int64)
    child, value = np.zeros((trees, most), np.int64), np.zeros((trees, most))
    left = np.zeros((trees, most, widest), np.int8)
    people = counts.sum(axis=1)
    raw = np.empty((total, scores))
    raw[:] = first
    probability = np.empty((total, classes))
    gradient, hessian, leaf = np.empty(total), np.empty(total), np.zeros(total, np.int64)
    places, histograms = (inputs + starts[:-1]).astype(np.int32), np.empty((most, starts[-1], 3))
    stops = held_out.sum() > 0
    _probabilities(raw, probability)
    best, waited, done = _log_loss(probability, held_out), 0, 0
    for done in range(1, rounds + 1):
        for k in range(scores):
            own = k if scores > 1 else 1
            for r in range(total):
                p = probability[r, own]
                gradient[r] = people[r] * p - counts[r, own]
                hessian[r] = people[r] * p * (1 - p)
            tree = (done - 1) * scores + k
            _grow(
                inputs, places, starts, ordered, gradient, hessian, people, leaves, penalty, rate,
                column[tree], cut[tree], child[tree], value[tree], left[tree], histograms, leaf,
            )  # fmt: skip
            for r in range(total):
                raw[r, k] += value[tree, leaf[r]]
        _probabilities(raw, probability)
        if stops:
            loss = _log_loss(probability, held_out)
            waited = 0 if loss < best - 1e-7 else waited + 1
            best = min(best, loss)
            if waited >= patience:
                break
    trees = done * scores
    return column[:trees], cut[:trees], child[:trees], value[:trees], left[:trees]


@njit()
def _leaf(row: Ints, ordered: Ints, column: Ints, cut: Ints, child: Ints, left: Ints) -> int:
    """Return the leaf of one tree that a row falls into."""
    node = 0
    while column[node] >= 0:
        j = column[node]
        goes = row[j] <= cut[node] if ordered[j] else left[node, row[j]] == 1
        node = child[node] + (0 if goes else 1)
    return node


@njit()
def contributions(
    inputs: Ints, ordered: Ints, column: Ints, cut: Ints, child: Ints, value: Floats, left: Ints
) -> Floats:
    """Return rows x trees: what each tree adds to the scores of each row."""
    out = np.empty((len(inputs), len(column)))
    for r in range(len(inputs)):
        for t in range(len(column)):
            out[r, t] = value[t, _leaf(inputs[r], ordered, column[t], cut[t], child[t], left[t])]
    return out


@njit()
def add_up(first: Floats, added: Floats) -> Floats:
    """Return rows x classes: the probabilities of what trees added to the scores."""
    scores = len(first)
    raw = np.empty((len(added), scores))
    raw[:] = first
    for r in range(len(added)):
        for t in range(added.shape[1]):
            raw[r, t % scores] += added[r, t]
    out = np.empty((len(added), max(2, scores)))
    _probabilities(raw, out)
    return out


@njit()
def leaves_left(
    starts: Ints, ordered: Ints, column: Ints, cut: Ints, child: Ints, left: Ints
) -> npt.NDArray[np.uint32]:
    """Return codes x trees: a bit for each node that a row with this code may still end in.

    A node that looks at a column sends each of its codes to one side, and rules the leaves of the other side out.
    What all codes of a row leave is its leaf: bits instead of branches, as in QuickScorer (Lucchese et al. 2015).
    """
    trees, most = column.shape
    found = np.empty((starts[-1], trees), np.uint32)
    below = np.empty(most, np.uint32)
    for t in range(trees):
        for node in range(most - 1, -1, -1):  # children have higher numbers
            below[node] = np.uint32(1) << np.uint32(node)
            if column[t, node] >= 0:
                below[node] = below[child[t, node]] | below[child[t, node] + 1]
        found[:, t] = below[0]
        for node in range(most):
            j = column[t, node]
            if j >= 0:
                for code in range(starts[j + 1] - starts[j]):
                    goes = code <= cut[t, node] if ordered[j] else left[t, node, code] == 1
                    found[starts[j] + code, t] &= ~below[child[t, node] + (1 if goes else 0)]
    return found


@njit()
def _number_of(bit: np.uint32) -> int:
    """Return the place of the only bit, by halves."""
    place = 0
    for step in (16, 8, 4, 2, 1):
        if bit >> np.uint32(place + step):
            place += step
    return place


@njit()
def predict(
    inputs: Ints,
    starts: Ints,
    ordered: Ints,
    first: Floats,
    column: Ints,
    cut: Ints,
    child: Ints,
    value: Floats,
    left: Ints,
) -> Floats:
    """Return rows x classes: the probabilities that the trees give."""
    scores, trees = len(first), len(column)
    raw = np.empty((len(inputs), scores))
    raw[:] = first
    if column.shape[1] > 32 or starts[-1] > len(inputs):  # no room for so many bits, or they would not pay
        for r in range(len(inputs)):
            for t in range(trees):
                raw[r, t % scores] += value[t, _leaf(inputs[r], ordered, column[t], cut[t], child[t], left[t])]
    else:
        masks, own = leaves_left(starts, ordered, column, cut, child, left), np.empty(trees, np.uint32)
        for r in range(len(inputs)):
            own[:] = masks[inputs[r, 0]]
            for j in range(1, inputs.shape[1]):
                seen = masks[starts[j] + inputs[r, j]]
                for t in range(trees):
                    own[t] &= seen[t]
            for t in range(trees):
                raw[r, t % scores] += value[t, _number_of(own[t])]
    out = np.empty((len(inputs), max(2, scores)))
    _probabilities(raw, out)
    return out
