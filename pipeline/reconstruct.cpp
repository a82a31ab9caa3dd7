#include "reconstruct.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <sstream>
#include <utility>

#include "../core/error.hpp"
#include "../core/parallel.hpp"
#include "../operators/algebra.hpp"
#include "../solvers/cgls.hpp"
#include "../solvers/sirt.hpp"
#include "open_ends.hpp"
#include "problem.hpp"
#include "row_axes.hpp"
#include "warn.hpp"

namespace tandem::pipeline {

namespace {

class Stopwatch {
 public:
  explicit Stopwatch(double& into) : into_(into), start_(seconds_now()) {}
  ~Stopwatch() { into_ += seconds_now() - start_; }

 private:
  double& into_;
  double start_;
};

/// What travels along the conveyor: the line integrals of some rows, then their volume.
struct Chunk {
  Range slices;  ///< of the volume; of a parallel beam row k of the plan's scan is slice k
  std::optional<LineIntegrals> data;
  std::optional<Array> volume;
};

class Reconstruction {
 public:
  Reconstruction(io::ScanReader& reader, const Plan& plan, io::VolumeWriter& writer, const Options& options)
      : reader_(reader), plan_(plan), writer_(writer), options_(options) {
    const Recipe& r = plan.recipe;
    how_ = {r.binning, r.minus_log, air_within(r.air_bins, plan.bins, r.binning), r.gain,
            r.stop_by_discrepancy};
    require_reference(reader.info(), how_, r.stop_by_discrepancy);
    const Shape shape = plan.grid.shape();
    if (r.initial == Initial::file) initial_ = open_volume(r.initial_file, "--initial");
    if (!options.truth.empty()) {
      truth_ = open_volume(options.truth, "--truth");
      range_ = value_range(*truth_);
    }
    if (options.pictures)
      outcome_.middle = {picture(shape[2], shape[1]), picture(shape[2], shape[0]),
                         picture(shape[1], shape[0])};
  }

  Outcome run() {
    {
      const Stopwatch whole(outcome_.seconds.total);
      const Index slices = plan_.grid.size[2], step = plan_.rows_at_once;
      std::array<Chunk, conveyor_items> chunks;  // a chunk has left before its place is taken again
      const auto chunk = [&](Index i) -> Chunk& {
        return chunks[static_cast<std::size_t>(i % conveyor_items)];
      };
      conveyor((slices + step - 1) / step,
               [&](Index i) {
                 read_chunk({i * step, std::min(slices, (i + 1) * step)}, chunk(i));
               },
               [&](Index i) { compute(chunk(i)); },
               [&](Index i) {
                 write_chunk(chunk(i));
                 chunk(i).volume.reset();
               });
    }
    if (std::string text = ends_.warning(); !text.empty()) outcome_.warnings.push_back(std::move(text));
    if (!qualities_.empty()) outcome_.quality = combined(qualities_, range_);
    warn_of_findings();
    if (plan_.recipe.stop_by_discrepancy) look_at_starts();
    for (double& residual : outcome_.residuals) residual = std::sqrt(residual);
    if (!outcome_.residuals.empty() && outcome_.residuals.front() > 0)
      for (double first = outcome_.residuals.front(); double& residual : outcome_.residuals)
        residual /= first;
    return std::move(outcome_);
  }

 private:
  static io::Picture picture(Index width, Index height) {
    return {width, height, std::vector<float>(static_cast<std::size_t>(width * height))};
  }

  /// A whole volume on the plan's grid, as far as its file says where it lies.
  std::unique_ptr<io::VolumeReader> open_volume(const std::filesystem::path& path, const char* what) const {
    auto volume = std::make_unique<io::VolumeReader>(path, options_.any_external);
    volume->require_complete();
    const Shape n = volume->shape(), shape = plan_.grid.shape();
    require<FileError>(n == shape, path.string(), ": ", what, " has ", n[0], " x ", n[1], " x ", n[2],
                       " voxels (z, y, x); the reconstruction has ", shape[0], " x ", shape[1], " x ",
                       shape[2]);
    if (const auto place = volume->place())
      if (const std::string amiss = io::difference(*place, plan_.place()); !amiss.empty())
        throw FileError(path.string() + ": " + what +
                        " is on another grid than the reconstruction: " + amiss);
    return volume;
  }

