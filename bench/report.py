"""A page of figures and pictures from a folder of results.

    python3 bench/report.py build/bench/results build/bench/results/report.md
    python3 bench/report.py build/bench/results bench/RESULTS.md README.md

The folder is that of `make bench`: SUITE.json, sizes.json, cliffs.json; what is missing is left out. Folders in it
hold the same suites in other settings, which get a table of their own. Pictures go to
`images` beside the page. With a third file the summary is also put into it, between the lines
`<!-- measured: begin -->` and `<!-- measured: end -->`. The folder gets results.csv, with every candidate of every case.
"""

import os
import pathlib
import statistics
import sys

import results

SUITES = ["dl", "matrix", "layout", "broadcast", "fused", "small", "ttc"]
BEGIN, END = "<!-- measured: begin -->\n", "<!-- measured: end -->\n"


def load_folder(folder):
    """{name: file} of what is there."""
    paths = {name: folder / f"{name}.json" for name in [*SUITES, "sizes", "cliffs"]}
    return {name: results.load(path) for name, path in paths.items() if path.exists()}


def load_variants(folder):
    """{what is other in it: {name: file}} of the folders in this one."""
    folders = sorted(entry for entry in folder.iterdir() if entry.is_dir())
    variants = {inner.name: load_folder(inner) for inner in folders}
    return {variant_name(next(iter(files.values()))["settings"]): files for files in variants.values() if files}


def variant_name(settings):
    return f"planned for {settings['target']}, threads {settings['threads']}"


def figure(value):
    """.80 for 0.8, as shares are written here."""
    text = f"{value:.2f}"
    return text[1:] if text.startswith("0.") else text


def suites_of(files):
    return [suite for name in SUITES if name in files for suite in results.timed_suites(files[name])]


def machine_text(file):
    machine, settings = file["machine"], file["settings"]
    caches = ", ".join(f"{name} {size >> 10} KiB" for name, size in machine["caches"].items())
    peers = ", ".join(f"{name} {version}".strip() for name, version in settings["peers"].items())
    return (f"{machine['processor']}, {machine['processors']} processors, {caches}; {machine['system']}; "
            f"{machine['compiler']}; threads {settings['threads']}, pages {settings['pages']} (kernel: "
            f"{machine['huge_pages']}).\n\nPeers: {peers}.\n")


def summary_table(suites):
    lines = ["| suite | cases | geometric mean | of `memcpy` | worst case | best peer of each case | peers faster in |",
             "|---|---|---|---|---|---|---|"]
    for suite in suites:
        s = results.summarize(suite)
        best = figure(s["best_peer_mean_of_ceiling"]) if s["peer_cases"] else "-"
        lines.append(f"| `{suite['name']}` | {s['timed']} | {figure(s['mean_of_ceiling'])} | "
                     f"{figure(s['mean_of_library'])} | {figure(s['least_of_ceiling'])} `{s['least_case']}` | "
                     f"{best} | {len(s['lost_cases'])} |")
    return "\n".join(lines) + "\n"


def variants_table(variants):
    """Geometric mean and worst case of each suite. Each share is of the ceiling in the same settings."""
    if not variants:
        return ""
    lines = [f"| suite | {' | '.join(variants)} |", "|---" * (len(variants) + 1) + "|"]
    for name in SUITES:
        found = [suites_of({name: files[name]}) if name in files else [] for files in variants.values()]
        if any(found):
            lines.append(f"| `{name}` | " + " | ".join(mean_and_worst(suites) for suites in found) + " |")
    return "\nGeometric mean and worst case in other settings:\n\n" + "\n".join(lines) + "\n"


def mean_and_worst(suites):
    if not suites:
        return "-"
    s = results.summarize(suites[0])
    return f"{figure(s['mean_of_ceiling'])}, {figure(s['least_of_ceiling'])} `{s['least_case']}`"


def prices(suites):
    ours = [c for suite in suites for case in suite["cases"] if (c := results.best(case, "ours"))]

    def spread(name, factor):
        values = sorted(c[name] * factor for c in ours)
        return f"{statistics.median(values):.0f} (at most {values[-1]:.0f})"
    return (f"Over these {len(ours)} cases a plan made afresh costs {spread('prepare_seconds', 1e6)} µs in the median, "
            f"one found again {spread('cache_hit_seconds', 1e9)} ns, and its code takes "
            f"{spread('code_bytes', 1)} bytes.\n")


