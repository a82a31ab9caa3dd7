#pragma once

// Instructions of every card since compute capability 8.0, by the names that the kernels call them: copies
// into shared memory, products of a warp (PTX ISA 7.0, sections 9.7.8 and 9.7.13).

namespace tandem::kernels::cuda {

// ---- copies: `to` is in shared memory

/// Begins to copy 16 bytes, or zeros unless `inside`.
__device__ inline void begin_copy(unsigned to, const void* from, bool inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(inside ? 16 : 0)
               : "memory");
}
/// The same through the first cache, for numbers that other warps of the multiprocessor will want.
__device__ inline void begin_cached_copy(unsigned to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
inline __device__ unsigned shared_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}
template <class T>
__device__ void begin_copy(T* to, const T* from, bool inside) {
  static_assert(sizeof(T) == 16);
  begin_copy(shared_address(to), from, inside);
}
/// Waits until all copies of this thread have arrived.
__device__ inline void wait_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// ---- products

/// Four matrices of 8 x 8 halves, transposed: lane l gives the address of row l % 8 of matrix l / 8.
__device__ inline void load_transposed(unsigned (&m)[4], unsigned row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
               : "r"(row)
               : "memory");
}

/// d[16 x 8] += a[16 x 16] b[16 x 8]
__device__ inline void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// d[16 x 8] += a[16 x 8] b[8 x 8]
__device__ inline void multiply(float (&d)[4], unsigned a0, unsigned a1, unsigned b) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a0), "r"(a1), "r"(b));
}

/// d[16 x 8] += a[16 x 8] b[8 x 8]; of each number of a and b, the last 13 bits are not read.
__device__ inline void multiply(float (&d)[4], const float (&a)[4], const float (&b)[2]) {
  const auto bits = [](float value) { return __float_as_uint(value); };
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(bits(a[0])), "r"(bits(a[1])), "r"(bits(a[2])), "r"(bits(a[3])), "r"(bits(b[0])), "r"(bits(b[1])));
}

}  // namespace tandem::kernels::cuda
