# The front door. `make demo` and `make test` set a bare Debian 12 machine up by themselves.
INPUT ?=

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

# A few problems against plain copies of the same bytes.
bench: setup
	cmake --preset release -D RESTRIDE_TESTS=OFF
	cmake --build --preset release --target restride_command
	build/release/tools/restride bench \
	  "f32[4096,4096] -> f32[4096,4096]{0,1}" \
	  "u8[1080,1920,3] -> u8[1080,1920,3]{1,0,2}" \
	  "f32[64] -> f32[32,64,56,56] dims={1}"

format:
	git ls-files '*.cpp' '*.hpp' '*.c' '*.h' | xargs clang-format -i
