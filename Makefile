# The front door. `make demo` and `make test` set a bare Debian 12 machine up by themselves.
INPUT ?=
BENCH_OPTIONS ?=

.PHONY: setup release demo test bench format

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

# All suites against plain copies and peers, with tables and pictures: build/bench/results. BENCH_OPTIONS=--quick is faster.
bench:
	scripts/setup --bench
	scripts/bench $(BENCH_OPTIONS)

format:
	git ls-files '*.cpp' '*.hpp' '*.c' '*.h' | xargs clang-format -i
