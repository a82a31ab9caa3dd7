#pragma once

// Hopper's own instructions, by the names that the kernels call them: barriers in shared memory, bulk tensor
// copies, products of a warpgroup (PTX ISA 8.0, sections 9.7.12, 9.7.8 and 9.7.14).

#include <cuda.h>
#include <cuda_fp16.h>

#include <algorithm>

#include "../../../core/space.hpp"
#include "launch.cuh"

namespace tandem::kernels::cuda {

// ---- barriers: addresses are in shared memory

__device__ inline void make_barrier(unsigned barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}
__device__ inline void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ inline void arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ inline void arrive_expecting(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
__device__ inline void wait(unsigned barrier, int parity) {
  asm volatile(
      "{\n.reg .pred done;\n"
      "again:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// ---- bulk tensor copies

/// Float16 numbers in five dimensions, the first of them 64 slices that lie side by side; strides of the
/// others in bytes.
struct Tensor {
  __half* data;
  Index size[5], stride[4];
};

/// A map of a tensor. It has `rank` sizes and box sizes, and one stride in bytes less, because the first
/// dimension is contiguous.
template <class Size, std::size_t rank>
CUtensorMap tensor_map(CUtensorMapDataType type, const void* data, const Size (&sizes)[rank],
                       const Index (&strides)[rank - 1], const int (&box_sizes)[rank],
                       CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE) {
  using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                              const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                              CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found));
  require<DeviceError>(entry != nullptr, "the driver has no cuTensorMapEncodeTiled; it is too old");
  cuuint64_t size[rank], stride[rank - 1];
  cuuint32_t box[rank], step[rank];
  std::copy_n(sizes, rank, size);
  std::copy_n(strides, rank - 1, stride);
  std::copy_n(box_sizes, rank, box);
  std::fill_n(step, rank, 1);
  CUtensorMap map{};
  const CUresult status = reinterpret_cast<Encode>(entry)(
      &map, type, rank, const_cast<void*>(data), size, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
      swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  require<DeviceError>(status == CUDA_SUCCESS, "cuTensorMapEncodeTiled: error ", status);
  return map;
}

/// Boxes arrive in swizzled rows of 128 bytes, one of 64 slices each; what lies outside is zero.
inline CUtensorMap boxes_of(const Tensor& t, int rows, int lines = 1) {
  return tensor_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, t.data, t.size, t.stride, {64, rows, lines, 1, 1},
                    CU_TENSOR_MAP_SWIZZLE_128B);
}

/// Fetches a box of a tensor of four dimensions.
__device__ inline void fetch_box(unsigned to, const CUtensorMap& map, const int (&at)[4], unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, "
      "%5}], [%6];" ::"r"(to),
      "l"(&map), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(barrier)
      : "memory");
}

__device__ inline void fetch_box(unsigned to, const CUtensorMap& map, int row, int line, int chunk, int plane,
                                 unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, "
      "%5, %6}], [%7];" ::"r"(to),
      "l"(&map), "r"(0), "r"(row), "r"(line), "r"(chunk), "r"(plane), "r"(barrier)
      : "memory");
}

// ---- registers move between warpgroups

template <int count>
__device__ inline void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}
template <int count>
__device__ inline void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}

// ---- products

__device__ inline void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void end_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// Waits until at most `left` groups are under way.
template <int left>
__device__ inline void wait_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(left) : "memory");
}

/// Descriptor of a matrix [16 x N] whose N columns lie in swizzled rows of 128 bytes; `low` holds the address
/// of its first row and the bytes between chunks of 64 columns, both over 16. `apart`: bytes from the first 8
/// rows to the other 8. A matrix may begin at any row of the pattern: the swizzle acts on the address.
template <unsigned apart = 1024>
__device__ inline unsigned long long descriptor(unsigned low) {
  constexpr unsigned swizzled = 1u << 30, high = (apart >> 4) | swizzled;
  return static_cast<unsigned long long>(high) << 32 | low;
}

/// d[64 x N] += a[64 x 16] b[16 x N]
template <int columns>
__device__ void multiply(float (&d)[columns / 2], const unsigned (&a)[4], unsigned long long b);

template <>
__device__ inline void multiply<64>(float (&d)[32], const unsigned (&a)[4], unsigned long long b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
      "}, {%32, %33, %34, %35}, %36, 1, 1, 1, 1;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
        "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
        "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]),
        "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]),
        "+f"(d[30]), "+f"(d[31])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

template <>
__device__ inline void multiply<128>(float (&d)[64], const unsigned (&a)[4], unsigned long long b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
      "}, {%64, %65, %66, %67}, %68, 1, 1, 1, 1;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
        "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
        "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]),
        "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]),
        "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]),
        "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]),
        "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]),
        "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]),
        "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

}  // namespace tandem::kernels::cuda
