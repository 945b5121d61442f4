"""Result files of `restride bench`: reading them, the arithmetic on them, and the table."""

import csv
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
    """There whole or as it was."""
    for suite in results["suites"]:
        suite["summary"] = summarize(suite)
    unfinished = pathlib.Path(f"{path}.unfinished")
    unfinished.write_text(json.dumps(results, indent=1) + "\n")
    unfinished.replace(path)


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
        "peer_cases": len(peers),
        "best_peer_mean_of_ceiling": geometric_mean(p["share_of_ceiling"] for p in peers),
        "least_of_ceiling": least[1]["share_of_ceiling"] if least else 0,
        "least_case": least[0]["name"] if least else "",
        "lost_cases": lost,
    }


def timed_suites(results):
    return [suite for suite in results["suites"] if summarize(suite)["timed"]]


def write_csv(files, path):
    """As `restride bench --csv` does, for what was added since too."""
    fields = ["seconds", "median_seconds", "share_of_ceiling", "share_of_library", "prepare_seconds",
              "cache_hit_seconds", "code_bytes", "reason"]
    with open(path, "w", newline="") as table:
        writer = csv.writer(table, lineterminator="\n")
        writer.writerow(["suite", "case", "problem", "candidate", "role", "status", "bytes", *fields])
        for suite, case in (pair for file in files for pair in cases(file)):
            for c in case["candidates"]:
                writer.writerow([suite["name"], case["name"], case["problem"], c["name"], c["role"], c["status"],
                                 case["read_bytes"] + case["written_bytes"], *(c.get(field, "") for field in fields)])


def candidate_names(suite, role):
    """In the order of the file."""
    return list(dict.fromkeys(c["name"] for case in suite["cases"] for c in case["candidates"] if c["role"] == role))


def cell(candidate):
    if candidate and candidate["status"] == "timed":
        return f"{candidate['share_of_ceiling']:.3f}"
    return "WRONG" if candidate and candidate["status"] == "wrong" else "-"


def print_table(suite):
    """Shares of the ceiling: ours and every peer, a line a case."""
    peers = candidate_names(suite, "peer")
    widths = [max(9, len(name)) for name in ["restride", *peers]]
    print(f"{suite['name']}: {suite['about']}")
    print(f"{'share of ceiling':32} " + " ".join(f"{n:>{w}}" for n, w in zip(["restride", *peers], widths)))
    for case in suite["cases"]:
        by_name = {c["name"]: c for c in case["candidates"]}
        row = [best(case, "ours"), *(by_name.get(name) for name in peers)]
        print(f"{case['name']:32} " + " ".join(f"{cell(c):>{w}}" for c, w in zip(row, widths)))
    summary = summarize(suite)
    text = f"{suite['name']}: {summary['timed']} of {summary['cases']} cases timed"
    if summary["timed"]:
        text += (f"; of ceiling: geometric mean {summary['mean_of_ceiling']:.3f}, minimum "
                 f"{summary['least_of_ceiling']:.3f} ({summary['least_case']}); of libc: {summary['mean_of_library']:.3f}")
    if summary["peer_cases"]:
        text += f"; best peer of each case: {summary['best_peer_mean_of_ceiling']:.3f} of ceiling"
    print(text)
    for lost in summary["lost_cases"]:
        print(f"  a peer is faster: {lost}")
    print()
