#include "first_volume.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../../core/units.hpp"
#include "../../counts/steps/chain.hpp"
#include "../memory/budget.hpp"
#include "../plan/chunks_due.hpp"
#include "../plan/grids.hpp"
#include "../plan/make_job.hpp"
#include "../plan/margin_rows.hpp"
#include "frames.hpp"
#include "rows_of_scan.hpp"
#include "tell_hardening.hpp"

namespace tandem::pipeline {

namespace {

/// Wide cells are enough for a first volume of at least 256 voxels across, but mask and prior suffer if they
/// are more than four times as wide.
int binning_of(Index bins) {
  constexpr Index fewest = 256, most = 4, many = 1024;
  const Index times = std::max(std::clamp<Index>(bins / fewest, 1, most), bins / many);
  return std::bit_width(static_cast<std::uint64_t>(times)) - 1;
}

/// The job of the first volume: the selected rows, if they are slices, else all.
Job wide_job(const Recipe& recipe, const io::ScanInfo& info) {
  Recipe wide;
  wide.method = "fbp";
  wide.views = recipe.views, wide.bins = recipe.bins;
  if (rows_are_slices(info.scan)) wide.rows = recipe.rows;  // else rays of other rows meet these slices, too
  wide.axis_bin = recipe.axis_bin;
  wide.steps = without_hardening(recipe.steps);
  const Index bins = whole_or(recipe.bins, detector_of(info.scan).bins).size() >> recipe.binning;
  wide.binning = recipe.binning + binning_of(bins);
  return make_job(info, wide);
}

/// Without a pixel size, voxels are as wide as so many bins.
io::ScanInfo in_lengths(io::ScanInfo info) {
  if (!info.pixel_size_mm) info.pixel_size_mm = 1;
  return info;
}

Array lines_of(io::ScanReader& reader, Job& job, const Listener& listener) {
  require_reference(reader.info(), job.preprocessing, false);
  end_margins_at_bad_rows(reader, job);
  const Detector& d = detector_of(job.scan);
  const auto [rows, above, below, counted] = rows_around(job, {0, d.rows});
  Reference reference = read_reference(reader, rows, job.bins, job.preprocessing);
  reference.margin_above = above, reference.margin_below = below;
  const Index plane = d.rows * d.bins;
  Array lines(projection_space(job.scan));
  const Index at_once = job.needs_all_views ? job.views.size() : views_at_once(rows, job.bins);
  for_each_block(reader, {job.preprocessing, reference, rows, job.bins, job.views, d.rows, d.bins, at_once},
                 listener, [&](Index first, const Array& some) {
                   std::copy_n(some.data(), some.size(), lines.data() + first * plane);
                 });
  return lines;
}

/// The bytes of so many sets of line integrals, and of so many volumes.
double bytes_of(const Job& job, double lines, double volumes) {
  const auto [nx, ny, nz] = job.solved.size;
  return sizeof(float) * (lines * static_cast<double>(projection_space(job.scan).size()) +
                          volumes * static_cast<double>(nx * ny * nz));
}

/// The device that looks: a GPU if its memory has room.
Device device_for(const Recipe& recipe, const Job& job) {
  constexpr double share = 0.8;
  const Device device = recipe.devices.front().member(0);
  if (!device.is_cuda()) return device;
  const double needed = bytes_of(job, 6, 5);
  const double there = recipe.device_bytes ? 1.0 * *recipe.device_bytes : 1.0 * free_memory(device);
  return needed < share * there ? device : Device::cpu();
}

/// Compares how well projections agree, before and after. Rows may not be able to tell.
void compare_misfits(io::ScanReader& reader, const Recipe& recipe, const Listener& listener,
                     calibration::MetalSearch& search) {
  constexpr double worse = 1.5, of_noise = 3;
  if (recipe.binning > 0) return;  // the trace is that of wide cells
  TellingRows rows = rows_that_tell(reader, recipe, true, listener);
  if (!rows.why_not.empty()) return;
  const auto hardening = [&] {
    return calibration::find_hardening(rows.lines, rows.scan, std::ssize(rows.rows),
                                       calibration::HardeningBy::moments, rows.made_of);
  };
  const calibration::Hardening before = hardening();
  mend_rows(rows, recipe.first);
  const calibration::Hardening after = hardening();
  if (before.polynomial.empty() || after.polynomial.empty()) return;  // nothing was measured
  search.before = before.after, search.after = after.after;
  if (after.after > std::max(worse * before.after, of_noise * before.noise))
    search.verdict = calibration::MetalVerdict::left;
}

std::string words_of(const calibration::MetalSearch& found, const io::ScanInfo& info) {
  using calibration::MetalVerdict;
  const bool in_mm = info.pixel_size_mm.has_value();
  const std::string above = short_of(found.threshold) + (in_mm ? " 1/mm" : " 1/pixel"),
                    rays = short_of(100 * found.share) + " % of the rays meet metal (above " + above +
                           "; voxels " + short_of(found.voxel) + (in_mm ? " mm" : " pixels") +
                           " wide: " + std::to_string(found.voxels) + ")";
  const std::string misfit =
      found.before ? "misfit of the projections " + short_of(*found.before) + " -> " + short_of(*found.after)
                   : "the projections cannot tell whether that is right";
  switch (found.verdict) {
    case MetalVerdict::none:
      return "no metal is seen: no piece of a first volume is above " + above + "; nothing is changed";
    case MetalVerdict::mended:
      return rays +
             ", and become what their neighbours and a first volume tell; details within a few voxels "
             "of metal are lost; " +
             misfit;
    case MetalVerdict::left:
      return rays + ", and stay as they are: mended, projections agree less, " + misfit;
    case MetalVerdict::too_much:
      return rays + ", more than half; nothing is changed";
    default:
      return "nothing in the first volume stands out from its noise; nothing is changed";
  }
}

}  // namespace

Array of_first_rank(const Comm& ranks, const Array* own, const VolumeGrid& grid) {
  if (ranks.is_alone()) return own->clone();
  const std::size_t bytes = sizeof(float) * (grid.size[0] * grid.size[1] * grid.size[2]);
  const std::string text =
      ranks.broadcast(own ? std::string(reinterpret_cast<const char*>(own->data()), bytes) : std::string());
  Array there(Space(grid.shape()));
  std::memcpy(there.data(), text.data(), bytes);
  return there;
}

std::string hindrance_of_first_volume(const Recipe& recipe, const io::ScanInfo& info) {
  if (!info.pixel_size_mm && recipe.binning > 0)
    return spelled("binning") + " needs the size of a pixel here; give " + spelled("pixel-size") + " MM";
  const Job wide = wide_job(recipe, in_lengths(info));
  if (!row_axes_of(wide.scan).empty() || !recipe.row_axis_bins.empty())
    return "rows have axes of their own, and a first volume has one";
  const double needed = bytes_of(wide, 6, 7), limit = host_budget(recipe);
  return needed <= limit ? ""
                         : "a first volume needs " + in_gib(needed) + ", the limit is " + in_gib(limit) +
                               "; give a larger " + spelled("memory") + ", or " + spelled("binning");
}

FirstOfScan look_at_first_volume(io::ScanReader& reader, const Recipe& recipe, bool at_metal,
                                 const Listener& listener) {
  const io::ScanInfo info = in_lengths(reader.info());
  Job wide = wide_job(recipe, info);
  Array lines = lines_of(reader, wide, listener);
  listener.stage({"make a first volume", 0, 1, {}, "searches"});
  const double bin = std::ldexp(detector_of(info.scan).bin_pitch, recipe.binning);
  calibration::FirstVolume found = calibration::look_at_first_volume(
      std::move(lines), wide.scan, wide.solved,
      {distance_from_axis(info.scan, bin), at_metal, recipe.metal_threshold}, device_for(recipe, wide));
  return {wide.solved, {wide.rows.first, wide.rows_together}, std::move(found)};
}

calibration::MetalSearch take_metal(Recipe& recipe, io::ScanReader& reader, std::optional<FirstOfScan>& first,
                                    const Listener& listener) {
  const Comm& ranks = recipe.ranks;
  const std::string hindrance = hindrance_of_first_volume(recipe, reader.info());
  require<GeometryError>(hindrance.empty(), spelled("metal"), ": ", hindrance);
  if (ranks.is_first()) first = look_at_first_volume(reader, recipe, true, listener);
  calibration::MetalSearch search = first ? first->found.search : calibration::MetalSearch{};
  if (of_first(ranks, first && first->found.metal)) {
    const VolumeGrid grid = of_first(ranks, first ? first->grid : VolumeGrid{});
    const MetalFound* own = first ? &*first->found.metal : nullptr;
    const auto volume = [&](Array MetalFound::*which) {
      return of_first_rank(ranks, own ? &(own->*which) : nullptr, grid);
    };
    MetalFound metal{volume(&MetalFound::grown), volume(&MetalFound::prior), volume(&MetalFound::values),
                     of_first(ranks, own ? own->trace : kernels::MetalTrace{})};
    recipe.first.rows = of_first(ranks, first ? first->rows : RowsOfSlices{});
    recipe.first.mend = std::make_shared<const Mend>(grid, metal);
    if (ranks.is_first()) compare_misfits(reader, recipe, listener, search);
    const bool helps = search.before && *search.after < *search.before;
    recipe.first.share_that_is_dark = of_first(ranks, helps ? search.share : 0.0);
  }
  if (of_first(ranks, search.verdict) != calibration::MetalVerdict::mended) {
    recipe.first = {};
    if (search.verdict == calibration::MetalVerdict::left) first.reset();  // its dense parts are mended ones
  }
  if (!ranks.is_first()) return search;
  const bool expected = search.verdict == calibration::MetalVerdict::none ||
                        (search.verdict == calibration::MetalVerdict::mended && search.before);
  (expected ? listener.note : listener.warn)(spelled("metal") + ": " + words_of(search, reader.info()));
  return search;
}

}  // namespace tandem::pipeline
