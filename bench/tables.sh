#!/bin/bash
# The tables of docs/performance.md on this machine's GPU, after Chilingaryan et al. 2018 (tables II and III,
# figure 4): bench/tables.sh PROGRAM FOLDER. Where ncu is, it says how busy the parts of the chip are.
set -euo pipefail
program=$1 folder=$2
mkdir -p "$folder"

measure() {  # NAME OPTION...
  local name=$1
  shift
  "$program" bench parallel --device cuda --quiet --json "$folder/$name.json" "$@"
}

echo "tables II and III: one, two and four slices"
measure table-2-3 --variant all --precision all --slices 1,2,4 --size 2048 --views 2048 --repeat 10

echo "figure 4: cubes of N pixels, views and bins; as many slices as a kernel takes at once"
for n in 128 256 384 512 768 1024 1536 2048 3072 4096; do
  for variant in standard texture alu hybrid; do
    measure "figure-4-$variant-$n" --variant $variant --slices 4 --size $n --views $n --repeat 5 | tail -n +2 | grep back
  done
  measure "figure-4-tensor-$n" --variant tensor --precision float16 --slices 128 --size $n --views $n --repeat 5 | tail -n +2
done

command -v ncu >/dev/null || exit 0
echo "utilization, percent"
metrics=l1tex__data_pipe_tex_wavefronts,l1tex__data_pipe_lsu_wavefronts,sm__inst_executed_pipe_fma,sm__inst_executed_pipe_xu,sm__inst_issued
for variant in texture alu hybrid; do
  for slices in 1 2 4; do
    echo "$variant, $slices slices"
    ncu --clock-control none --kernel-name regex:backward --metrics "${metrics//,/.avg.pct_of_peak_sustained_elapsed,}.avg.pct_of_peak_sustained_elapsed" \
      "$program" bench parallel --device cuda --quiet --variant $variant --slices $slices --size 2048 --views 2048 --repeat 1 2>&1 |
      grep pct_of_peak | tail -5
  done
done
