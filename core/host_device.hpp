#pragma once

/// Before a function that the CPU and the GPU both run; before its loops of few turns, known ones and others.
#ifdef __CUDACC__
#define TANDEM_HOST_DEVICE __host__ __device__
#define TANDEM_UNROLL _Pragma("unroll")
#define TANDEM_KEEP_ROLLED _Pragma("unroll 1")
#else
#define TANDEM_HOST_DEVICE
#define TANDEM_UNROLL
#define TANDEM_KEEP_ROLLED
#endif
