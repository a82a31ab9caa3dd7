#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "../core/execution.hpp"
#include "../core/space.hpp"

namespace tandem::bench {

/// What to time. One line of a table for each entry of the axes below.
struct Axes {
  Index size = 512;
  std::vector<Index> slices{64};
  Index views = 512;
  int repeat = 5;
  Device device = Device::cpu();
  std::vector<Execution> executions{{}};  ///< of the projector; of cone beams, `automatic` times separable
                                          ///< footprints, and Joseph with pixel-driven back
  bool sweep = false;                     ///< all tuning numbers
  std::vector<double> accuracies{1e-4};   ///< of the Fourier model
  // of pairs between host and devices, of solvers of a cone beam, and of the pipeline
  bool streamed = false;
  std::vector<Index> devices{1};     ///< GPUs, the first ones
  std::vector<Index> streams{3};     ///< of each
  double device_memory = 0;          ///< bytes of each; 0: 90 % of what is free
  std::vector<std::string> methods;  ///< of the solvers; empty: all that iterate
  std::vector<std::string> orbits;   ///< of the pair for any geometry; empty: all
  bool cone = false;  ///< solvers and FDK of a cone beam, pictures of a fan beam; else of a parallel beam
  // of the pipeline
  bool from_file = true;   ///< else from host memory
  std::string to = ".h5";  ///< the ending of the volume's file; empty: to host memory
  Index chunk = 0;         ///< slices; 0: chosen by the plan
  bool halves = false;     ///< the volume is stored in float16, else in float32
  bool all_steps = false;  ///< counts need all steps of `preprocess`, else only flats and darks
};

/// So many devices: GPUs from this one on, where there are fewer the same again, or the CPU in the place of
/// each.
std::vector<Device> first_devices(Device kind, Index count);

/// What tiles may take on each of these devices, bytes.
double memory_for_tiles(const Axes& axes, const std::vector<Device>& on);

/// Milliseconds of one run, all its work on the device done: the median of `repeat` runs after one to warm
/// up, which counts as the first if it takes more than 5 s.
double median_ms(const Axes& axes, const std::function<void()>& body);

using Rows = nlohmann::json;  ///< an array with one object for each line of the table
/// Called before each line is measured.
using OnLine = std::function<void(const std::string& what)>;

Rows parallel(const Axes& axes, const OnLine& on_line);  ///< projector and back-projector, with error and mu
Rows filter(const Axes& axes, const OnLine& on_line);    ///< the ramp filter alone
Rows fbp(const Axes& axes, const OnLine& on_line);       ///< filter and back-projection
Rows solvers(const Axes& axes, const OnLine& on_line);   ///< a step of each solver
/// The same for a cone beam, on one device or on several as a team.
Rows cone_solvers(const Axes& axes, const OnLine& on_line);
Rows pipeline(const Axes& axes, const OnLine& on_line);  ///< counts to volume, and each station alone
Rows preprocess(const Axes& axes,
                const OnLine& on_line);                 ///< counts to line integrals, step by step
Rows fourier(const Axes& axes, const OnLine& on_line);  ///< the Fourier model beside direct FBP, with errors
Rows cone(const Axes& axes, const OnLine& on_line);     ///< the cone-beam pair, with error, kappa and mu
/// The pair for any geometry on four orbits, with error, kappa and mu; on teams, or in tiles.
Rows flexible(const Axes& axes, const OnLine& on_line);
std::vector<std::string> orbits_of_flexible();
Rows fan(const Axes& axes,
         const OnLine& on_line);  ///< FDK, the pair, with error, kappa and mu, and a step of CGLS
/// FBP of modified Shepp-Logan and of white noise by each window and model, with RMSE, PSNR and noise; of a
/// parallel beam, or of a fan beam.
Rows pictures(const Axes& axes, const OnLine& on_line);

}  // namespace tandem::bench
