#!/usr/bin/env bash
# A head phantom seen with few photons in few views, reconstructed four ways. `make demo` runs this.
#
# usage: examples/demo.sh [BUILD] [OUT]
set -euo pipefail
build=${1:-build/cpu}
out=${2:-out/demo}
tandem=$build/tandem
mkdir -p "$out"

run() {
  echo "+ ${*//$build\//}"
  "$@"
}

run "$tandem" simulate -o "$out/scan.h5" --phantom shepp-logan --size 256 --bins 256 --rows 1 --views 90 \
  --photons 1e4 --max-attenuation 3 --truth "$out/truth.h5"
recon() {  # NAME OPTION...
  run "$tandem" recon "$out/scan.h5" -o "$out/$1.h5" "${@:2}" --truth "$out/truth.h5" --json "$out/$1.json"
}
recon fbp --fbp-filter ramp
recon fbp_hann --fbp-filter hann
recon cgls --reconstruction-algorithm cgls --stop discrepancy --iterations 50
recon tv --reconstruction-algorithm tv

"$build/examples/compare_volumes" "$out/demo.png" "$out/demo.json" "$out/truth.h5" \
  "$out"/{fbp,fbp_hann,cgls,tv}.h5
echo "picture: $out/demo.png; table: $out/demo.json"
