#pragma once

#include <optional>
#include <string>
#include <utility>

#include "../../io/volumes/volume_kind.hpp"
#include "../../io/volumes/volume_parts.hpp"
#include "../../pipeline/plan/plan.hpp"
#include "../command.hpp"
#include "../runs/files.hpp"
#include "device_options.hpp"
#include "scan_options.hpp"

namespace tandem::apps {

/// The options that a user gives to `tandem recon`.
struct ReconOptions {
  Common common;
  std::vector<std::string> scans;     ///< the scans, each of which is reconstructed
  std::vector<std::string> compared;  ///< the methods of --compare
  ScanOptions scan;                   ///< options of one scan
  pipeline::Recipe recipe;
  std::string output, preview, dtype = "float32", slices, part_of, compression = "none", ome_zarr = "0.4",
                               save_format, truth, checkpoint, sweep, score = "sharpness";
  std::string save_config;                       ///< where to write the recipe
  std::optional<double> water;                   ///< its attenuation, 1/mm, for Hounsfield units
  std::optional<std::pair<float, float>> range;  ///< attenuations at the ends of an integer type
  DeviceOptions device;
  std::optional<double> memory_gib;
  std::optional<int> checkpoint_every;  ///< iterations
  std::optional<Index> serve;           ///< the port of the page; 0: any free one
  bool gives_accuracy = false, dry_run = false, resume = false;
  bool limited_angle_follows = false;  ///< whether what --limited-angle stands for is still to be taken
  double patience = 60;                // seconds
  std::optional<Index> planned_views;
  const Table* command = nullptr;

  /// Whether the part has a file of its own.
  bool is_part_of_hdf5() const {
    return !part_of.empty() && io::volume_kind(part_of)->parts == io::Parts::files;
  }
  /// Takes one of the scans, or all of them if they are joined.
  void take_scan(const std::string& path) {
    scan.path = path;
    if (!scan.stitch.empty()) scan.beside.assign(scans.begin() + 1, scans.end());
  }
  bool range_is_open() const { return !dtype.starts_with("float") && !range && !water; }
  bool slices_are_range() const { return slices.find(':') != std::string::npos; }
  bool given(const char* option) const { return command->given(option); }
};

/// Every option of `tandem recon`, with its help.
void add_recon_options(Table& command, ReconOptions& o);

/// Turns the options into a recipe. Opens no file. @throws UsageError
void finish_recipe(ReconOptions& o);

/// @throws UsageError for options that do not go together, as far as that is seen without a file
void check_together(const ReconOptions& o);

/// Gives the recipe the devices that are chosen for its method. @throws DeviceError, UsageError
void choose_devices(ReconOptions& o);

/// The inputs that decide the volume, with their options.
std::vector<NamedFile> sources_of(const ReconOptions& o);

io::VoxelType voxel_type_of(const ReconOptions& o);
/// The bytes of a voxel that leaves a GPU: as the file stores it, unless it is first needed as a float.
Index stored_bytes_of(const ReconOptions& o);

/// Whether an option has a meaning with these options. `iterations`, for example, has none for fbp.
bool applies(const ReconOptions& o, const std::string& option);

/// The files that a run writes, without its report and its log.
std::vector<NamedFile> outputs_of(const ReconOptions& o);

io::VolumeFormat format_of(const ReconOptions& o, const pipeline::Plan& plan);

}  // namespace tandem::apps
