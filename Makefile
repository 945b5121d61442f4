# The front door. `make demo` and `make test` set a bare Debian 12 machine up by themselves.
INPUT ?=
BENCH_OPTIONS ?=

.PHONY: setup release demo test test-aarch64 bench bench-readme format

setup:
	scripts/setup

release: setup
	cmake --preset release
	cmake --build --preset release

# Shows the library on a photograph, or on an array of yours: make demo INPUT=path.npy
demo: setup
	scripts/demo $(INPUT)

test: release
	ctest --preset release

# The same for 64-bit Arm under an emulator: kernels compiled here and run there, and the library itself.
test-aarch64: release
	scripts/setup aarch64
	scripts/test_aarch64

# All suites against plain copies and peers, with tables and pictures: build/bench/results/report.md. About half an hour on
# an idle machine; goes on where it was cut off. BENCH_OPTIONS=--quick is faster, BENCH_OPTIONS=--fresh starts over.
bench:
	scripts/setup --bench
	scripts/bench $(BENCH_OPTIONS)

# Puts the figures and pictures of the last `make bench` into README.md and bench/RESULTS.md.
bench-readme:
	/usr/bin/python3 -B bench/report.py build/bench/results bench/RESULTS.md README.md

format:
	git ls-files '*.cpp' '*.hpp' '*.c' '*.h' | xargs clang-format -i
