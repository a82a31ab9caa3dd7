#pragma once

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <vector>

#include "../core/execution.hpp"
#include "../core/space.hpp"

namespace tandem::bench {

/// What is timed. A table has one line for each combination of the values below.
struct Axes {
  Index size = 512;
  std::vector<Index> slices{64};
  Index views = 512;
  int repeat = 5;
  Device device = Device::cpu();
  /// Executions of the projector. For cone beams, `automatic` times separable footprints, and Joseph with
  /// pixel-driven back-projection.
  std::vector<Execution> executions{{}};
  bool all_tunings = false;              ///< whether to take all tuning numbers
  std::vector<double> accuracies{1e-4};  ///< accuracies of the Fourier model
  bool streamed = false;
  std::vector<Index> devices{1};     ///< numbers of GPUs, from the first one on
  std::vector<Index> streams{3};     ///< streams of each GPU
  double device_memory = 0;          ///< bytes of each GPU; 0: 90 % of what is free
  std::vector<std::string> methods;  ///< methods of `solvers`; empty: all that iterate
  std::vector<std::string> orbits;   ///< orbits of `flexible`; empty: all
  bool cone = false;  ///< whether solvers and FDK take a cone beam, and pictures a fan beam; else parallel
  // for the command `pipeline`
  bool from_file = true;   ///< whether the scan is a file; else it is in host memory
  std::string to = ".h5";  ///< ending of the volume's file; empty: the volume goes to host memory
  Index chunk = 0;         ///< slices of a chunk; 0: the plan chooses
  bool halves = false;     ///< whether the volume is stored in float16; else in float32
  bool all_steps = false;  ///< whether counts need all steps of `preprocess`; else only flats and darks
};

/// A list of `count` devices: GPUs from `kind` on. If there are fewer GPUs, some are listed more than once.
/// For the CPU, the list has the CPU `count` times.
std::vector<Device> first_devices(Device kind, Index count);

/// The bytes that tiles may take on each of these devices.
double memory_for_tiles(const Axes& axes, const std::vector<Device>& on);

/// The milliseconds of one run until all its work on the device is done. It is the median of `repeat` runs
/// after one to warm up. If that one takes more than 5 s, it counts as the first of them.
double median_ms(const Axes& axes, const std::function<void()>& body);

/// `median_ms`, and beside it the least CPU time that a run took, of all threads together: other programs on
/// the machine lengthen it less.
struct RunTimes {
  double ms, cpu_ms;
};
RunTimes times_of(const Axes& axes, const std::function<void()>& body);

using Rows = nlohmann::json;  ///< an array with one object for each line of the table
/// The sizes of a case, as its line of the table has them.
struct Sizes {
  Index slices, size, views;
};
inline Rows::value_type table_line(const Execution& how, const std::string& direction, const Sizes& n,
                                   double ms, double updates) {
  return {{"variant", how.variant},
          {"precision", name_of(how.precision)},
          {"direction", direction},
          {"slices", n.slices},
          {"size", n.size},
          {"views", n.views},
          {"ms", ms},
          {"gups", updates / ms * 1e-6}};
}
/// Called before each line is measured.
using OnLine = std::function<void(const std::string& what)>;

Rows parallel(const Axes& axes, const OnLine& on_line);  ///< projector, back-projector; with error and mu
Rows filter(const Axes& axes, const OnLine& on_line);    ///< the ramp filter alone
Rows fbp(const Axes& axes, const OnLine& on_line);       ///< filter and back-projection
Rows solvers(const Axes& axes, const OnLine& on_line);   ///< a step of each solver
/// Steps of the solvers for a cone beam, on one device or on several as a team.
Rows cone_solvers(const Axes& axes, const OnLine& on_line);
Rows pipeline(const Axes& axes, const OnLine& on_line);    ///< counts to volume, and each station alone
Rows preprocess(const Axes& axes, const OnLine& on_line);  ///< counts to line integrals, step by step
Rows fourier(const Axes& axes, const OnLine& on_line);  ///< the Fourier model beside direct FBP, with errors
Rows cone(const Axes& axes, const OnLine& on_line);     ///< the cone-beam pair, with error, kappa and mu
/// The pair for any geometry on four orbits, with error, kappa and mu; on teams, or in tiles.
Rows flexible(const Axes& axes, const OnLine& on_line);
std::vector<std::string> orbits_of_flexible();
/// FDK, the pair with error, kappa and mu, and a step of CGLS, for a fan beam.
Rows fan(const Axes& axes, const OnLine& on_line);
/// Steps of total variation on a noisy cone beam: how near the end they are, and after what time.
Rows low_dose(const Axes& axes, const OnLine& on_line);
Rows pictures(const Axes& axes, const OnLine& on_line);

}  // namespace tandem::bench
