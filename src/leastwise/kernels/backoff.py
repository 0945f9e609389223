"""Counting along a chain of ever finer joint buckets: pure functions of arrays.

A chain puts the input columns into an order. Its node at depth j is the joint bucket of the first j columns; all
nodes form a trie. A node whose people all have the same inputs is not divided further: the deeper ones would
repeat its counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.kernels.compiling import njit
from leastwise.kernels.numbering import count_keys, number_keys, slot

Ints = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.floating[Any]]
# Keys are counted as they are, where there are at most so many possible ones for each row; else numbered first.
_DENSE = 8


@njit()
def _score(probability: Floats, row_w: Floats) -> float:
    """Return the sum of the logarithms; of single people their product's, as far as that is a number."""
    total, product = 0.0, 1.0
    for r in range(len(row_w)):
        p = max(probability[r], 1e-12)
        if row_w[r] == 1.0:
            product *= p
            if product < 1e-280:
                total += np.log(product)
                product = 1.0
        else:
            total += row_w[r] * np.log(p)
    return float(total + np.log(product))


@njit()
def _left_out(
    group: Ints,
    groups: int,
    row_z: Ints,
    row_v: Ints,
    row_w: Floats,
    values: int,
    parent: Floats,
    pseudo_count: float,
    result: Floats,
) -> float:
    """Put in the probability of each row's value by the others of its group, drawn towards the parent's.

    Returns their score.
    """
    pair = np.empty(len(row_z), np.int64)
    people = np.zeros(groups)
    for r in range(len(row_z)):
        g = group[row_z[r]]
        pair[r] = g * values + row_v[r]
        people[g] += row_w[r]
    pairs = groups * values
    if pairs > _DENSE * len(row_z):  # too many to have a place each
        pair, pairs = number_keys(pair)
    same = np.zeros(pairs)
    for r in range(len(row_z)):
        same[pair[r]] += row_w[r]
    for r in range(len(row_z)):
        one = min(1.0, row_w[r])
        others = people[group[row_z[r]]] - one
        result[r] = (same[pair[r]] - one + pseudo_count * parent[r]) / (others + pseudo_count)
    score: float = _score(result, row_w)
    return score


@njit()
def _divisible(group: Ints, groups: int) -> Ints:
    """Return where the distinct inputs stand that share their group with others: nothing divides one alone."""
    members = np.zeros(groups, np.int64)
    for z in range(len(group)):
        members[group[z]] += 1
    left = 0
    for z in range(len(group)):
        left += members[group[z]] > 1
    kept = np.empty(left, np.int64)
    left = 0
    for z in range(len(group)):
        if members[group[z]] > 1:
            kept[left] = z
            left += 1
    return kept


@njit()
def _rows_of(row_z: Ints, kept: Ints, inputs: int) -> tuple[Ints, Ints, Ints]:
    """Return the rows of the inputs that are kept, the others, and where the inputs of each of the first stand."""
    place = np.full(inputs, -1, np.int64)
    for i in range(len(kept)):
        place[kept[i]] = i
    left = 0
    for r in range(len(row_z)):
        left += place[row_z[r]] >= 0
    rows, others, own = np.empty(left, np.int64), np.empty(len(row_z) - left, np.int64), np.empty(left, np.int64)
    left, gone = 0, 0
    for r in range(len(row_z)):
        if place[row_z[r]] >= 0:
            rows[left], own[left] = r, place[row_z[r]]
            left += 1
        else:
            others[gone] = r
            gone += 1
    return rows, others, own


@njit()
def _keys_of(group: Ints, column: Ints, alive: Ints, size: int) -> Ints:
    """Return, for some of the distinct inputs, a key of their group and one more column."""
    keys = np.empty(len(alive), np.int64)
    for z in range(len(alive)):
        keys[z] = group[z] * size + column[alive[z]]
    return keys


