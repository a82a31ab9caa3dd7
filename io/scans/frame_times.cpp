// The times of views and flats.

#include <numeric>

#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "frame_source.hpp"

namespace tandem::io {

namespace {

constexpr Index most_frames = 1'000'000;

std::vector<double> counted_from(double first, Index count) {
  std::vector<double> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

/// The times by the list of areaDetector, which has the data set of each frame in the order of the frames.
PerFrame by_locations(const hdf5::File& file) {
  PerFrame times;
  const std::optional<hdf5::DataSet> locations = file.find("/defaults/HDF5FrameLocation");
  if (!locations) return times;
  double frame = 0;
  for (const std::string& location : locations->texts(most_frames)) {
    if (location == "/exchange/data") times.views.push_back(frame);
    if (location == "/exchange/data_white") times.flats.push_back(frame);
    ++frame;
  }
  return times;
}

/// The times by TomoScan, which says whether flats were taken at the start, at the end, or half of them at
/// each.
PerFrame by_mode(const hdf5::File& file, Index views, Index flats) {
  const std::string mode = file.text("/process/acquisition/flat_fields/flat_field_mode").value_or("");
  const Index before = mode == "Start" ? flats : mode == "End" ? 0 : mode == "Both" ? flats / 2 : -1;
  if (before < 0 || (mode == "Both" && flats % 2 != 0)) return {};
  PerFrame times{counted_from(0, views), counted_from(-before, before)};
  const std::vector<double> after = counted_from(views, flats - before);
  times.flats.insert(times.flats.end(), after.begin(), after.end());
  return times;
}

}  // namespace

PerFrame frame_times(const hdf5::File& file, Index views, Index flats) {
  PerFrame times = by_locations(file);
  const bool of_all = std::ssize(times.views) == views && std::ssize(times.flats) == flats && flats > 0;
  return of_all ? times : by_mode(file, views, flats);
}

void complete_times(ScanInfo& info, Index own_flats, const OpenOptions& options, Index views) {
  if (info.flats != own_flats) {
    if (own_flats > 0 && !info.times.flats.empty() && options.flat_views.empty())
      info.notes.emplace_back("nothing tells when the flats of " + spelled("flats") +
                              " were taken, so all flats are taken together; " + spelled("flat-loc") +
                              " says it");
    if (!info.exposures.views.empty())
      info.notes.emplace_back("nothing tells how long the flats of " + spelled("flats") +
                              " were exposed, so counts are not divided by times of exposure");
    info.times = info.exposures = info.monitor = {};
  }
  const Index sets = options.flat_views.size();
  if (sets == 0) return;
  require<FileError>(info.flats > 0 && info.flats % sets == 0, spelled("flat-loc") + ": names ", sets,
                     " views for ", info.flats, " flats; sets of equal size are needed");
  info.times = {counted_from(0, views), {}};
  for (Index flat = 0; flat < info.flats; ++flat)
    info.times.flats.push_back(options.flat_views[flat / (info.flats / sets)]);
}

}  // namespace tandem::io
