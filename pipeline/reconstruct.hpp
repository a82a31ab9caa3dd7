#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../io/png.hpp"
#include "../io/volume_file.hpp"
#include "preprocess.hpp"
#include "quality.hpp"
#include "recipe.hpp"

namespace tandem::pipeline {

/// Where the work is.
struct Stage {
  std::string name;
  double done = 0, total = 0;  ///< slices
  std::string detail = {};     ///< of a solver its iteration and residual
};
/// Called from one thread at a time, often; throw from it to cancel.
using OnProgress = std::function<void(const Stage&)>;

/// `transfer`: to a GPU and back.
struct Seconds {
  double total = 0, read = 0, preprocess = 0, transfer = 0, filter = 0, backproject = 0, iterate = 0,
         write = 0;
};

/// What became of a reconstruction, for the report.
struct Outcome {
  Seconds seconds;
  double updates = 0;  ///< voxels times views, for every application of A and of At
  Findings findings;
  int iterations = 0;                   ///< of the slice that took longest
  std::vector<int> slice_iterations;    ///< one a slice; empty for fbp
  std::vector<std::string> stopped_by;  ///< one a slice
  std::vector<double> residuals;        ///< |b - Ax| over all slices, relative to the start
  std::optional<Quality> quality;       ///< against the truth, where there is one
  std::vector<io::Picture> middle;      ///< slices through the middle: along z, y, x
  std::vector<std::string> warnings;    ///< beside the plan's: what only the data could tell
};

struct Options {
  OnProgress progress;          ///< may be empty
  std::filesystem::path truth;  ///< a volume to compare with; empty: none
  bool pictures = false;        ///< whether to keep the middle slices
  bool any_external = false;    ///< see io::VolumeReader, of truth and initial volume
};

/// File to volume, chunk by chunk of slices: reading and preprocessing, computing on the recipe's device, and
/// writing overlap. A cone beam is held whole: FDK goes through its slices slab by slab, a solver takes all.
/// The caller finishes the writer.
/// @throws Error, and what `progress` throws.
Outcome reconstruct(io::ScanReader& reader, const Plan& plan, io::VolumeWriter& writer,
                    const Options& options = {});

}  // namespace tandem::pipeline