@njit()
def _divided(group: Ints, column: Ints, alive: Ints, size: int) -> tuple[Ints, int]:
    """Divide the groups of some of the distinct inputs by one more column."""
    divided, groups = number_keys(_keys_of(group, column, alive, size))
    return divided, groups


@njit()
def _put_rest(order: Ints, place: int, told: Floats, used: Ints) -> None:
    """Put the columns that are left at the end, those first that last told most."""
    for j in np.argsort(-told):
        if not used[j]:
            order[place] = j
            place += 1


@njit()
def choose_order(
    inputs: Ints,
    sizes: Ints,
    row_z: Ints,
    row_v: Ints,
    row_w: Floats,
    prior: Floats,
    first: Ints,
    pseudo_count: float,
    most: int,
) -> tuple[Ints, int]:
    """Order the columns: always the one that tells most of the target next, judged by leaving each person out.

    ``inputs`` are the distinct inputs and ``sizes`` the codes of each column; ``row_z, row_v, row_w`` are the
    distinct (inputs, value) rows: which inputs, which value, how many people. ``prior`` is the probability of each
    value before anything is known, ``first`` are columns that come first in any case, ``pseudo_count`` is how many
    people the coarser group counts for. At most ``most`` columns are tried for each place, those first that last
    told most; the first place tries all. Of more columns than that, the rest is left in this order once three
    places in a row told nothing. Returns the order, and how many of its columns told something.
    """
    columns = inputs.shape[1]
    order = np.empty(columns, np.int64)
    used = np.zeros(columns, np.bool_)
    told = np.full(columns, np.inf)
    by_column = inputs.T.copy()  # each is read from its beginning to its end
    # What is alone in its group is settled; the others go on, with where their inputs stand among all.
    alive, group, groups, settled = np.arange(len(inputs)), np.zeros(len(inputs), np.int64), 1, 0.0
    probability = np.empty(len(row_z))
    for r in range(len(row_z)):
        probability[r] = prior[row_v[r]]
    best_score = _score(probability, row_w)
    useful, in_vain = columns, 0
    for depth in range(columns):
        best, top = -1, -np.inf
        best_probability, left_out = np.empty(len(row_z)), np.empty(len(row_z))
        tried = 0
        for j in np.argsort(-told):
            if used[j] or tried >= most or (depth < len(first) and j != first[depth]):
                continue
            divided, bound = _keys_of(group, by_column[j], alive, sizes[j]), groups * sizes[j]
            if bound > _DENSE * len(alive):  # too many to have a place each
                divided, bound = number_keys(divided)
            score = settled + _left_out(
                divided, bound, row_z, row_v, row_w, len(prior), probability, pseudo_count, left_out
            )
            told[j] = score - best_score
            tried += depth > len(first)
            if score > top:
                best, top = j, score
                best_probability, left_out = left_out, best_probability
        if top <= best_score and depth >= len(first):
            useful = min(useful, depth)
            in_vain += 1
        else:
            in_vain = 0
        best_score = max(best_score, top)
        order[depth] = best
        used[best] = True
        best_group, groups = _divided(group, by_column[best], alive, sizes[best])
        kept = _divisible(best_group, groups)
        if not len(kept) or (columns > most and in_vain >= 3):
            _put_rest(order, depth + 1, told, used)
            break
        rows, others, row_z = _rows_of(row_z, kept, len(alive))
        settled += _score(best_probability[others], row_w[others])
        row_v, row_w, probability = row_v[rows], row_w[rows], best_probability[rows]
        alive, group = alive[kept], best_group[kept]
    return order, useful


