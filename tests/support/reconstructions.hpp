#pragma once

// From a small simulated scan to a volume in memory.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <numbers>
#include <vector>

#include "../../geometry/free_views.hpp"
#include "../../geometry/vector3.hpp"
#include "../../io/scans/memory_scan.hpp"
#include "../../io/scans/scan_writer.hpp"
#include "../../pipeline/reconstruct.hpp"
#include "../../pipeline/simulate.hpp"
#include "scans.hpp"

namespace tandem::test {

namespace small {
constexpr Index bins = 61, rows = 11, views = 47;
}

/// A scan with its axis off the middle and views in no order.
inline pipeline::Simulation small_simulation(std::optional<double> photons) {
  pipeline::Simulation s;
  s.phantom = "ellipsoids";
  detector_of(s.scan) = {small::bins, small::rows, 1, 1, 0.5 * (small::bins - 1) + 1.7};
  for (Index v = 0; v < small::views; ++v)
    angles_of(s.scan).push_back(std::numbers::pi * static_cast<double>((v * 5) % small::views) /
                                small::views);
  s.grid = fitting_grid(s.scan);
  s.photons = photons;
  return s;
}

/// A ball with ellipsoids in it, axis and midplane off the middle.
inline pipeline::Simulation cone_simulation(std::optional<double> photons = {}) {
  pipeline::Simulation s;
  s.phantom = "ellipsoids";
  s.scan = ConeBeam{{43, 35, 0.5, 0.5, 21.4}, regular_angles(60, whole_turn), 60, 90, 16.6};
  s.grid = fitting_grid(s.scan);
  s.grid.size = {37, 37, 35};
  s.photons = photons;
  return s;
}

/// The same with a detector that is rolled and moves from view to view, while the source goes up.
inline pipeline::Simulation views_simulation(std::optional<double> photons = {}) {
  pipeline::Simulation s = cone_simulation(photons);
  FlexibleBeam scan = as_free_views(s.scan);
  for (std::size_t k = 0; k < scan.views.size(); ++k) {
    FlexibleView& view = scan.views[k];
    const double along = static_cast<double>(k), up = 0.03 * along - 0.9;
    view.source[2] += up, view.detector[2] += up;
    view.detector[0] += 0.1 * std::sin(along);
    const double roll = 0.02 * std::sin(0.3 * along);
    const Vector3 bins = view.bin_step, rows = view.row_step;
    view.bin_step = std::cos(roll) * bins + std::sin(roll) * rows;
    view.row_step = std::cos(roll) * rows - std::sin(roll) * bins;
  }
  s.scan = scan;
  return s;
}

/// `change`: what a test does to the projections first.
inline void write_scan(const std::filesystem::path& path, const pipeline::SimulatedScan& scan,
                       const std::function<void(io::Frames&)>& change = {}) {
  const pipeline::Simulation& s = scan.simulation();
  const std::optional<double> pixel =
      needs_mm(s.scan) ? std::optional(detector_of(s.scan).bin_pitch) : std::nullopt;
  io::ScanWriter writer({path, io::Content::scan}, s.scan, pixel, scan.type(), s.flats, s.darks);
  const Range rows{0, detector_of(s.scan).rows};
  for (io::FrameKind kind : {io::FrameKind::projection, io::FrameKind::flat, io::FrameKind::dark}) {
    io::Frames frames = scan.frames(kind, rows);
    if (change && kind == io::FrameKind::projection) change(frames);
    writer.write(kind, rows, frames);
  }
  writer.finish("{}");
}

/// Keeps the volume in memory.
class MemoryWriter final : public io::VolumeWriter {
 public:
  explicit MemoryWriter(Shape shape)
      : area_(shape[1] * shape[2]), volume(static_cast<std::size_t>(shape[0] * area_)) {}
  void write(Range slices, const float* data) override {
    float* there = volume.data() + slices.first * area_;
    if (data != there) std::copy_n(data, slices.size() * area_, there);
  }
  std::byte* room(Range slices) override {
    return reinterpret_cast<std::byte*>(volume.data() + slices.first * area_);
  }
  void finish(const std::string&) override {}

 private:
  Index area_;

 public:
  std::vector<float> volume;
};

inline std::vector<float> reconstructed(io::ScanReader& reader, const pipeline::Plan& plan,
                                        pipeline::Outcome* outcome = nullptr) {
  MemoryWriter writer(plan.job.grid.shape());
  pipeline::Outcome result = pipeline::reconstruct(reader, plan, writer);
  if (outcome) *outcome = std::move(result);
  return writer.volume;
}

/// `rows_at_once` 0: as planned.
inline std::vector<float> reconstructed(const std::filesystem::path& scan, const pipeline::Recipe& recipe,
                                        Index rows_at_once = 0, pipeline::Outcome* outcome = nullptr) {
  const auto reader = io::open_scan(scan);
  pipeline::Plan plan = make_plan(reader->info(), recipe);
  if (rows_at_once > 0) plan.flow.chunk_slices = rows_at_once;
  return reconstructed(*reader, plan, outcome);
}

/// The relative L2 error.
inline double relative_error(const std::vector<float>& a, const std::vector<float>& truth) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - truth[i], 2);
    size += std::pow(static_cast<double>(truth[i]), 2);
  }
  return std::sqrt(difference / size);
}

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace tandem::test
