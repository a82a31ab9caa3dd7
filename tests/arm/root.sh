#!/usr/bin/env bash
# Unpacks packages of another architecture from the archive of this system into a folder. Nothing is installed.
#
# usage: tests/arm/root.sh ARCHITECTURE FOLDER PACKAGE...
set -euo pipefail

architecture=$1 folder=$(realpath -m "$2")
shift 2
if [ "$(cat "$folder/packages" 2>/dev/null)" = "$*" ]; then exit; fi
rm -rf "$folder"
mkdir -p "$folder"/apt/{lists,cache/archives}/partial
touch "$folder/apt/status"
apt=(
  apt-get -qq -o "APT::Architectures::=$architecture" -o APT::Sandbox::User= -o "Dir::State=$folder/apt"
  -o "Dir::State::lists=$folder/apt/lists" -o "Dir::State::status=$folder/apt/status" -o "Dir::Cache=$folder/apt/cache"
)
"${apt[@]}" update || echo "root: not all archives have $architecture" >&2
cd "$folder/apt/cache"
"${apt[@]}" download "${@/%/:$architecture}"
for package in *.deb; do dpkg-deb --extract "$package" "$folder"; done
rm -r "$folder/apt"
echo "$*" >"$folder/packages"
