#!/usr/bin/env bash
# Puts in place what the build and the tests need; does nothing where all is there.
# Debian 12, Ubuntu 24.04 and their like: installs packages. Elsewhere: names what is missing.
#
# usage: cmake/setup.sh [PACKAGE...]      further packages, e.g. clang-format-14
set -euo pipefail

packages=(
  g++ cmake ninja-build ccache pkg-config python3
  libtbb-dev libhwy-dev libeigen3-dev libhdf5-dev libtiff-dev libpng-dev libdeflate-dev
  liblz4-dev libzstd-dev libblosc-dev libpugixml-dev libopenmpi-dev openmpi-bin
  libcli11-dev libtomlplusplus-dev nlohmann-json3-dev libgtest-dev librapidcheck-dev "$@"
)

say() { echo "setup: $*"; }

install_missing() {
  local installed missing=()
  installed=$(dpkg-query -W -f='${db:Status-Abbrev}${Package}\n' "${packages[@]}" 2>/dev/null || true)
  for package in "${packages[@]}"; do
    grep -qxF "ii $package" <<<"$installed" || missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then
    say "all ${#packages[@]} packages are there"
    return
  fi
  local as_root=()
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      say "not root and no sudo; please have these packages installed: ${missing[*]}" >&2
      exit 1
    fi
    as_root=(sudo)
  fi
  say "apt-get installs ${missing[*]}"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq update
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -o Dpkg::Use-Pty=0 install -y --no-install-recommends "${missing[@]}" </dev/null >/dev/null
  say "done"
}

name_missing() {
  local missing=()
  for program in g++ cmake ninja pkg-config python3; do
    command -v "$program" >/dev/null || missing+=("$program")
  done
  if command -v g++ >/dev/null; then
    local flags=(-I/usr/include/eigen3)
    read -ra more <<<"$(pkg-config --cflags-only-I eigen3 hdf5 2>/dev/null || true)"
    flags+=("${more[@]}")
    while read -r library header; do
      g++ "${flags[@]}" -std=c++20 -x c++ -E - >/dev/null 2>&1 <<<"#include <$header>" || missing+=("$library")
    done <<'LIBRARIES'
oneTBB tbb/global_control.h
Highway hwy/highway.h
Eigen Eigen/Core
HDF5 hdf5.h
libtiff tiffio.h
libpng png.h
libdeflate libdeflate.h
LZ4 lz4.h
Zstandard zstd.h
Blosc blosc.h
pugixml pugixml.hpp
CLI11 CLI/CLI.hpp
toml++ toml++/toml.h
nlohmann-json nlohmann/json.hpp
GoogleTest gtest/gtest.h
RapidCheck rapidcheck.h
LIBRARIES
  fi
  if ((${#missing[@]} == 0)); then
    say "all programs and libraries are there"
    return
  fi
  say "this system has no apt-get; please install: ${missing[*]}" >&2
  exit 1
}

if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
  install_missing
else
  name_missing
fi