  static double value_range(io::VolumeReader& volume) {
    const Shape n = volume.shape();
    std::vector<float> slice(static_cast<std::size_t>(n[1] * n[2]));
    float low = INFINITY, high = -INFINITY;
    for (Index z = 0; z < n[0]; ++z) {
      volume.read({z, z + 1}, slice.data());
      const auto [a, b] = std::minmax_element(slice.begin(), slice.end());
      low = std::min(low, *a), high = std::max(high, *b);
    }
    return high > low ? static_cast<double>(high) - static_cast<double>(low) : 1.0;
  }

  /// What a station is at; an empty name: nothing.
  void progress(Stage& station, Stage now) {
    const std::lock_guard lock(progress_mutex_);
    station = std::move(now);
    tell();
  }
  void progress(const std::string& stage, double done, const std::string& detail = "") {
    progress(computing_, {stage, done, 0, detail});
  }

  /// So that somebody may cancel.
  void no_progress_yet() {
    const std::lock_guard lock(progress_mutex_);
    tell();
  }

  /// Of the stations that work at once, the one that others wait for. With the mutex held.
  void tell() const {
    Stage now = !computing_.name.empty() ? computing_ : !reading_.name.empty() ? reading_ : writing_;
    now.total = static_cast<double>(plan_.grid.size[2]);
    if (options_.progress) options_.progress(now);
  }

  /// Rows of the file that the slices are made from.
  Range rows_of(Range slices) const {
    if (plan_.cone()) return plan_.rows;
    const Index factor = plan_.rows_together;
    return {plan_.rows.first + slices.first * factor, plan_.rows.first + slices.last * factor};
  }

  /// Preprocessing is done here, so that the CPU has it behind it while a GPU computes. A cone beam is read
  /// once, with the first slices.
  void read_chunk(Range slices, Chunk& chunk) {
    chunk.slices = slices;
    const Range rows = rows_of(slices);
    if (rows.size() == 0 || (plan_.cone() && slices.first > 0)) return;
    const double start = seconds_now();
    const auto first = static_cast<double>(slices.first);
    progress(reading_, {"read", first});
    const io::Frames counts = reader_.read(io::FrameKind::projection, plan_.views, rows, plan_.bins);
    const Reference reference = read_reference(reader_, rows, plan_.bins, how_);
    outcome_.seconds.read += seconds_now() - start;
    const Stopwatch watch(outcome_.seconds.preprocess);
    progress(reading_, {"preprocess", first});
    const Scan scan = scan_of(plan_, slices);
    chunk.data =
        preprocess(counts, reference, how_, projection_space(scan), outcome_.findings, bins_kept(scan));
    require_mostly_good();
    const bool weighs_bins = plan_.cone() || plan_.recipe.algorithm != Algorithm::fbp;
    ends_.look_at(chunk.data->y, plan_.scan, weighs_bins && half_acquisition(plan_.scan));
    progress(reading_, {"", first});
  }

  void compute(Chunk& chunk) {
    const PinArrays pinned(plan_.tiled ? plan_.devices.front() : Device::cpu());
    const Problem problem = problem_of(plan_, chunk.slices, [this] { no_progress_yet(); });
    if (plan_.rows.size() == 0) {
      chunk.volume.emplace(problem.A.domain().on(Device::cpu()));  // no ray meets it
    } else if (plan_.recipe.algorithm == Algorithm::fbp) {
      if (chunk.data) filtered_ = filter(problem, taken(chunk).y);
      chunk.volume = moved_to(Device::cpu(), back_project(problem, *filtered_, chunk.slices));
      if (!plan_.cone()) filtered_.reset();
    } else {
      chunk.volume = iterate(problem, taken(chunk), chunk.slices);
    }
    progress("", static_cast<double>(chunk.slices.last));
  }

