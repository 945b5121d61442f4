# Cross compiles for 64-bit Arm and runs the tests under an emulator.
# Debian: scripts/setup aarch64
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

# Debian keeps the libraries of both machines side by side: ours are found in lib/aarch64-linux-gnu, never those of the
# machine that builds. The emulator finds loader and libraries where an Arm machine has them.
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_SYSTEM_PREFIX_PATH /usr)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "-Wl,-rpath-link,/usr/lib/aarch64-linux-gnu")
endforeach()

# With SVE registers that a target has: both it and neon run there.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static;-cpu;max,sve-default-vector-length=32)
