#!/usr/bin/env bash
# Installs a wheel where nothing else is, looks at what it loads, makes a first picture, and runs the tests of Python.
#
# usage: python/wheel/try.sh PYTHON FOLDER [OPTION...]      FOLDER: as for build.sh
#                                                           OPTION: further ones of pip, such as -c python/constraints.txt
set -euo pipefail

source=$(realpath "$(dirname "$0")/../..")
python=$1
folder=$(realpath "$2")
wheels=("$folder"/dist/*.whl)
bare=$folder/bare
own() { env -i PATH="$bare/bin:/usr/bin:/bin" HOME="$bare" "$@"; }  # as on a machine where only this was installed

size=$(stat --format=%s "${wheels[0]}")
((size < 60000000)) || { echo "wheel: $size bytes, of 60,000,000 that it may have" >&2; exit 1; }

rm -rf "$bare"
begin=$SECONDS
"$python" -m venv "$bare"
"$bare/bin/python" -m pip install --quiet "${wheels[0]}"
cd "$bare"
own tandem simulate -o scan.h5 --size 128 --views 180 --quiet >tandem.log
own tandem recon scan.h5 -o volume.h5 --preview first.png --quiet >>tandem.log
[[ -s first.png ]]
echo "wheel: installed, and a first picture made, after $((SECONDS - begin)) s"

installed=$(own python -c 'import os, tandem; print(os.path.dirname(tandem.__path__[0]))')
[[ $installed == "$bare"/* ]]
everywhere='linux-vdso|ld-linux-x86-64|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+|z)\.so'  # on any Linux: policy of manylinux
foreign=$(ldd "$installed"/tandem/_core*.so "$installed/tandem.scripts/tandem" |
  grep -vE "^/|=> $installed/|^\s*\S*($everywhere)" || true)
[[ -z $foreign ]] || { echo "wheel: needs libraries that a system may lack: $foreign" >&2; exit 1; }

cd "$source"
"$bare/bin/python" -m pip install --quiet "${@:3}" pytest scipy
begin=$SECONDS
own TANDEM_PROGRAM="$bare/bin/tandem" python -m pytest -q -p no:cacheprovider --basetemp="$bare/tests"
echo "wheel: its tests took $((SECONDS - begin)) s"
