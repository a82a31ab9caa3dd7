#pragma once

/// TANDEM_HOST_DEVICE stands before a function that the CPU and the GPU both run. The other two stand before
/// its loops: UNROLL if the number of turns is known and small, KEEP_ROLLED if not.
#ifdef __CUDACC__
#define TANDEM_HOST_DEVICE __host__ __device__
#define TANDEM_UNROLL _Pragma("unroll")
#define TANDEM_KEEP_ROLLED _Pragma("unroll 1")
#else
#define TANDEM_HOST_DEVICE
#define TANDEM_UNROLL
#define TANDEM_KEEP_ROLLED
#endif