def verdicts(suites):
    """Where a peer is faster, and who was wrong."""
    lost = [f"`{name}`: {text}" for suite in suites for name, _, text in
            (entry.partition(" ") for entry in results.summarize(suite)["lost_cases"])]
    wrong = [f"`{case['name']}`: {c['name']} ({c.get('reason', '')})" for suite in suites for case in suite["cases"]
             for c in case["candidates"] if c["status"] == "wrong"]
    text = "Cases in which a peer is faster: " + ("none.\n" if not lost else f"{len(lost)}.\n\n")
    text += "".join(f"- {line}\n" for line in lost)
    return text + ("\nWrong results, which are not timed:\n\n" + "".join(f"- {w}\n" for w in wrong) if wrong else "")


def case_table(suite):
    peers = results.candidate_names(suite, "peer")
    text = f"\n## {suite['name']}\n{suite['about']}\n\n"
    text += "| case | MB | µs | restride | " + " | ".join(peers) + " | plan µs | hit ns | code B |\n"
    text += "|---" * (len(peers) + 7) + "|\n"
    for case in suite["cases"]:
        ours, by_name = results.best(case, "ours"), {c["name"]: c for c in case["candidates"]}
        cells = [case["name"], f"{(case['read_bytes'] + case['written_bytes']) / 1e6:.3f}"]
        cells += [f"{ours['seconds'] * 1e6:.3f}" if ours else "-", results.cell(ours)]
        cells += [results.cell(by_name.get(name)) for name in peers]
        cells += [f"{ours[name] * factor:.0f}" if ours else "-" for name, factor in
                  (("prepare_seconds", 1e6), ("cache_hit_seconds", 1e9), ("code_bytes", 1))]
        text += "| " + " | ".join(cells) + " |\n"
    return text


def draw(files, suites, images):
    """{title: picture}; none where there is nothing to draw with."""
    try:
        import plots
    except ImportError as error:
        print(f"no pictures: {error}", file=sys.stderr)
        return {}
    pictures = {}

    def add(title, drawn, name):
        pictures[title] = plots.save(drawn, images, name, ("png",))
    if suites:
        add("Suites against peers", plots.draw_suites(suites, next(iter(files.values()))), "suites")
    if "sizes" in files:
        add("Share of the ceiling by size", plots.draw_sizes(files["sizes"]["suites"][0], files["sizes"]), "sizes")
    if "cliffs" in files:
        grids = plots.cliff_grids(files["cliffs"])
        for rank, title in ((2, "Cliff map: matrix transposes"), (3, "Cliff map: permutations of 24 x rows x columns")):
            orders = [order for order in plots.orders_of(grids) if len(order) == rank + 1]
            if orders:
                add(title, plots.draw_cliffs(grids, orders, files["cliffs"]), f"cliffs_{rank}d")
    return pictures


def links(pictures, page):
    return "".join(f"\n![{title}]({os.path.relpath(picture, page.parent)})\n" for title, picture in pictures.items())


def summary(files, variants, pictures, page):
    text = machine_text(next(iter(files.values())))
    if suites := suites_of(files):
        text += "\n" + summary_table(suites) + variants_table(variants)
        text += "\n" + prices(suites) + "\n" + verdicts(suites)
    return text + links(pictures, page)


def replace_section(page, text):
    before, begin, rest = page.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"{page}: there are no lines {BEGIN.strip()} and {END.strip()}")
    page.write_text(before + begin + text + end + after)


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    folder, page = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    files, variants = load_folder(folder), load_variants(folder)
    if not files:
        sys.exit(f"{folder}: no results; `make bench` makes them")
    suites = suites_of(files)
    pictures = draw(files, suites, page.parent / "images")
    heading = "# Results\nMade by `make bench`; shares are of the ceiling, see `bench/README.md` for the method.\n\n"
    page.write_text(heading + summary(files, variants, pictures, page) + "".join(map(case_table, suites)))
    results.write_csv(files.values(), folder / "results.csv")
    if len(sys.argv) == 4:
        short = pathlib.Path(sys.argv[3])
        more = f"\nEvery case and the other pictures: [{page.name}]({os.path.relpath(page, short.parent)}).\n"
        shown = {title: picture for title, picture in pictures.items() if "permutations" not in title}
        replace_section(short, summary(files, variants, shown, short) + more)


if __name__ == "__main__":
    main()
