#!/usr/bin/env bash
# Builds the libraries that a wheel has within: HDF5 and libtiff, from the sources of this system's release with
# its patches. The packages of the system would bring libcurl, Kerberos and libjbig (GPL) along.
#
# usage: python/wheel/libraries.sh PREFIX      archives and headers go into PREFIX; does nothing if they are there
set -euo pipefail

prefix=$(realpath -m "$1")
work=$prefix.build
[[ -f $prefix/done ]] && exit

fetch() {
  mkdir -p "$work/apt/parts" "$work/apt/lists/partial"
  local file name
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/{debian,ubuntu}.sources; do
    [[ -f $file ]] || continue
    name=$(basename "$file")
    sed -E 's/^deb( |$)/deb-src\1/; s/^Types:.*/Types: deb-src/' "$file" >"$work/apt/parts/${name/sources.list/system.list}"
  done
  local options=(-qq -o APT::Sandbox::User=root -o Dir::Etc::sourcelist=/dev/null
    -o "Dir::Etc::sourceparts=$work/apt/parts" -o "Dir::State::lists=$work/apt/lists")
  apt-get "${options[@]}" update
  (cd "$work" && apt-get "${options[@]}" source "$@" >source.log 2>&1) || { cat "$work/source.log" >&2; exit 1; }
}

build() {  # NAME OPTION...
  local name=$1 source=("$work/$1"-[0-9]*/) log=$work/$1.log
  mkdir "$work/build-$name"
  (
    cd "$work/build-$name"  # the configuration of HDF5 writes into the folder where it is
    cmake "${source[0]}" -G Ninja -Wno-dev -DCMAKE_BUILD_TYPE=Release -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
      -DBUILD_SHARED_LIBS=ON -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib "${@:2}" && ninja install
  ) >"$log" 2>&1 || { tail -30 "$log" >&2; exit 1; }
}

rm -rf "$prefix" "$work"
mkdir -p "$work"
echo "wheel: builds HDF5 and libtiff"
fetch hdf5 tiff
build hdf5 -DHDF5_ONLY_SHARED_LIBS=ON -DBUILD_TESTING=OFF -DHDF5_BUILD_TOOLS=OFF -DHDF5_BUILD_EXAMPLES=OFF -DHDF5_BUILD_CPP_LIB=OFF \
  -DHDF5_BUILD_HL_LIB=OFF -DHDF5_ENABLE_THREADSAFE=ON -DHDF5_ENABLE_Z_LIB_SUPPORT=ON -DHDF5_ENABLE_SZIP_SUPPORT=ON \
  -DHDF5_ENABLE_SZIP_ENCODING=ON
build tiff -Djbig=OFF -Dlerc=OFF -Dwebp=OFF -Dlzma=OFF \
  -Dtiff-tools=OFF -Dtiff-tests=OFF -Dtiff-contrib=OFF -Dtiff-docs=OFF -Dcxx=OFF
cp "$work"/hdf5-*/debian/copyright "$prefix/hdf5.copyright"
cp "$work"/tiff-*/debian/copyright "$prefix/tiff.copyright"
touch "$prefix/done"