@njit()
def _go_down(
    path: Ints,
    q: int,
    starts: Ints,
    values: Ints,
    counts: Floats,
    people: Floats,
    pseudo_count: float,
    discount: float,
    shares: Floats,
) -> float:
    """Mix the counts of the nodes of path q into the shares, which are to be multiplied by the scale it returns.

    Each node gives its counts, less the discount, and the coarser probabilities fill what is missing, as much as
    ``pseudo_count`` people and the discounts would. What all values are multiplied by is not written into each of
    them at each depth.
    """
    scale = 1.0
    for depth in range(path.shape[1]):
        node = path[q, depth]
        if node == -1:
            break
        if node == -2:
            continue
        a, b = starts[node], starts[node + 1]
        taken = 0.0
        for i in range(a, b):
            taken += min(discount, counts[i])
        total = people[node] + pseudo_count
        if total <= 0:
            continue
        scale *= (pseudo_count + taken) / total
        if scale < 1e-100:  # the node decides alone, or as good as
            for v in range(len(shares)):
                shares[v] *= scale
            scale = 1.0
        for i in range(a, b):
            shares[values[i]] += (counts[i] - min(discount, counts[i])) / (total * scale)
    return scale


@njit()
def posteriors(
    path: Ints,
    starts: Ints,
    values: Ints,
    counts: Floats,
    people: Floats,
    base: Floats,
    base_of: Ints,
    pseudo_count: float,
    discount: float,
) -> Floats:
    """Return the probabilities after the counts of all nodes of each path, from the coarsest to the finest.

    Row ``base_of[q]`` of ``base`` is what path q begins with.
    """
    result = np.empty((len(path), base.shape[1]), np.float32)
    shares = np.empty(base.shape[1])
    for q in range(len(path)):
        for v in range(len(shares)):
            shares[v] = base[base_of[q], v]
        scale = _go_down(path, q, starts, values, counts, people, pseudo_count, discount, shares)
        for v in range(len(shares)):
            result[q, v] = shares[v] * scale
    return result


@njit()
def walk(inputs: Ints, order: Ints, sizes: Ints, keys: Ints, nodes: Ints, ends: Ints, people: Floats) -> Ints:
    """Return the node of each input at each depth; -1 from where there is none, -2 for one that adds nobody.

    ``keys[ends[d]:ends[d + 1]]`` is an open-addressing table from (parent, code) to ``nodes`` of depth d + 1.
    """
    path = np.full((len(inputs), len(order)), -1, np.int64)
    for q in range(len(inputs)):
        node, held = 0, -1.0
        for depth in range(len(order)):
            j = order[depth]
            limit = ends[depth + 1] - ends[depth]
            if limit == 0:
                break
            key = node * sizes[j] + inputs[q, j]
            place = slot(keys, key, limit, ends[depth])
            if keys[place] == -1:
                break
            node = nodes[place]
            # The same people were counted one depth before: counting them again would make them surer.
            path[q, depth] = node if people[node] != held else -2
            held = people[node]
    return path


