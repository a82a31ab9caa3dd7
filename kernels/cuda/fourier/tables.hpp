#pragma once

// What the kernels of the Fourier model read besides the data. It is made once for a plan and a device.

#include <vector>

#include "../../fourier.hpp"
#include "../common/device_table.cuh"
#include "transform.cuh"

namespace tandem::kernels::cuda {

constexpr int block_x = 4, block_y = 4;  ///< cells that a warp sums

/// Samples whose windows meet a block of cells, or some of them.
struct BlockSamples {
  Index first;  ///< place in the list
  int count;
  int x, y;  ///< the first cell; y counts from -cells_y / 2
  int part;  ///< place of the sums if the block has several of these; -1: the grid
};
/// A block whose samples are summed in parts.
struct SplitBlock {
  int x, y, first_part, parts;
};

/// The steps of a ray, cells a sample. Each has a high part, whose multiples are all exact, and a rest.
struct RayStep {
  float x, x_rest, y, y_rest;
};

/// A sample in a list: k in the low bits, then the view, and in the highest bit whether it is the conjugate
/// one.
struct ListedSample {
  unsigned bits;
  static constexpr unsigned conjugate = 1u << 31;
};

/// exp(2 pi i k t / length) for each t and k = u + j length / 16, as products of two numbers that are made in
/// double.
struct Phases {
  const float2* table;
  int sixteenth;                   ///< a sixteenth of the length
  static constexpr int turns = 9;  ///< values of j; the last one is for k = length / 2
  __device__ float2 at(Index t, int u) const { return __ldg(table + t * (sixteenth + turns) + u); }
  __device__ float2 turn(Index t, int j) const {
    return __ldg(table + t * (sixteenth + turns) + sixteenth + j);
  }
};
DeviceTable<float2> phase_table(const std::vector<double>& t, const FourierSizes& sizes,
                                const KeptOnDevices::Streams& streams);

/// A plan as kernels get it, about an axis.
struct DevicePlan {
  int bins, nx, ny, length, samples, cells_x, cells_y, views;
  int view_bit;                             ///< bit from which on a listed sample has its view
  LineTransform row_forth, row_back;        ///< transforms of half the length
  LineTransform pixels_forth, pixels_back;  ///< transforms of half of cells_x
  LineTransform column;                     ///< transform of cells_y
  const RayStep* steps;
  const char* turned;
  Phases phases;
  const float *gain_x, *gain_y;
  const int* reach;  ///< for each column of cells: no sample meets cells with larger |y|
};

/// The tables of a plan on a device, for any axis.
struct FourierTables {
  DevicePlan plan;  ///< without a table of phases
  DeviceTable<ListedSample> samples;
  DeviceTable<BlockSamples> blocks;
  DeviceTable<SplitBlock> splits;
  int parts = 0;

  std::vector<DeviceTable<float2>> roots;
  std::vector<DeviceTable<Place>> orders;
  DeviceTable<RayStep> steps;
  DeviceTable<char> turned;
  DeviceTable<float> gain_x, gain_y;
  DeviceTable<int> reach;
};

KeptOnDevices::Use<FourierTables> tables_for(const FourierPlan& plan, const Stream& stream);

/// Bytes of the tables, estimated from above.
double table_bytes(const FourierSizes& sizes, Index views);

}  // namespace tandem::kernels::cuda
