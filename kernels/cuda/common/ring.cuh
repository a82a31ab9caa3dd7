#pragma once

// Blocks that fetch and multiply at once, by Hopper's instructions: four warps fill a ring of stages in
// shared memory, round after round, two warpgroups multiply what lies there. A barrier a stage says that it
// is full, another that it is empty.

#include "ampere.cuh"
#include "hopper.cuh"

namespace tandem::kernels::cuda {

constexpr int warpgroups = 2, consumers = warpgroups * 128;  // threads
constexpr int fetchers = 4;                                  // warps, after the consumers
constexpr int threads = consumers + fetchers * 32;

/// The place of consumers on their way around the ring.
struct Step {
  int number, stage, round;
};

/// A ring in dynamic shared memory: boxes of all stages, then notes, what else a stage has, then barriers.
/// `box_bytes` are those of a stage, in whole patterns of the swizzle, 1024.
template <class Notes>
struct Ring {
  static_assert(sizeof(Notes) % 8 == 0, "barriers come after the notes");
  int stages;
  unsigned boxes, full, empty;  ///< addresses
  Notes* notes;

  static int bytes(int stages, int box_bytes) { return 1024 + stages * (box_bytes + size_of<Notes> + 16); }
  static int stages_that_fit(int box_bytes) {
    constexpr int most_shared = 226 * 1024;  // a block may have one more, for variables
    int stages = 8;
    while (bytes(stages, box_bytes) > most_shared) --stages;
    return stages;
  }

  /// All threads of the block make it.
  __device__ Ring(int count, int box_bytes) : stages(count) {
    extern __shared__ unsigned char shared[];
    const unsigned start = shared_address(shared);
    boxes = (start + 1023) & ~1023u;
    notes = reinterpret_cast<Notes*>(shared + (boxes - start) + stages * box_bytes);
    full = shared_address(notes + stages), empty = full + 8 * stages;
    if (threadIdx.x == 0) {
      for (int s = 0; s < stages; ++s) {
        make_barrier(full_at(s), 32);
        make_barrier(empty_at(s), consumers);
      }
      publish_barriers();
    }
    __syncthreads();
  }

  __device__ unsigned full_at(int stage) const { return full + 8 * stage; }
  __device__ unsigned empty_at(int stage) const { return empty + 8 * stage; }

  // ---- fetching: each of the warps takes every fourth step, from its own number on

  static __device__ int fetcher() { return (threadIdx.x - consumers) / 32; }
  /// The stage of a step, once it is empty.
  __device__ int await_empty(int step) const {
    const int stage = step % stages, round = step / stages;
    if (round > 0) wait(empty_at(stage), (round - 1) & 1);
    return stage;
  }
  /// Begins a fetch: after the notes and before boxes of so many bytes in all, which arrive at
  /// `full_at(stage)`.
  __device__ void begin_fetch(int stage, int bytes) const {
    if (threadIdx.x % 32 == 0) arrive_expecting(full_at(stage), bytes);
    __syncwarp();
  }
  __device__ void end_fetch(int stage) const {
    __syncwarp();
    if (threadIdx.x % 32 != 0) arrive(full_at(stage));
  }

  // ---- multiplying

  __device__ void await_full(const Step& at) const { wait(full_at(at.stage), at.round & 1); }
  __device__ Step after(const Step& at) const {
    const bool last = at.stage + 1 == stages;
    return {at.number + 1, last ? 0 : at.stage + 1, last ? at.round + 1 : at.round};
  }

  /// A warpgroup, through `steps` stages of `parts` parts: `make(step, part, f)` computes the factors of a
  /// part while the products of the part before, `multiply(step, part, f)`, are under way. One more stage
  /// must be full: its first factors are made and not used. `finish(step)` follows all products of a stage.
  template <class Factors, int parts, class Make, class Multiply, class Finish>
  __device__ void consume(int steps, const Make& make, const Multiply& multiply, const Finish& finish) const {
    Factors f[parts + 1];
    Step at{};
    await_full(at);
    make(at, 0, f[0]);
#pragma unroll 1
    while (at.number < steps) {
      const Step next = after(at);
#pragma unroll
      for (int p = 0; p < parts; ++p) {
        begin_products();
        multiply(at, p, f[p]);
        end_products();
        if (p + 1 == parts) await_full(next);
        make(p + 1 < parts ? at : next, (p + 1) % parts, f[p + 1]);
        wait_products<0>();
      }
      f[0] = f[parts];
      arrive(empty_at(at.stage));
      finish(at);
      at = next;
    }
  }
};

/// Fetchers give registers to consumers, and each do their work.
template <class Fetch, class Multiply>
__device__ inline void divide_block(const Fetch& fetch, const Multiply& multiply) {
  if (threadIdx.x >= consumers) {
    give_registers<24>();
    fetch();
  } else {
    take_registers<240>();
    multiply();
  }
}

}  // namespace tandem::kernels::cuda