  LineIntegrals taken(Chunk& chunk) {
    LineIntegrals data = *std::exchange(chunk.data, {});
    data.y = moved_to(plan_.home(), std::move(data.y));
    return data;
  }

  Array moved_to(Device device, Array array) {
    const Stopwatch watch(outcome_.seconds.transfer);
    return on_device(std::move(array), device);
  }

  /// Above 1 % of what was selected, filling in is no repair; nor is it where half the cells are dead, or
  /// more is floored than allowed.
  void require_mostly_good() const {
    const Findings& met = outcome_.findings;
    const double cells = static_cast<double>(plan_.rows.size()) * static_cast<double>(plan_.bins.size());
    const double selected = static_cast<double>(plan_.views.size()) * cells;
    require<FileError>(static_cast<double>(met.not_finite) <= 0.01 * selected,
                       "projections: ", met.not_finite, " pixels are not finite, more than 1 % of ", selected,
                       "; repair or leave out those views");
    const auto binned = static_cast<double>(plan_.rows_together << how_.binning);
    require<FileError>(2 * static_cast<double>(met.dead) * binned < cells, "flats: at least ", met.dead,
                       " of ", cells / binned, " cells are not above their dark; check --flats and --darks");
    const double percent = plan_.recipe.max_floored_percent;
    require<FileError>(static_cast<double>(met.floored) <= 0.01 * percent * selected / binned,
                       "projections: at least ", met.floored, " of ", selected / binned,
                       " transmissions are below ", floor_words(), ", more than ", percent,
                       " %; check --flats and --darks, or give --max-floored PERCENT");
  }

  /// What the data themselves lack, told after all of them have gone by.
  void warn_of_findings() {
    const Findings& met = outcome_.findings;
    if (met.reference_not_finite > 0)
      warn(outcome_.warnings, "flats and darks: ", met.reference_not_finite,
           " pixels are not finite, and left out of their means");
    if (met.floored > 0)
      warn(outcome_.warnings, "projections: ", met.floored, " transmissions were below ", floor_words(),
           ", and were raised to it");
  }

  std::string floor_words() const {
    const auto [low, high] = std::pair(outcome_.findings.lowest_floor, outcome_.findings.highest_floor);
    std::ostringstream text;
    text << "the floor before the logarithm, " << low;
    if (high > low) text << " to " << high;
    return text.str();
  }

  Array filter(const Problem& problem, const Array& y) {
    const Stopwatch watch(outcome_.seconds.filter);
    if (!filter_ || filter_->domain() != y.space() || has_row_axes(problem.scan))
      filter_ = filter_of(problem, plan_.recipe.filter);
    return *filter_ * y;
  }

  Array back_project(const Problem& problem, const Array& filtered, Range slices) {
    const auto done = [&](double share) {
      progress("back-project",
               static_cast<double>(slices.first) + share * static_cast<double>(slices.size()));
    };
    done(0);
    const Stopwatch watch(outcome_.seconds.backproject);
    count_updates(problem, 1);
    return back_projected(plan_, problem, filtered, done);
  }

  void count_updates(const Problem& problem, double applications) {
    outcome_.updates += applications * static_cast<double>(problem.A.domain().size()) *
                        static_cast<double>(angles_of(problem.scan).size());
  }

  Array start(const Problem& problem, const Array& y, Range slices) {
    if (plan_.recipe.initial == Initial::fbp) return back_project(problem, filter(problem, y), slices);
    if (!initial_) return Array(problem.A.domain());
    Array x(problem.A.domain().on(Device::cpu()));
    initial_->read(slices, x.data());
    return moved_to(plan_.home(), std::move(x));
  }

