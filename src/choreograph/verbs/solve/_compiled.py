"""The mutations of the search, on flat arrays: every way to change a path a little, and the best of them taken.

A path is K pieces of clips, rows [start, stop) of the frame table, that together show exactly N frames. Between piece
k and k + 1 lies a cut, a node of the hierarchy; a path's row of `nodes` names them. What the arrays are is told in
`workspace.py` and `terms.py`.
"""

from __future__ import annotations

from choreograph.base.compiling import hot, inlined
from choreograph.verbs.solve._compiled_score import (
    copy,
    draw,
    find_prefixes,
    score,
    score_begun_earlier,
    score_from,
)


@inlined
def _keeps_hard(first, time, moved, starts, stops, count, asked):  # type: ignore[no-untyped-def]
    """Whether a path shows every hard frame; before piece `first`, up to `time`, it does unless that part was moved."""
    for h in range(len(asked.hard_time)):
        if asked.hard_time[h] < time:
            if moved:
                return False
            continue
        begins = time
        for k in range(first, count):
            ends = begins + stops[k] - starts[k]
            if asked.hard_time[h] < ends:
                if starts[k] + asked.hard_time[h] - begins != asked.hard_row[h]:
                    return False
                break
            begins = ends
    return True


@inlined
def _try(first, total, trial, count, fixed, best, prefix, graph, asked, tally):  # type: ignore[no-untyped-def]
    """Score a trial path whose pieces before `first` are the path's own, both ways to come out at N frames.

    Its pieces show `total` frames. Either the last piece's end makes up for it, and what is before the mutation keeps
    its time, or the first piece's start does, and what is behind keeps its time. `fixed` tells whether the part before
    and the part behind hold hard frames and so have to keep it. The best path yet is kept in `best`; when others are to
    judge paths too (`seen` is not negative), so is one drawn from all below the limit.
    """
    starts, stops, nodes = trial
    last = count - 1
    missing = asked.frames - total
    own_start, own_stop = starts[0], stops[last]
    # Looked up before anything is moved: the only piece's start may be moved to where there are no frames.
    clip_start = graph.base[graph.clip_of[own_start]]
    clip_stop = graph.base[graph.clip_of[starts[last]] + 1]
    for way in range(2):
        if way == 1 and missing == 0:
            break
        if missing != 0 and fixed[1 - way]:
            continue
        if way == 0:
            stops[last] = own_stop + missing
        else:
            stops[last] = own_stop
            starts[0] = own_start - missing
        fits = (
            stops[last] < clip_stop
            and starts[0] >= clip_start
            and stops[last] - starts[last] >= asked.least
            and stops[0] - starts[0] >= asked.least
        )
        if not fits:
            continue
        if len(asked.hard_time) > 0:
            time = prefix.time[first] + missing if way == 1 and first > 0 else prefix.time[first]
            if not _keeps_hard(first, time, way == 1, starts, stops, count, asked):
                continue
        tally[0] += 1
        limit = best.cost[0] if best.seen[0] < 0 else best.limit[0]
        if way == 0 and first > 0 and asked.anchor_time == 0:
            cost = score_from(
                first, prefix.time[first], prefix.term[first], prefix.cost[first], prefix.turn[first],
                prefix.shift[first], starts, stops, nodes, count, limit, graph, asked,
            )  # fmt: skip
        elif way == 1 and first > 0 and prefix.time[first] + max(missing, 0) <= asked.rigid:
            cost = score_begun_earlier(
                first, missing, starts, stops, nodes, count, limit, prefix, graph, asked
            )  # fmt: skip
        else:
            cost = score(starts, stops, nodes, count, limit, graph, asked)
        if best.seen[0] >= 0 and cost < limit:
            best.seen[0] += 1
            if draw(best.chance) * best.seen[0] < 1.0:
                best.drawn_pieces[0] = count
                copy(starts, 0, count, best.drawn_starts, 0)
                copy(stops, 0, count, best.drawn_stops, 0)
                copy(nodes, 0, last, best.drawn_nodes, 0)
        if cost < best.cost[0]:
            best.cost[0] = cost
            best.pieces[0] = count
            copy(starts, 0, count, best.starts, 0)
            copy(stops, 0, count, best.stops, 0)
            copy(nodes, 0, last, best.nodes, 0)
    starts[0], stops[last] = own_start, own_stop


