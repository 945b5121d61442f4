"""Pictures of results, one PNG and one SVG each.

    python3 bench/plots.py suites RESULTS.json FOLDER       ours, the best peer and every peer, a bar chart a suite
    python3 bench/plots.py cliffs CLIFFS.json FOLDER        heat maps of `restride bench --cliff-map CLIFFS.json`
    python3 bench/plots.py sizes SIZES.json FOLDER          share against size, of `--suite sizes`

report.py draws the same as pictures for a page.
"""

import math
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402: after the choice of what draws

import results  # noqa: E402

OURS, BEST, PEER = "#1f6fb4", "#7f7f7f", "#c9c9c9"
COLUMNS = 4  # of bar charts in one picture


def save(figure, folder, name, forms=("png", "svg")):
    folder.mkdir(parents=True, exist_ok=True)
    for form in forms:
        figure.savefig(folder / f"{name}.{form}", dpi=110, bbox_inches="tight")
    plt.close(figure)
    return folder / f"{name}.{forms[0]}"


def footnote(figure, file):
    machine = file["machine"]
    text = (f"{machine['processor']}, {file['settings']['threads']} thread(s), pages {file['settings']['pages']}, "
            f"restride {file['restride']}")
    figure.text(0.01, -0.02, text, fontsize=7, color="gray")


def mean_share(suite, name):
    """Geometric mean over the cases that a candidate does, and how many these are."""
    shares = [c["share_of_ceiling"] for case in suite["cases"] for c in case["candidates"]
              if c["name"] == name and c["status"] == "timed"]
    return results.geometric_mean(shares), len(shares)


def draw_suite(axes, suite):
    """Bars from top to bottom: ours, the best peer of each case, each peer."""
    summary = results.summarize(suite)
    bars = [("restride", summary["mean_of_ceiling"], summary["timed"], OURS)]
    if summary["best_peer_mean_of_ceiling"]:
        bars.append(("best peer of each", summary["best_peer_mean_of_ceiling"], summary["peer_cases"], BEST))
    peers = [(name, *mean_share(suite, name), PEER) for name in results.candidate_names(suite, "peer")]
    bars += sorted((bar for bar in peers if bar[2]), key=lambda bar: -bar[1])
    bars.reverse()
    drawn = axes.barh([b[0] for b in bars], [b[1] for b in bars], color=[b[3] for b in bars])
    axes.bar_label(drawn, [f" {b[1]:.2f} ({b[2]})" for b in bars], fontsize=6)
    axes.axvline(1, color="black", linewidth=0.8, linestyle="--")
    axes.set_xlim(0, max(1.3, 1.3 * max(b[1] for b in bars)))
    axes.set_title(f"{suite['name']}: {summary['timed']} cases", fontsize=9)
    axes.tick_params(labelsize=7)


def draw_suites(suites, file):
    columns = min(COLUMNS, len(suites))
    rows = math.ceil(len(suites) / columns)
    figure, axes = plt.subplots(rows, columns, figsize=(3.6 * columns, 3.2 * rows), squeeze=False, layout="constrained")
    for cell in axes.flat[len(suites):]:
        cell.axis("off")
    for cell, suite in zip(axes.flat, suites):
        draw_suite(cell, suite)
    figure.supxlabel("share of the ceiling, geometric mean (over so many cases)", fontsize=8)
    footnote(figure, file)
    return figure


def plot_suites(file, folder):
    for suite in results.timed_suites(file):
        print(save(draw_suites([suite], file), folder, f"suite_{suite['name']}"))


def cliff_grids(file):
    """{(order, width): {(rows, columns): share}} from names like `p10_4x63x1025`."""
    grids = {}
    for _, case in results.cases(file):
        ours = results.best(case, "ours")
        order, numbers = case["name"].split("_")
        width, rows, columns = map(int, numbers.split("x"))
        if ours:
            grids.setdefault((order, width), {})[rows, columns] = ours["share_of_ceiling"]
    return grids


