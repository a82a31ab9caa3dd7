#!/usr/bin/env bash
# Builds the program and the Python package into a folder, on Debian 12 or Ubuntu 24.04, for an image without compiler.
# There, with the folder in the same place, its install_libraries.sh installs the packages that they need.
#
# usage: packaging/build.sh FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1

cmake/setup.sh python3-dev python3-venv
python3 -m venv "$folder"
PIP_CONSTRAINT=$PWD/python/constraints.txt "$folder/bin/pip" install --no-cache-dir .

packages=(python3 openmpi-bin)  # openmpi-bin has mpirun
while read -r library; do
  packages+=("$(dpkg-query --search "*/$(basename "$(realpath "$library")")" | cut -d: -f1 | head -1)")
done < <(ldd "$folder/bin/tandem" "$folder"/lib/python3*/site-packages/tandem/_core*.so | awk '$2 == "=>" {print $3}' | sort -u)
cat >"$folder/install_libraries.sh" <<END
#!/bin/sh
set -e
apt-get -qq update
DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $(printf '%s\n' "${packages[@]}" | sort -u | xargs)
rm -rf /var/lib/apt/lists/*
END
chmod +x "$folder/install_libraries.sh"
