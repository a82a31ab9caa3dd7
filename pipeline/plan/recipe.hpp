#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../core/comm.hpp"
#include "../../core/device.hpp"
#include "../../core/execution.hpp"
#include "../../counts/steps/options.hpp"
#include "../../geometry/disc.hpp"
#include "../../operators/mend.hpp"
#include "../../operators/ramp_filter.hpp"
#include "../../solvers/bounds.hpp"

namespace tandem::pipeline {

/// How near to its end a solver comes by default, where it tells this: a share of its way.
constexpr double usual_distance = 0.03;

enum class Initial { zero, fbp, file };

/// Where the object is, so that voxels outside are zero. Lengths are in mm, or in bins of the file if the
/// pitch is not known.
struct Support {
  bool is_disc = false;
  std::optional<Disc> disc{};     ///< without the margin; `complete` finds it
  double margin = 0;              ///< by how much the support is larger than the disc
  std::filesystem::path file{};   ///< a volume that is not zero within
  std::optional<double> shell{};  ///< how far from the edge voxels within have the highest value
  bool any() const { return is_disc || !file.empty(); }
};

/// What a first volume told of a scan.
struct ToldByFirst {
  RowsOfSlices rows{};                 ///< rows of the file
  std::shared_ptr<const Mend> mend{};  ///< null: no metal is mended
  /// Share of the rays that metal may have left no photon; 0: none, since nothing agrees better without them.
  double share_that_is_dark = 0;
  std::shared_ptr<const DenseParts> dense{};  ///< null: no second material is corrected
  bool changes_lines() const { return mend || dense; }
};

/// What a user asks for, as plain data: `Recipe{.method = "cgls", .iterations = 20}`. A method reads some of
/// it
/// (`Method::options`). Positions and ranges count in the rows, bins and views of the file. `complete` fills
/// in what a scan says.
struct Recipe {
  std::string method = "fbp";  ///< name of the method, or its name for a cone beam

  std::optional<Range> views{}, rows{}, bins{};
  int binning = 0;                      ///< 2^binning x 2^binning cells become one
  std::optional<double> axis_bin{};     ///< default: the file's own, else the middle
  bool find_axis = false;               ///< whether `complete` finds the axis
  std::vector<double> row_axis_bins{};  ///< one axis for each row of the file; empty: one for all rows
  std::filesystem::path row_axes{};     ///< a file with these, one number per line, which `complete` reads
  std::optional<double> voxel_size_mm{};
  std::optional<Index> size{}, slices{};                    ///< voxels along x and y; along z
  std::optional<Range> region_x{}, region_y{}, region_z{};  ///< voxels of the full grid

  Filter fbp_filter{};                  ///< window and cut-off; its padding is set in a plan
  std::optional<Padding> padding{};     ///< padding of the ramp filter; default: cosine
  std::optional<Index> padding_bins{};  ///< default: half of the bins

  std::optional<Initial> initial{};  ///< default: that of the method; always set in a plan
  std::filesystem::path initial_file{};
  std::optional<int> iterations{};  ///< default: that of the method; always set in a plan if it iterates
  std::vector<std::pair<std::string_view, float>>
      numbers{};  ///< given numbers of solvers, with their options
  bool nonnegative = false;
  std::optional<Index> subsets{};  ///< number of subsets of views; set in a plan if the method uses subsets
  std::optional<float> lowest{}, highest{};             ///< bounds of all voxels, 1/mm or 1/pixel
  std::filesystem::path lowest_file{}, highest_file{};  ///< volumes of the same grid that have one for each
  std::optional<std::pair<float, float>> levels{};      ///< two values of most voxels, which are bounds too
  bool finds_high_level = false;      ///< whether `complete` finds the second one in the shell of the support
  Support support{};                  ///< voxels that bounds keep at zero
  bool support_if_it_fits = false;    ///< whether a disc that does not fit the scan stays out
  std::optional<float> tv_weight{};   ///< weight of total variation; default: the plan finds it
  std::optional<float> tv_huber{};    ///< smaller differences of neighbours are squared; default: none
  bool finds_tv_direction = false;    ///< whether it is the middle of the arc, and set in a plan
  bool direction_if_it_fits = false;  ///< whether it stays out if views look from all around
  std::optional<double> tv_direction{};    ///< rad from x towards y: differences across it weigh more
  double tv_ratio = 2;                     ///< how much more
  std::optional<float> tikhonov_weight{};  ///< factor of |x|^2 / 2, beside |Ax - y|^2 / 2; default: none
  bool stop_by_discrepancy = false, stop_by_gcv = false, stop_by_ncp = false, stop_by_stagnation = false;
  /// Whether the rule only tells how many steps fitted noise; set in a plan whose iterations were asked for.
  bool only_watches = false;
  std::optional<double> stop_relative{}, stop_seconds{}, stop_gap{}, stop_settled{};

  bool circles_if_they_fit = false;  ///< whether circles stay out where a scan cannot have them
  bool mends_metal = false;  ///< whether `complete` looks for metal, to mend the line integrals behind it
  bool metal_if_it_fits = false;            ///< the same for metal
  std::optional<double> metal_threshold{};  ///< attenuation of metal; default: found
  ToldByFirst first{};                      ///< what `complete` found

  StepValues steps{};  ///< the options of the steps from counts to line integrals
  /// Whether a solver takes frames that are resampled to an upright detector on a circle, as FBP does. If
  /// not, its projector takes each view where it was measured.
  bool resample_frames = false;
  double gain = 1;                  ///< counts per photon
  std::optional<double> photons{};  ///< photons of a cell in air, if data are line integrals

  std::vector<Device> devices = {Device::cpu()};  ///< the devices that share the work
  bool devices_are_open = false;  ///< whether no device is named: the CPU does what GPUs have no kernels for
  bool fewest_devices = false;    ///< whether a cone beam uses only the first device, if its memory suffices
  int streams = 3;                ///< tiles or chunks on their way to a GPU at a time
  Index stored_bytes = 4;         ///< bytes of a voxel that leaves a GPU as its file stores it
  Index most_slices = 0;          ///< the most slices of a chunk; 0: the plan chooses
  std::optional<Model> model{};   ///< default: the fastest that makes as good a picture
  Execution execution{};          ///< how projector and back-projector run
  bool allow_unmatched = false;   ///< whether a solver may take a pair that does not match (`is_matched`)

  Comm ranks{};  ///< ranks that share the work; if a solver takes a cone beam, they share its vectors too

  bool follow = false;  ///< whether the scan is still being written, so that its views are added as they come

  std::optional<std::size_t> host_bytes{};    ///< default: what the machine has to spare
  std::optional<std::size_t> device_bytes{};  ///< memory of each GPU; default: nine tenths of what is free

  /// Whether voxels have bounds of their own.
  bool bounds_vary() const { return support.any() || !lowest_file.empty() || !highest_file.empty(); }
  Bounds bounds() const;  ///< from `lowest`, or from zero if nonnegative, to `highest`; or the levels
};

}  // namespace tandem::pipeline
