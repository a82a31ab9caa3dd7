#include "phase.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>

#include "../../core/ceil_div.hpp"
#include "../../core/rounding.hpp"
#include "../../core/spelled.hpp"
#include "../../io/files/text.hpp"
#include "../../io/scans/given_number.hpp"
#include "step.hpp"

namespace tandem::pipeline {

namespace {

const Option<PositiveNumber> energy_kev{"retrieve-phase-method:energy", "of the photons, keV",
                                        PositiveNumber{1e9, "keV"}};
const Option<PositiveNumber> distance_mm{
    "retrieve-phase-method:distance",
    "from the sample to the detector, mm (default: sdd - sod of a cone beam)", PositiveNumber{1e9, "mm"}};
const Option<PositiveNumber> delta_over_beta{"retrieve-phase-method:delta-beta",
                                             "delta / beta of the sample",
                                             PositiveNumber{1e9},
                                             {},
                                             "delta / beta"};
const Option<OneOf> phase_method{
    "retrieve-phase-method",
    "phase retrieval from one distance: Paganin's, or the generalised one, which keeps fine features "
    "sharper (default none)",
    OneOf{{"none", "paganin", "gpaganin"}},
    {energy_kev, distance_mm, delta_over_beta},
    "phase retrieval"};

constexpr double wavelength_mm_kev = 1.239841984e-6;  // h c
constexpr double highest_kev = 1000;
constexpr Index fewest_rows = 32;   // least rows of a block
constexpr Index farthest = 10'000;  // pixels: a blur of 700

std::string phase_method_of(const StepValues& values) { return phase_method.of(values).value_or("none"); }

std::string phase_conflict(const StepValues& values) {
  const bool asked = phase_method_of(values) != "none";
  for (const auto* behind : {&energy_kev, &delta_over_beta})
    if (asked && !behind->is_given(values))
      return io::words(spelled("retrieve-phase-method") + " ", phase_method_of(values), " needs ",
                       behind->bare_name(), "=X behind a colon");
  for (const auto* behind : {&energy_kev, &distance_mm, &delta_over_beta})
    if (!asked && behind->is_given(values))
      return io::words(behind->name, "=X goes with paganin or gpaganin");
  const double energy = energy_kev.of(values).value_or(1);
  if (energy > highest_kev)
    return io::words(spelled("retrieve-phase-method") + ": energy=", energy, " is in keV, and at most ",
                     highest_kev, "; ", energy, " eV are ", energy / 1000, " keV");
  return {};
}

/// Distance from the sample to the detector, mm; 0 if it is not known.
double distance_of(const Preprocessing& how) {
  return distance_mm.of(how.values).value_or(how.optics->to_detector_mm);
}

std::string phase_hindrance(const Preprocessing& how) {
  const Optics& optics = *how.optics;
  const std::string step = spelled("retrieve-phase-method") + " " + phase_method_of(how.values);
  if (!how.minus_log)
    return step + ": " + spelled("minus-log") +
           " false says that the data are line integrals; it needs transmissions";
  if (how.noise)
    return spelled("stop") +
           " discrepancy: phase retrieval makes the noise of neighbouring pixels depend on each other, so "
           "their number says nothing; use " +
           spelled("iterations") + " or " + spelled("stop") + " relative=EPS";
  if (!(optics.bin_mm > 0))
    return step + ": the scan has no pixel size; give " + spelled("pixel-size") + " MM";
  if (!(distance_of(how) > 0))
    return step +
           ": the distance from the sample to the detector is missing; give distance=MM behind a colon";
  const double by_scan = optics.to_detector_mm;
  if (by_scan > 0 && std::abs(distance_of(how) - by_scan) > 0.01 * by_scan)
    return io::words(
        step, ": distance=", distance_of(how), " mm: the scan says ", by_scan,
        " mm, sdd - sod; leave distance out, or correct " + spelled("sod") + " and " + spelled("sdd"));
  const PhaseFilter filter = *phase_filter_of(how);
  if (std::max(filter.reach(filter.bin_mm), filter.reach(filter.row_mm)) > farthest)
    return io::words(
        step, ": blurs over ", std::sqrt(filter.strength_mm2) / (2 * std::numbers::pi), " mm with pixels of ",
        filter.bin_mm,
        " mm; check energy in keV, distance and " + spelled("pixel-size") + " in mm, and delta-beta");
  return {};
}

/// The response on the grid of the transform, made once.
class Filter {
 public:
  Filter(const PhaseFilter& filter, Index bins)
      : filter_(filter), rows_(blocks_of(filter).rows()), beyond_(filter.reach(filter.bin_mm)) {
    image_.rows = rows_;
    image_.bins = kernels::fast_length(bins + 2 * beyond_);
    const auto frequency = [](Index k, Index n) { return 1.0 * (2 * k <= n ? k : k - n) / n; };
    for (Index r = 0; r < rows_; ++r)
      for (Index b = 0; b <= image_.bins / 2; ++b)
        image_.response.push_back(
            static_cast<float>(filter_.response(frequency(r, rows_), frequency(b, image_.bins))));
  }

