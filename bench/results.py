"""Result files of `restride bench`: reading them, the arithmetic on them, and the table."""

import json
import math
import pathlib
import sys

FORMAT = 1
NOTICEABLE = 1.03  # as in tools/measure/results.cpp


def load(path):
    try:
        results = json.loads(pathlib.Path(path).read_text())
        known = results["format"] == FORMAT
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"{path}: not a file of results: {error}")
    if not known:
        sys.exit(f"{path}: format {results['format']}, this program reads {FORMAT}")
    return results


def save(results, path):
    for suite in results["suites"]:
        suite["summary"] = summarize(suite)
    pathlib.Path(path).write_text(json.dumps(results, indent=1) + "\n")


def cases(results):
    """All (suite, case) pairs."""
    return [(suite, case) for suite in results["suites"] for case in suite["cases"]]


def timed(case, role):
    return [c for c in case["candidates"] if c["role"] == role and c["status"] == "timed"]


def best(case, role):
    """The candidate of a role with the greatest share of the ceiling, or None. Shares compare across
    contests: a peer measured by another program has its own seconds."""
    return max(timed(case, role), key=lambda c: c["share_of_ceiling"], default=None)


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else 0


def summarize(suite):
    """As tools/measure/results.cpp does."""
    pairs = [(case, best(case, "ours")) for case in suite["cases"]]
    ours = [(case, candidate) for case, candidate in pairs if candidate]
    peers = [peer for peer in (best(case, "peer") for case in suite["cases"]) if peer]
    least = min(ours, key=lambda pair: pair[1]["share_of_ceiling"], default=None)
    lost = []
    for case, candidate in ours:
        peer = best(case, "peer")
        factor = peer["share_of_ceiling"] / candidate["share_of_ceiling"] if peer else 0
        if factor > NOTICEABLE:
            lost.append(f"{case['name']} ({peer['name']}, by {factor:.2f})")
    return {
        "cases": len(suite["cases"]),
        "timed": len(ours),
        "wrong": sum(c["status"] == "wrong" for case in suite["cases"] for c in case["candidates"]),
        "mean_of_ceiling": geometric_mean(c["share_of_ceiling"] for _, c in ours),
        "mean_of_library": geometric_mean(c["share_of_library"] for _, c in ours),
        "best_peer_mean_of_ceiling": geometric_mean(p["share_of_ceiling"] for p in peers),
        "least_of_ceiling": least[1]["share_of_ceiling"] if least else 0,
        "least_case": least[0]["name"] if least else "",
        "lost_cases": lost,
    }


def candidate_names(suite, role):
    """In the order of the file."""
    return list(dict.fromkeys(c["name"] for case in suite["cases"] for c in case["candidates"] if c["role"] == role))


def print_table(suite):
    """Shares of the ceiling: ours and every peer, a line a case."""
    peers = candidate_names(suite, "peer")
    print(f"{suite['name']}: {suite['about']}")
    print(f"{'share of ceiling':32} {'restride':>9} " + " ".join(f"{name:>9}" for name in peers))
    for case in suite["cases"]:
        cells = []
        for candidate in [best(case, "ours")] + [next((c for c in case["candidates"] if c["name"] == n), None)
                                                 for n in peers]:
            status = candidate["status"] if candidate else "none"
            share = candidate.get("share_of_ceiling") if candidate else None
            cells.append({"timed": f"{share:9.3f}" if share else "", "wrong": "    WRONG"}.get(status, "        -"))
        print(f"{case['name']:32} " + " ".join(cells))
    summary = summarize(suite)
    print(f"{suite['name']}: {summary['timed']} of {summary['cases']} cases timed; of ceiling: geometric mean "
          f"{summary['mean_of_ceiling']:.3f}, minimum {summary['least_of_ceiling']:.3f} ({summary['least_case']}); "
          f"of libc: {summary['mean_of_library']:.3f}; best peer of each case: "
          f"{summary['best_peer_mean_of_ceiling']:.3f} of ceiling")
    for lost in summary["lost_cases"]:
        print(f"  a peer is faster: {lost}")
    print()
