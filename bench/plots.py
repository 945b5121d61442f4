"""Pictures of results, one PNG and one SVG each.

    python3 bench/plots.py suites RESULTS.json FOLDER       ours, the best peer and every peer, a bar chart a suite
    python3 bench/plots.py cliffs CLIFFS.json FOLDER        heat maps of `restride bench --cliff-map CLIFFS.json`
    python3 bench/plots.py sizes SIZES.json FOLDER          share against size, of `--suite sizes`
"""

import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402: after the choice of what draws

import results  # noqa: E402

OURS, PEER = "#1f6fb4", "#c9c9c9"


def save(figure, folder, name):
    folder.mkdir(parents=True, exist_ok=True)
    for form in ("png", "svg"):
        figure.savefig(folder / f"{name}.{form}", dpi=120, bbox_inches="tight")
    plt.close(figure)
    print(folder / f"{name}.png")


def footnote(figure, file):
    machine = file["machine"]
    text = (f"{machine['processor']}, {file['settings']['threads']} thread(s), pages {file['settings']['pages']}, "
            f"restride {file['restride']}")
    figure.text(0.01, -0.02, text, fontsize=7, color="gray")


def mean_share(suite, name):
    """Geometric mean over the cases that a candidate does."""
    shares = [c["share_of_ceiling"] for case in suite["cases"] for c in case["candidates"]
              if c["name"] == name and c["status"] == "timed"]
    return results.geometric_mean(shares), len(shares)


def plot_suite(suite, file, folder):
    summary = results.summarize(suite)
    bars = [("restride", summary["mean_of_ceiling"], summary["timed"], OURS)]
    if summary["best_peer_mean_of_ceiling"]:
        bars.append(("best peer\nof each case", summary["best_peer_mean_of_ceiling"], summary["cases"], "#7f7f7f"))
    peers = [(name, *mean_share(suite, name), PEER) for name in results.candidate_names(suite, "peer")]
    bars += sorted((bar for bar in peers if bar[2]), key=lambda bar: -bar[1])
    figure, axes = plt.subplots(figsize=(1.6 + 0.9 * len(bars), 3.6))
    drawn = axes.bar([b[0] for b in bars], [b[1] for b in bars], color=[b[3] for b in bars])
    axes.bar_label(drawn, [f"{b[1]:.2f}\n{b[2]} cases" for b in bars], fontsize=7)
    axes.axhline(1, color="black", linewidth=0.8, linestyle="--")
    axes.set_ylabel("share of the ceiling (geometric mean)")
    axes.set_ylim(0, max(1.2, 1.2 * max(b[1] for b in bars)))
    axes.set_title(suite["name"])
    axes.tick_params(axis="x", labelsize=8)
    footnote(figure, file)
    save(figure, folder, f"suite_{suite['name']}")


def plot_suites(file, folder):
    for suite in file["suites"]:
        if results.summarize(suite)["timed"]:
            plot_suite(suite, file, folder)


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


def draw_grid(axes, grid, title):
    rows, columns = sorted({k[0] for k in grid}), sorted({k[1] for k in grid})
    image = [[grid.get((r, c), float("nan")) for c in columns] for r in rows]
    drawn = axes.imshow(image, vmin=0, vmax=1, cmap="RdYlGn", origin="lower", aspect="auto")
    axes.set_title(title, fontsize=9)
    for ticks, labels, extents in ((axes.set_xticks, axes.set_xticklabels, columns),
                                   (axes.set_yticks, axes.set_yticklabels, rows)):
        ticks(range(len(extents)))
        labels(extents, fontsize=5)
    axes.tick_params(axis="x", rotation=90)
    return drawn


def plot_cliffs(file, folder):
    grids = cliff_grids(file)
    for order in dict.fromkeys(key[0] for key in grids):
        widths = sorted(key[1] for key in grids if key[0] == order)
        figure, axes = plt.subplots(1, len(widths), figsize=(4.2 * len(widths), 4), squeeze=False)
        for cell, width in zip(axes[0], widths):
            drawn = draw_grid(cell, grids[order, width], f"{order[1:]}, {width} bytes")
        axes[0][0].set_ylabel("rows")
        figure.colorbar(drawn, ax=axes[0].tolist(), label="share of the ceiling", shrink=0.8)
        footnote(figure, file)
        save(figure, folder, f"cliffs_{order}")


def plot_sizes(file, folder):
    for suite in file["suites"]:
        figure, axes = plt.subplots(figsize=(7, 4))
        lines = {}
        for case in suite["cases"]:
            size = (case["read_bytes"] + case["written_bytes"]) / 2
            for candidate in case["candidates"]:
                if candidate["status"] == "timed" and candidate["role"] != "reference":
                    name = "restride" if candidate["role"] == "ours" else candidate["name"]
                    lines.setdefault(name, []).append((size, candidate["share_of_ceiling"]))
        for name, points in sorted(lines.items(), key=lambda line: line[0] != "restride"):
            points.sort()
            width = 2.4 if name == "restride" else 1
            axes.plot(*zip(*points), label=name, marker="o", markersize=3, linewidth=width)
        axes.set_xscale("log", base=2)
        ticks = [2**k for k in range(10, 29, 2)]
        axes.set_xticks(ticks, [f"{t >> 20} MB" if t >= 1 << 20 else f"{t >> 10} KB" for t in ticks], fontsize=8)
        axes.axhline(1, color="black", linewidth=0.8, linestyle="--")
        axes.set_xlabel("bytes of the array")
        axes.set_ylabel("share of the ceiling")
        axes.set_title(suite["about"], fontsize=9)
        axes.legend(fontsize=7)
        footnote(figure, file)
        save(figure, folder, f"share_by_{suite['name']}")


def main():
    kinds = {"suites": plot_suites, "cliffs": plot_cliffs, "sizes": plot_sizes}
    if len(sys.argv) != 4 or sys.argv[1] not in kinds:
        sys.exit(__doc__)
    kinds[sys.argv[1]](results.load(sys.argv[2]), pathlib.Path(sys.argv[3]))


if __name__ == "__main__":
    main()