@njit()
def grow(inputs: Ints, order: Ints, sizes: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Build the trie of a chain.

    Returns
    -------
    keys, nodes, ends
        Per depth an open-addressing table from (parent, code) to node, all side by side; see ``walk``.
    node_of
        distinct inputs x depths: the node of each, -1 where it is not divided further. Node 0 is the root.
    """
    total = len(inputs)
    node_of = np.full((total, len(order)), -1, np.int32)
    ends = np.zeros(len(order) + 1, np.int64)
    keys, nodes = np.empty(total + 14, np.int64), np.empty(total + 14, np.int32)
    alive, parent, found = np.arange(total), np.zeros(total, np.int64), 1
    for depth in range(len(order)):
        group, groups = _divided(parent, inputs[:, order[depth]], alive, sizes[order[depth]])
        # As large as the nodes need, not the inputs: there are few of them as long as many inputs share each.
        start, end = ends[depth], ends[depth] + (2 * groups + 7 if groups else 0)
        ends[depth + 1] = end
        if end > len(keys):
            keys, nodes = _longer(keys, 2 * end), _longer(nodes, 2 * end)
        keys[start:end] = -1
        new = 0
        for i in range(len(alive)):
            node_of[alive[i], depth] = found + group[i]
            if group[i] == new:
                key = parent[i] * sizes[order[depth]] + inputs[alive[i], order[depth]]
                place = slot(keys, key, end - start, start)
                keys[place], nodes[place] = key, found + new
                new += 1
        kept = _divisible(group, groups)
        alive, parent = alive[kept], group[kept] + found
        found += groups
    return keys[: ends[-1]].copy(), nodes[: ends[-1]].copy(), ends, node_of


@njit()
def _longer(array: Ints, length: int) -> Ints:
    longer = np.empty(length, array.dtype)
    longer[: len(array)] = array
    return longer


@njit()
def count_at(
    node_of: Ints, depth: int, first: int, nodes: int, row_z: Ints, row_v: Ints, row_w: Floats, values: int
) -> tuple[Ints, Ints, Floats, Floats]:
    """Return, for the ``nodes`` of one depth, the first of which is ``first``, how many of which values occur.

    For each node: how many values; then, node by node, the values and their people; and all people of each node.
    """
    keys = np.empty(len(row_z), np.int64)
    for r in range(len(row_z)):
        node = np.int64(node_of[row_z[r], depth])
        keys[r] = (node - first) * values + row_v[r] if node >= 0 else -1
    found: tuple[Ints, Ints, Floats, Floats] = count_keys(keys, row_w, 1, nodes, values)
    return found


@njit()
def count_nodes(
    node_of: Ints, row_z: Ints, row_v: Ints, row_w: Floats, values: int
) -> tuple[Ints, Ints, Floats, Floats]:
    """Return, node by node, the values that occur and how many people have each; and all people of each node.

    The values of each node end at the first array. Nodes are numbered depth by depth, and so they are counted: a
    key for each person and depth would take most of the memory of an attack. The root, node 0, is the prior's.
    """
    ends, people = np.zeros(2, np.int32), np.zeros(1)
    found, counts, used = np.empty(len(row_z), np.int32), np.empty(len(row_z)), 0
    for depth in range(node_of.shape[1]):
        first, last = len(people), -1
        for z in range(len(node_of)):
            last = max(last, node_of[z, depth])
        nodes = max(last + 1 - first, 0)
        lengths, values_of, counts_of, people_of = count_at(
            node_of, depth, first, nodes, row_z, row_v, row_w, values
        )
        if used + len(values_of) > len(found):
            found, counts = _longer(found, 2 * len(found)), _longer(counts, 2 * len(found))
        found[used : used + len(values_of)], counts[used : used + len(values_of)] = values_of, counts_of
        used += len(values_of)
        ends, people = _longer(ends, len(ends) + nodes), np.concatenate((people, people_of))
        for node in range(nodes):
            ends[first + node + 1] = ends[first + node] + lengths[node]
    return ends, found[:used].copy(), counts[:used].copy(), people


@njit()
def context_hits(
    rows: Ints,
    column: Ints,
    width: int,
    row_count: int,
    values: Ints,
    size: int,
    people: Floats,
    pseudo_count: float,
    own_people: Floats,
    own_total: Floats,
) -> float:  # pragma: no cover
    """Return the people guessed right by their row and one more column, leaving each out; to choose a context by.

    The column has codes below its ``width``; with them there are ``row_count`` rows.
    """
    counts, keys = np.zeros(row_count * size), np.empty(len(rows), np.int64)
    for i in range(len(rows)):
        keys[i] = rows[i] * width + column[i]
        counts[keys[i] * size + values[i]] += people[i]
    own = pseudo_count * own_people / own_total
    best = np.full(row_count, -1.0)
    second = np.full(row_count, -1.0)
    top = np.full(row_count, -1, dtype=np.int64)
    for i in range(len(rows)):
        r, v = keys[i], values[i]
        if top[r] == v:
            continue
        u = counts[r * size + v] + own[v]
        if u > best[r]:
            second[r] = best[r]
            best[r], top[r] = u, v
        elif u > second[r]:
            second[r] = u
    right = 0.0
    for r in range(row_count):
        if top[r] >= 0 and best[r] - 1.0 > second[r]:
            right += counts[r * size + top[r]]
    return right
