#pragma once

/// Marks what the CPU and GPUs compute by the same lines.
#ifdef __CUDACC__
#define TANDEM_HOST_DEVICE __host__ __device__
#else
#define TANDEM_HOST_DEVICE
#endif