  Array iterate(const Problem& problem, LineIntegrals data, Range slices) {
    const Recipe& recipe = plan_.recipe;
    Array x0 = start(problem, data.y, slices);
    auto [A, y] = equations_of(problem, std::move(data.y));
    StopRule stop = max_iterations(recipe.iterations);
    if (plan_.cone()) data.noise_norms = {joint_norm(data.noise_norms)};
    if (recipe.stop_relative) stop = relative_residual(*recipe.stop_relative) || stop;
    if (recipe.stop_seconds) stop = time_limit(*recipe.stop_seconds - (seconds_now() - start_)) || stop;
    const Observer observe = [&](const Progress& now) {
      const double share = static_cast<double>(now.iteration) / std::max(1, recipe.iterations);
      std::ostringstream detail;
      detail.precision(3);
      detail << "iteration " << now.iteration << " of " << recipe.iterations << ", residual "
             << joint_norm(now.residuals) / std::max(joint_norm(now.first), 1e-300) << " of the first";
      progress("iterate", static_cast<double>(slices.first) + share * static_cast<double>(slices.size()),
               detail.str());
    };
    const auto finish = [&](auto solver) {
      if (recipe.stop_by_discrepancy) {
        noise_ = std::hypot(noise_, joint_norm(data.noise_norms));
        stop = discrepancy(data.noise_norms) || stagnation(solver, data_kept(problem.scan)) || stop;
      }
      {
        const Stopwatch watch(outcome_.seconds.iterate);
        note(tandem::run(solver, stop, observe), problem);
      }
      const Stopwatch watch(outcome_.seconds.transfer);
      return on_device(std::move(solver).solution(), Device::cpu());
    };
    if (recipe.algorithm == Algorithm::cgls) return finish(Cgls(A, std::move(y), std::move(x0)));
    return finish(Sirt(A, y, std::move(x0), {recipe.relaxation, recipe.nonnegative}));
  }

  void note(const Report& report, const Problem& problem) {
    outcome_.iterations = std::max(outcome_.iterations, report.iterations);
    outcome_.slice_iterations.insert(outcome_.slice_iterations.end(), report.block_iterations.begin(),
                                     report.block_iterations.end());
    outcome_.stopped_by.insert(outcome_.stopped_by.end(), report.stopped_by.begin(), report.stopped_by.end());
    // chunks stop at different times: a finished one keeps its last residual
    const auto at = [](const std::vector<double>& all, std::size_t i) {
      return all.empty() ? 0 : all[std::min(i, all.size() - 1)];
    };
    std::vector<double> squares(std::max(outcome_.residuals.size(), report.residuals.size()));
    for (std::size_t i = 0; i < squares.size(); ++i)
      squares[i] = at(outcome_.residuals, i) + std::pow(at(report.residuals, i), 2);
    outcome_.residuals = std::move(squares);
    const bool cgls = plan_.recipe.algorithm == Algorithm::cgls;
    const int before = cgls ? 2 : 3;  // A x0, At r; A 1, At 1, A x0
    const int traces = !plan_.recipe.stop_by_discrepancy ? 0 : cgls ? 1 : 3;
    count_updates(problem, before + traces + report.applications);
  }

  /// Slices that were within the noise before the first step: of a few, which hold air, that is right.
  void look_at_starts() {
    std::size_t still = 0;
    for (std::size_t k = 0; k < outcome_.stopped_by.size(); ++k)
      still += outcome_.slice_iterations[k] == 0 && outcome_.stopped_by[k] == "discrepancy";
    if (still == 0) return;
    require<GeometryError>(
        still < outcome_.stopped_by.size(),
        "--stop discrepancy: 0 iterations, for |b - Ax| = ", std::sqrt(outcome_.residuals.front()),
        " at the start is within the noise, ", noise_,
        " as 1/photons has it; give --gain G (counts a photon) if the data are no counts of photons, "
        "or --iterations K without --stop");
    warn(outcome_.warnings, still, " of ", outcome_.stopped_by.size(),
         " slices are within the noise at the start, and stay as they began");
  }