def labelled(extents):
    """Places and labels: of a long axis every tenth extent and the powers of two beyond the dense part."""
    if len(extents) <= 20:
        return list(enumerate(extents))
    return [(i, e) for i, e in enumerate(extents) if (e % 10 == 0 and e < 70) or (e > 70 and e & (e - 1) == 0)]


def draw_grid(axes, grid, title):
    rows, columns = sorted({k[0] for k in grid}), sorted({k[1] for k in grid})
    image = [[grid.get((r, c), float("nan")) for c in columns] for r in rows]
    drawn = axes.imshow(image, vmin=0, vmax=1, cmap="RdYlGn", origin="lower", aspect="auto", interpolation="nearest")
    axes.set_title(title, fontsize=9)
    for ticks, extents in ((axes.set_xticks, labelled(columns)), (axes.set_yticks, labelled(rows))):
        ticks([place for place, _ in extents], [extent for _, extent in extents], fontsize=5)
    axes.tick_params(axis="x", rotation=90)
    return drawn


def draw_cliffs(grids, orders, file):
    """A row an order, a column a width."""
    widths = sorted({width for order, width in grids if order in orders})
    figure, axes = plt.subplots(len(orders), len(widths), squeeze=False, layout="constrained",
                                figsize=(2.9 * len(widths), (3 if len(orders) == 1 else 2.4) * len(orders)))
    for row, order in zip(axes, orders):
        for cell, width in zip(row, widths):
            if (order, width) in grids:
                drawn = draw_grid(cell, grids[order, width], f"({', '.join(order[1:])}), {width} bytes")
        row[0].set_ylabel("rows", fontsize=7)
    for cell in axes[-1]:
        cell.set_xlabel("columns", fontsize=7)
    figure.colorbar(drawn, ax=axes.ravel().tolist(), label="share of the ceiling", shrink=0.8)
    footnote(figure, file)
    return figure


def orders_of(grids):
    return list(dict.fromkeys(order for order, _ in grids))


def plot_cliffs(file, folder):
    grids = cliff_grids(file)
    for order in orders_of(grids):
        print(save(draw_cliffs(grids, [order], file), folder, f"cliffs_{order}"))


def draw_sizes(suite, file):
    figure, axes = plt.subplots(figsize=(8, 4.2))
    lines = {}
    for case in suite["cases"]:
        size = (case["read_bytes"] + case["written_bytes"]) / 2
        for candidate in case["candidates"]:
            if candidate["status"] == "timed" and candidate["role"] != "reference":
                name = "restride" if candidate["role"] == "ours" else candidate["name"]
                lines.setdefault(name, []).append((size, candidate["share_of_ceiling"]))
    colors = iter(plt.get_cmap("tab20").colors)
    for name, points in sorted(lines.items(), key=lambda line: line[0] != "restride"):
        points.sort()
        axes.plot(*zip(*points), label=name, color=next(colors, "gray"), marker="o", markersize=3,
                  linewidth=2.4 if name == "restride" else 1)
    axes.set_xscale("log", base=2)
    ticks = [2**k for k in range(10, 29, 2)]
    axes.set_xticks(ticks, [f"{t >> 20} MB" if t >= 1 << 20 else f"{t >> 10} KB" for t in ticks], fontsize=8)
    axes.axhline(1, color="black", linewidth=0.8, linestyle="--")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("bytes of the array")
    axes.set_ylabel("share of the ceiling")
    axes.set_title(suite["about"], fontsize=9)
    axes.legend(fontsize=7, ncols=2)
    footnote(figure, file)
    return figure


def plot_sizes(file, folder):
    for suite in results.timed_suites(file):
        print(save(draw_sizes(suite, file), folder, f"share_by_{suite['name']}"))


def main():
    kinds = {"suites": plot_suites, "cliffs": plot_cliffs, "sizes": plot_sizes}
    if len(sys.argv) != 4 or sys.argv[1] not in kinds:
        sys.exit(__doc__)
    kinds[sys.argv[1]](results.load(sys.argv[2]), pathlib.Path(sys.argv[3]))


if __name__ == "__main__":
    main()