@inlined
def _holds_hard(low, high, asked):  # type: ignore[no-untyped-def]
    """Whether a hard frame is shown at a time from `low` to below `high`."""
    for h in range(len(asked.hard_time)):  # noqa: SIM110  (generators are not compiled)
        if low <= asked.hard_time[h] < high:
            return True
    return False


@inlined
def _join(trial, k, node, graph):  # type: ignore[no-untyped-def]
    """Put a cut behind piece k of a trial."""
    starts, stops, nodes = trial
    nodes[k] = node
    stops[k] = graph.source[node]
    starts[k + 1] = graph.target[node]


@inlined
def _shown(trial, count):  # type: ignore[no-untyped-def]
    total = 0
    for k in range(count):
        total += trial[1][k] - trial[0][k]
    return total


@hot
def replace_stretch(i, j, path, count, trial, best, prefix, graph, asked, chance, tally):  # type: ignore[no-untyped-def]
    """Score every way to go from piece i to piece j by no, one or two cuts of G′; of two cuts, a sample if too many.

    i = -1 begins anew before piece j, j = count ends anew behind piece i; i = j leaves a piece and comes back to it.
    """
    starts, stops, nodes = path
    least, clips = asked.least, graph.clips
    head = i + 1
    tail = count - j
    new_starts, new_stops, new_nodes = trial
    copy(starts, 0, head, new_starts, 0)
    copy(stops, 0, head, new_stops, 0)
    copy(nodes, 0, head - 1, new_nodes, 0)
    kept = 0
    for k in range(count):
        if k < i or k > j:
            kept += stops[k] - starts[k]
    here = graph.clip_of[starts[i]] if i >= 0 else -1
    there = graph.clip_of[starts[j]] if j < count else -1
    earliest = starts[i] + least if i >= 0 else 0
    latest = stops[j] - least if j < count else 0
    # A piece that is left and come back to may show a hard frame before or behind.
    fixed = (
        0 <= i < j and _holds_hard(0, prefix.time[i] + stops[i] - starts[i], asked),
        i < j < count and _holds_hard(prefix.time[j], asked.frames, asked),
    )

    for cuts in range(3):
        # Pieces of the trial: the head, what the cuts lead through, the tail. With an open side, one piece more.
        opened = (1 if i < 0 else 0) + (1 if j >= count else 0)
        between = cuts - 1 + opened
        size = head + between + tail
        if size > len(new_starts) or size < 1 or (cuts == 0 and opened == 0 and i == j):
            continue
        offset = head + between
        if cuts > 0 or opened == 1:
            copy(starts, j, tail, new_starts, offset)
            copy(stops, j, tail, new_stops, offset)
            copy(nodes, j, tail - 1, new_nodes, offset)
        if cuts == 0:
            if opened == 1:
                # Simply begin in piece j, or end in piece i.
                _try(0 if i < 0 else i, _shown(trial, size), trial, size, fixed, best, prefix, graph, asked, tally)
            elif here == there and i < j and stops[j] - starts[i] >= least:
                # Go on in the same clip.
                copy(starts, j + 1, tail - 1, new_starts, head)
                copy(stops, j + 1, tail - 1, new_stops, head)
                copy(nodes, j, tail - 1, new_nodes, head - 1)
                new_stops[i] = stops[j]
                _try(i, _shown(trial, size), trial, size, fixed, best, prefix, graph, asked, tally)
                new_stops[i] = stops[i]
            continue
        if cuts == 1:
            if i < 0:
                # From any clip: its piece is as long as what it replaces, so that the rest keeps its time.
                length = 0
                for k in range(j):
                    length += stops[k] - starts[k]
                length += stops[j] - starts[j]
                for other in range(clips):
                    for node in range(
                        graph.first_root[other * clips + there], graph.first_root[other * clips + there + 1]
                    ):
                        if graph.target[node] > latest:
                            continue
                        _join(trial, 0, node, graph)
                        new_starts[0] = new_stops[0] - (length - (stops[j] - graph.target[node]))
                        if new_starts[0] >= graph.base[other] and new_stops[0] - new_starts[0] >= least:
                            _try(0, asked.frames, trial, size, fixed, best, prefix, graph, asked, tally)
            else:
                low = graph.first_root[here * clips + (there if there >= 0 else 0)]
                high = graph.first_root[here * clips + (there + 1 if there >= 0 else clips)]
                for node in range(low, high):
                    if graph.source[node] < earliest or (there >= 0 and graph.target[node] > latest):
                        continue
                    _join(trial, i, node, graph)
                    if there < 0:
                        new_stops[i + 1] = new_starts[i + 1] + least
                    total = kept + new_stops[i] - starts[i] + new_stops[i + 1] - new_starts[i + 1]
                    _try(i, total, trial, size, fixed, best, prefix, graph, asked, tally)
            continue
        if i < 0:
            continue
        # Two cuts: number all pairs, and score every step-th of them.
        low, high = graph.first_root[here * clips], graph.first_root[(here + 1) * clips]
        pairs = 0
        for node in range(low, high):
            if graph.source[node] >= earliest:
                via = graph.clip_of[graph.target[node]]
                if there >= 0:
                    pairs += graph.first_root[via * clips + there + 1] - graph.first_root[via * clips + there]
                else:
                    pairs += graph.first_root[(via + 1) * clips] - graph.first_root[via * clips]
        step = max(1, (pairs + asked.sample - 1) // asked.sample)
        wanted = int(draw(chance) * step)
        passed = 0
        for node in range(low, high):
            if graph.source[node] < earliest:
                continue
            via = graph.clip_of[graph.target[node]]
            first = graph.first_root[via * clips + (there if there >= 0 else 0)]
            stop = graph.first_root[via * clips + (there + 1 if there >= 0 else clips)]
            joined = False
            while wanted < passed + stop - first:
                second = first + wanted - passed
                wanted += step
                if graph.source[second] - graph.target[node] < least or (there >= 0 and graph.target[second] > latest):
                    continue
                if not joined:
                    _join(trial, i, node, graph)
                    joined = True
                _join(trial, i + 1, second, graph)
                if there < 0:
                    new_stops[i + 2] = new_starts[i + 2] + least
                total = kept + new_stops[i] - starts[i] + new_stops[i + 1] - new_starts[i + 1]
                total += new_stops[i + 2] - new_starts[i + 2]
                _try(i, total, trial, size, fixed, best, prefix, graph, asked, tally)
            passed += stop - first
        if i >= 0:
            new_stops[i] = stops[i]


@hot
def demote(p, q, path, count, trial, best, prefix, graph, asked, tally):  # type: ignore[no-untyped-def]
    """Score every way to replace cuts p and q, one or both, by one of their children."""
    starts, stops, nodes = path
    copy(starts, 0, count, trial[0], 0)
    copy(stops, 0, count, trial[1], 0)
    copy(nodes, 0, count - 1, trial[2], 0)
    fixed = (
        _holds_hard(0, prefix.time[p] + stops[p] - starts[p], asked),
        _holds_hard(prefix.time[q + 1], asked.frames, asked),
    )
    for a in range(3 if graph.child[nodes[p]] >= 0 else 1):
        first = nodes[p] if a == 0 else graph.child[nodes[p]] + a - 1
        for b in range(3 if p != q and graph.child[nodes[q]] >= 0 else 1):
            if a == 0 and (b == 0 or p == q):
                continue
            second = first if p == q else nodes[q] if b == 0 else graph.child[nodes[q]] + b - 1
            _join(trial, p, first, graph)
            if p != q:
                _join(trial, q, second, graph)
            ok = True
            for k in (p, p + 1, q, q + 1):
                # The ends are looked at when their length is known.
                if 0 < k < count - 1 and trial[1][k] - trial[0][k] < asked.least:
                    ok = False
            if ok:
                _try(p, _shown(trial, count), trial, count, fixed, best, prefix, graph, asked, tally)


@hot
def _list_batches(count, nodes, graph, chance, order):  # type: ignore[no-untyped-def]
    """Every stretch that can be replaced and every two cuts that can be demoted, in random order; how many."""
    batches = 0
    for i in range(-1, count):
        for j in range(max(i, 0), count + 1):
            if i >= 0 or j < count:
                order[batches, 0], order[batches, 1], order[batches, 2] = 0, i, j
                batches += 1
    for p in range(count - 1):
        for q in range(p, count - 1):
            if graph.child[nodes[p]] >= 0 or graph.child[nodes[q]] >= 0:
                order[batches, 0], order[batches, 1], order[batches, 2] = 1, p, q
                batches += 1
    for n in range(batches):
        other = n + int(draw(chance) * (batches - n))
        for column in range(3):
            order[n, column], order[other, column] = order[other, column], order[n, column]
    return batches


@inlined
def _next_batch(path, count, trial, best, prefix, order, passed, graph, asked, chance, tally):  # type: ignore[no-untyped-def]
    """Score the mutations of the next batch, or list the batches if there are none yet; False if all were tried."""
    if passed[0] == 0:
        passed[0] = _list_batches(count, path[2], graph, chance, order)
        passed[1] = 0
    if passed[1] == passed[0]:
        return False
    kind, a, b = order[passed[1], 0], order[passed[1], 1], order[passed[1], 2]
    passed[1] += 1
    best.pieces[0] = 0
    if kind == 0:
        replace_stretch(a, b, path, count, trial, best, prefix, graph, asked, chance, tally)
    else:
        demote(a, b, path, count, trial, best, prefix, graph, asked, tally)
    return True


@hot
def offer(path, count, limit, trial, best, prefix, order, passed, graph, asked, chance, tally):  # type: ignore[no-untyped-def]
    """Score the next batch of a path's mutations, for others to judge as well; False if there is none left.

    `best` then holds the best mutation and one drawn from all of them, where any score below the limit.
    """
    find_prefixes(path, count, graph, asked, prefix)
    best.cost[0], best.limit[0], best.seen[0], best.drawn_pieces[0] = limit, limit, 0, 0
    found = _next_batch(path, count, trial, best, prefix, order, passed, graph, asked, chance, tally)
    best.seen[0] = -1
    return found


@hot
def improve(  # type: ignore[no-untyped-def]
    path, count, trial, best, prefix, order, passed, graph, asked, chance, evaluations, tally
):
    """Better a path until none of its mutations betters it, or so many evaluations were made.

    Mutations are taken in batches, in random order: all replacements of one stretch, or all demotions of two cuts. The
    best of a batch is accepted at once if it betters the path, and the batches are listed anew. `passed` holds how many
    batches there are, 0 if they are to be listed, and how many of them were tried, so that a search can be interrupted.

    Returns:
        The path's number of pieces, its score, and whether it is a local minimum.
    """
    begun = tally[0]
    starts, stops, nodes = path
    cost = find_prefixes(path, count, graph, asked, prefix)
    while tally[0] - begun < evaluations:
        best.cost[0] = cost - 1e-9
        if not _next_batch(path, count, trial, best, prefix, order, passed, graph, asked, chance, tally):
            return count, cost, True
        if best.pieces[0] > 0:
            count = best.pieces[0]
            copy(best.starts, 0, count, starts, 0)
            copy(best.stops, 0, count, stops, 0)
            copy(best.nodes, 0, count - 1, nodes, 0)
            cost = find_prefixes(path, count, graph, asked, prefix)
            passed[0] = 0
    return count, cost, False