  /// The line integrals are finite: what is not was made here.
  void require_finite(const Chunk& chunk) const {
    const Index area = plan_.grid.size[0] * plan_.grid.size[1];
    std::vector<Index> bad(static_cast<std::size_t>(chunk.slices.size()));
    parallel_for(chunk.slices.size(), [&](Index z) {
      const float* slice = chunk.volume->data() + z * area;
      bad[static_cast<std::size_t>(z)] =
          std::count_if(slice, slice + area, [](float v) { return !std::isfinite(v); });
    });
    for (std::size_t z = 0; z < bad.size(); ++z)
      require<GeometryError>(bad[z] == 0, "slice ", chunk.slices.first + static_cast<Index>(z), ": ", bad[z],
                             " of ", area, " voxels are not finite, with a voxel of ", plan_.grid.pitch[0],
                             plan_.pitch_known ? " mm" : " bins",
                             "; values beyond 3e38 come from such a --pixel-size or --voxel-size, from data "
                             "of that size, or from an iteration that diverges");
  }

  void write_chunk(const Chunk& chunk) {
    require_finite(chunk);
    {
      const Stopwatch watch(outcome_.seconds.write);
      writer_.write(chunk.slices, chunk.volume->data());
    }
    const Index area = plan_.grid.size[0] * plan_.grid.size[1];
    std::vector<float> truth(truth_ ? static_cast<std::size_t>(area) : 0);
    for (Index z = chunk.slices.first; z < chunk.slices.last; ++z) {
      const float* slice = chunk.volume->data() + (z - chunk.slices.first) * area;
      if (options_.pictures) keep_middle(z, slice);
      if (!truth_) continue;
      truth_->read({z, z + 1}, truth.data());
      qualities_.push_back(compare({slice, static_cast<std::size_t>(area)}, truth,
                                   {1, plan_.grid.size[1], plan_.grid.size[0]}, range_));
    }
    progress(writing_, {"write", static_cast<double>(chunk.slices.last)});
  }

  void keep_middle(Index z, const float* slice) {
    const Index nx = plan_.grid.size[0], ny = plan_.grid.size[1], nz = plan_.grid.size[2];
    io::Picture &along_z = outcome_.middle[0], &along_y = outcome_.middle[1], &along_x = outcome_.middle[2];
    if (z == nz / 2) along_z.grey.assign(slice, slice + nx * ny);
    std::copy_n(slice + ny / 2 * nx, nx, along_y.grey.begin() + z * nx);
    for (Index y = 0; y < ny; ++y)
      along_x.grey[static_cast<std::size_t>(z * ny + y)] = slice[y * nx + nx / 2];
  }

  io::ScanReader& reader_;
  const Plan& plan_;
  io::VolumeWriter& writer_;
  const Options& options_;
  Preprocessing how_;
  OpenEnds ends_;
  std::unique_ptr<io::VolumeReader> initial_, truth_;
  double range_ = 1;
  double noise_ = 0;  ///< norm, of all slices so far
  std::vector<Quality> qualities_;
  Outcome outcome_;
  std::optional<LinearOperator> filter_;  ///< of chunks that are alike
  std::optional<Array> filtered_;         ///< of a cone beam, for all its slabs
  std::mutex progress_mutex_;
  Stage reading_, computing_, writing_{"start"};
  double start_ = seconds_now();
};

}  // namespace

Outcome reconstruct(io::ScanReader& reader, const Plan& plan, io::VolumeWriter& writer,
                    const Options& options) {
  return Reconstruction(reader, plan, writer, options).run();
}

}  // namespace tandem::pipeline