  const kernels::ImageFilter& image() const { return image_; }
  Index bins_beside() const { return beyond_; }

  /// Filters a line for each row; beside its bins a line goes on with its first and its last one.
  void apply(std::span<const float* const> lines, Index bins, std::vector<float>& work) const {
    work.resize(rows_ * image_.bins);
    for (Index r = 0; r < rows_; ++r) {
      const float* from = lines[r];
      float* to = work.data() + r * image_.bins;
      std::fill_n(to, beyond_, from[0]);
      std::copy_n(from, bins, to + beyond_);
      std::fill(to + beyond_ + bins, to + image_.bins, from[bins - 1]);
    }
    kernels::filter_image(image_, work.data());
  }
  const float* line(const std::vector<float>& work, Index row) const {
    return work.data() + row * image_.bins + beyond_;
  }

 private:
  PhaseFilter filter_;
  Index rows_, beyond_;
  kernels::ImageFilter image_;
};

/// The filter of all views, made by the first one.
class LazyFilter {
 public:
  explicit LazyFilter(const PhaseFilter& filter) : filter_(filter) {}
  const Filter& operator()(Index bins) {
    std::call_once(made_, [&] { ready_ = std::make_unique<Filter>(filter_, bins); });
    return *ready_;
  }

 private:
  PhaseFilter filter_;
  std::once_flag made_;
  std::unique_ptr<Filter> ready_;
};

/// The blocks of the rows that are kept, counted among the rows of the reference.
kernels::FrameBlocks blocks_for(const Reference& reference, Range kept, const Filter& filter,
                                PhaseBlocks blocks) {
  const Index first = reference.first_row / reference.rows_together;  // row 0
  const Index begin = (first + kept.first) / blocks.own, end = ceil_div(first + kept.last, blocks.own);
  return {begin * blocks.own - first, blocks.own, end - begin, blocks.beyond, filter.bins_beside()};
}

/// Filters all blocks that have rows to be kept. Beyond the rows that are there, the first and the last one
/// go on; in the middle of a scan the margin has all rows that a block needs.
Index retrieve(Projection& view, const Filter& filter, PhaseBlocks blocks) {
  const Image<float>& y = view.y;
  const std::vector<float> as_it_came(y.data, y.data + y.n1 * y.s1);
  const kernels::FrameBlocks frame = blocks_for(view.reference, view.kept, filter, blocks);
  std::vector<const float*> lines(blocks.rows());
  std::vector<float> work;
  for (Index block = 0; block < frame.count; ++block) {
    const Index top = frame.first_row + block * blocks.own;  // first row of the block, in rows of y
    for (Index r = 0; r < blocks.rows(); ++r)
      lines[r] = as_it_came.data() + std::clamp<Index>(top - blocks.beyond + r, 0, y.n1 - 1) * y.s1;
    filter.apply(lines, y.n2, work);
    for (Index r = std::max(top, view.kept.first); r < std::min(top + blocks.own, view.kept.last); ++r)
      std::copy_n(filter.line(work, r - top + blocks.beyond), y.n2, &y(0, r, 0));
  }
  return 0;
}

ProjectionWork phase_on_projection(const Preprocessing& how) {
  const auto filter = phase_filter_of(how);
  if (!filter) return {};
  return [lazy = std::make_shared<LazyFilter>(*filter), blocks = blocks_of(*filter)](Projection& view) {
    return retrieve(view, (*lazy)(view.y.n2), blocks);
  };
}

GpuWork phase_on_gpu(const Preprocessing& how) {
  const auto filter = phase_filter_of(how);
  if (!filter) return {};
  return [lazy = std::make_shared<LazyFilter>(*filter), blocks = blocks_of(*filter)](GpuData& data) {
    const Filter& made = (*lazy)(data.y.n2);
    kernels::image_filters(data.stream.device())
        ->filter_frames(made.image(), blocks_for(data.reference, data.kept(), made, blocks), data.kept(),
                        data.y, data.stream);
    return std::optional<Index>(0);
  };
}

double phase_gpu_bytes(const Preprocessing& how, Shape shape) {
  const PhaseFilter filter = *phase_filter_of(how);
  const PhaseBlocks blocks = blocks_of(filter);
  const Index bins = kernels::fast_length(shape[2] + 2 * filter.reach(filter.bin_mm));
  return kernels::FilterBatch(blocks.rows(), bins, shape[1] / blocks.own + 2).bytes();
}

RowMargin phase_margin(const Preprocessing& how) {
  const PhaseBlocks blocks = blocks_of(*phase_filter_of(how));
  return {blocks.beyond, blocks.own};
}

Index bins_beside(const Preprocessing& how) {
  const PhaseFilter filter = *phase_filter_of(how);
  return filter.reach(filter.bin_mm);
}

double phase_bytes_a_thread(const Preprocessing& how, Shape shape) {
  const PhaseFilter filter = *phase_filter_of(how);
  const Index bins = kernels::fast_length(shape[2] + 2 * filter.reach(filter.bin_mm));
  const Index rows = blocks_of(filter).rows(), image = rows * (bins + 2), lines = 32 * std::max(rows, bins);
  return 4.0 * (2 * image + lines + shape[1] * shape[2]);
}

}  // namespace

double PhaseFilter::response(double row_frequency, double bin_frequency) const {
  const auto laplacian = [this](double f, double pitch) {  // Laplacian of cos(2 pi f x), without its sign
    const double turn = 2 * std::numbers::pi * f / pitch;
    return generalised ? 2 * (1 - std::cos(2 * std::numbers::pi * f)) / (pitch * pitch) : turn * turn;
  };
  const double of_length = strength_mm2 / (4 * std::numbers::pi * std::numbers::pi);
  return 1 / (1 + of_length * (laplacian(row_frequency, row_mm) + laplacian(bin_frequency, bin_mm)));
}

Index PhaseFilter::reach(double pitch_mm) const {
  if (!(pitch_mm > 0)) return 1;  // it is refused then
  const double decay = std::sqrt(strength_mm2) / (2 * std::numbers::pi * pitch_mm);
  return ceil_index(std::min(14 * decay, 1e9)) + 1;
}

PhaseBlocks blocks_of(const PhaseFilter& filter) {
  const Index beyond = filter.reach(filter.row_mm);
  const Index rows = kernels::fast_length(2 * beyond + std::max(fewest_rows, beyond));
  return {rows - 2 * beyond, beyond};
}

void note_phase_numbers(const StepValues& values, const io::ScanInfo& info, std::vector<std::string>& notes) {
  const auto note = [&](const Option<PositiveNumber>& option, const std::optional<double>& recorded,
                        const char* unit) {
    const std::string name = io::words(spelled("retrieve-phase-method"), ": ", option.bare_name());
    const std::string text = io::given_over_recorded(name, option.of(values), recorded, unit);
    if (!text.empty()) notes.push_back(text);
  };
  note(energy_kev, info.energy_kev, "keV");
  note(distance_mm, info.propagation_mm, "mm");
}

std::optional<PhaseFilter> phase_filter_of(const Preprocessing& how) {
  const std::string method = phase_method_of(how.values);
  if (method == "none" || !how.optics) return {};
  const Optics& optics = *how.optics;
  const double r1 = optics.to_sample_mm, r2 = distance_of(how);
  const double distance = std::isfinite(r1) ? r1 * r2 / (r1 + r2) : r2;
  const double wavelength = wavelength_mm_kev / *energy_kev.of(how.values);
  return PhaseFilter{
      .generalised = method == "gpaganin",
      .strength_mm2 = std::numbers::pi * wavelength * distance * *delta_over_beta.of(how.values),
      .bin_mm = optics.bin_mm,
      .row_mm = optics.row_mm};
}

Step phase_step() {
  return {.name = "phase",
          .help = "phase retrieval from one distance (Paganin), which blurs transmissions",
          .options = {phase_method},
          .makes_new_noise = true,
          .needs_transmission = true,
          .on_gpu = phase_on_gpu,
          .gpu_bytes = phase_gpu_bytes,
          .on_projection = phase_on_projection,
          .margin = phase_margin,
          .bins_beside = bins_beside,
          .bytes_a_thread = phase_bytes_a_thread,
          .conflict = phase_conflict,
          .hindrance = phase_hindrance};
}

}  // namespace tandem::pipeline
