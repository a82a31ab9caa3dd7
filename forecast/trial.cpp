#include "trial.hpp"

#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkstemp, mkdtemp are not in <cstdlib>

#include <algorithm>
#include <cmath>
#include <system_error>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/host_memory.hpp"
#include "../core/rounding.hpp"
#include "../core/spelled.hpp"
#include "../io/volumes/no_volume.hpp"
#include "../operators/random.hpp"
#include "../pipeline/methods/method.hpp"
#include "../pipeline/plan/grids.hpp"
#include "../pipeline/plan/route.hpp"
#include "../pipeline/reconstruct.hpp"
#include "../pipeline/watch/stopwatch.hpp"
#include "forecast.hpp"

namespace tandem::pipeline {

namespace {

namespace fs = std::filesystem;

constexpr double long_enough = 0.15, wanted = 0.3, too_long = 0.7;  // seconds of a trial
constexpr double bytes_of_trial = 64e6;
constexpr int most_rounds = 4;

/// A scan whose counts are the same everywhere: half of the flats.
class EvenScan final : public io::ScanReader {
 public:
  explicit EvenScan(const io::ScanInfo& info) { info_ = info; }

  using ScanReader::read;
  void read(io::FrameKind kind, Range frames, Range rows, Range bins, io::Frames& into) override {
    into.type = info_.type;
    into.shape = {frames.size(), rows.size(), bins.size()};
    const std::size_t count = frames.size() * rows.size() * bins.size();
    into.bytes.resize(count * io::bytes_of(info_.type));
    const int value = kind == io::FrameKind::dark ? 0 : kind == io::FrameKind::flat ? 200 : 100;
    with_type(info_.type, [&]<class Pixel>(Pixel) {
      std::fill_n(reinterpret_cast<Pixel*>(into.bytes.data()), count, static_cast<Pixel>(value));
    });
  }
};

/// The part of a plan that a trial takes.
struct Size {
  Index slices, views;
};

/// A plan with some slices on which the method works, and some of the views, as one chunk. All that decides
/// the kernels stays as it is.
Plan part_of(Plan plan, Size size) {
  Job& job = plan.job;
  const VolumeGrid& g = job.solved;
  const Index first = (g.size[2] - size.slices) / 2, views = views_of(job.scan);
  job.grid = job.solved = region(g, {0, g.size[0]}, {0, g.size[1]}, {first, first + size.slices});
  job.inside = {};
  if (route_of(plan.flow).slices_apart) {
    job.scan = crop(job.scan, {0, views}, {0, size.slices}, {0, detector_of(job.scan).bins});
    job.rows.last = job.rows.first + size.slices * job.rows_together;
  }
  std::vector<Index> some;
  for (Index k = 0; k < size.views; ++k) some.push_back(k * views / size.views);
  job.scan = with_views(std::move(job.scan), some);
  job.views = {0, size.views};
  job.looks_ahead = false;
  plan.flow.chunk_slices = size.slices;
  plan.flow.shared = {};  // the other ranks take no part
  Recipe& options = job.options;
  options.iterations = std::min(*options.iterations, 2);
  options.tv_weight = options.tv_weight.value_or(1);
  if (options.subsets) options.subsets = std::min(*options.subsets, size.views);
  options.stop_by_discrepancy = options.stop_by_gcv = false;
  options.stop_by_ncp = options.stop_by_stagnation = options.only_watches = false;
  options.stop_relative.reset(), options.stop_gap.reset(), options.stop_seconds.reset();
  if (options.initial == Initial::file) options.initial = Initial::zero;
  return plan;
}

Size all_of(const Plan& plan) {
  return {solved_slices(plan.job, {0, std::min(plan.flow.chunk_slices, plan.job.grid.size[2])}).size(),
          views_of(plan.job.scan)};
}

/// A number of slices near `slices`, at most `most`, that makes full batches of kernels.
Index full_batches(double slices, Index most) {
  constexpr Index batch = 16;
  const auto some = floor_index(std::min<double>(slices, most));
  return std::max<Index>(1, some > batch ? some - some % batch : some);
}

/// The first size to try. Some models are fast because they take all views; other pairs take the same time
/// for each view.
Size first_size(const Plan& plan) {
  const Size all = all_of(plan);
  const SolverCost& cost = plan.job.method->kind.cost;
  const int applications = plan.job.filters() + cost.preparation.together() + 2 * cost.step.together();
  const double updates = (shares_cores(plan) ? 1e8 : 1e10) / applications;
  const double a_slice = 1.0 * plan.job.solved.size[0] * plan.job.solved.size[1];
  if (plan.flow.pair.model == Model::fourier || plan.flow.pair.model == Model::hierarchical)
    return {full_batches(2.4e7 / a_slice / applications, all.slices), all.views};
  const Index slices = full_batches(std::min(16.0, updates / (4 * a_slice)), all.slices);
  const double views = updates / (a_slice * slices);
  return {slices, std::clamp<Index>(floor_index(views), std::min<Index>(4, all.views), all.views)};
}

/// A larger size. It has more views first, because the work on vectors does not shrink with the views, and
/// then more slices.
Size larger(Size size, double times, Size most) {
  const auto grown = [](Index n, double by, Index limit) {
    return std::min<Index>(limit, ceil_index(n * by));
  };
  const Index views = grown(size.views, times, most.views);
  times *= 1.0 * size.views / views;
  return {grown(size.slices, std::max(1.0, times), most.slices), views};
}

/// The work of a part, of the kinds of the whole.
std::vector<StationWork> work_of_part(const Plan& part, const io::ScanInfo& info,
                                      const std::vector<StationWork>& whole, double updates) {
  std::vector<StationWork> works =
      work_done(work_of(part, info, {}, {Range{0, part.job.grid.size[2]}}), updates);
  for (StationWork& work : works)
    for (const StationWork& same : whole)
      if (same.name == work.name) work.kind = same.kind;
  std::erase_if(works, [](const StationWork& work) {
    return work.name == "read" || work.name == "write" || work.name == "finish";
  });
  return works;
}

const StationWork* named(const std::vector<StationWork>& works, std::string_view name) {
  const auto found =
      std::find_if(works.begin(), works.end(), [&](const StationWork& work) { return work.name == name; });
  return found == works.end() ? nullptr : &*found;
}

/// A folder that is removed with all it holds.
class HiddenFolder {
 public:
  explicit HiddenFolder(const fs::path& folder) {
    std::string pattern = (folder / ".tandem-trial-XXXXXX").string();
    require<FileError>(::mkdtemp(pattern.data()) != nullptr, folder.string(),
                       ": no folder can be made there");
    path_ = pattern;
  }
  HiddenFolder(HiddenFolder&&) = delete;
  ~HiddenFolder() {
    std::error_code unheeded;
    fs::remove_all(path_, unheeded);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace

Rates try_reading(io::ScanReader& reader, const Plan& plan, const std::vector<StationWork>& works) {
  Rates rates;
  const StationWork* work = named(works, "read");
  if (!work) return rates;
  const bool apart = route_of(plan.flow).slices_apart;
  const Index rows = apart ? std::min(plan.flow.chunk_slices * plan.job.rows_together, plan.job.rows.size())
                           : plan.job.rows.size();
  const double frame = 1.0 * (rows * plan.job.bins.size()) * io::bytes_of(reader.info().type);
  Index views = std::clamp<Index>(floor_index(bytes_of_trial / frame), 1, plan.job.views.size());
  Range next{plan.job.views.first, plan.job.views.first + views};
  io::Frames frames;
  double seconds = 0;
  for (int round = 0; round < most_rounds && seconds < long_enough && next.size() > 0; ++round) {
    const double start = seconds_now();
    reader.read(io::FrameKind::projection, next, {plan.job.rows.first, plan.job.rows.first + rows},
                plan.job.bins, frames);
    const double took = seconds_now() - start;
    seconds += took;
    if (round > 0 || next.last == plan.job.views.last)  // the first one touches the memory
      rates.add(work->kind, next.size() * frame / took, Rates::From::trial);
    next = {next.last, std::min(next.last + views, plan.job.views.last)};
  }
  return rates;
}

Rates try_computing(const io::ScanInfo& info, const Plan& plan, const std::vector<StationWork>& works) {
  require<DeviceError>(plan.flow.shared.vectors.is_alone(),
                       "several ranks do it together; give tandem info " + spelled("ranks") + " R " +
                           spelled("device-memory") + " GIB");
  const Size most = all_of(plan);
  const KeepHostMemory kept;  // the last trial finds its memory touched, as most chunks do
  Rates rates;
  const auto seconds_of_trial = [&](Size size) {
    const Plan part = part_of(plan, size);
    EvenScan scan(info);
    io::NoVolume nowhere;
    const Outcome outcome = reconstruct(scan, part, nowhere);
    rates =
        rates_of(part, work_of_part(part, info, works, outcome.updates), outcome.seconds, Rates::From::trial);
    return outcome.seconds.total;
  };
  Size size = first_size(plan);
  for (int round = 1;; ++round) {
    const double took = seconds_of_trial(size);
    if (took > too_long) break;
    const bool whole = size.slices == most.slices && size.views == most.views;
    if (took > long_enough || whole || round == most_rounds) {
      seconds_of_trial(size);
      break;
    }
    size = larger(size, std::min(16.0, wanted / std::max(took, 1e-3)), most);
  }
  return rates;
}

Rates try_writing(const fs::path& folder, const std::string& ending, io::VolumeFormat format,
                  const Plan& plan, const std::vector<StationWork>& works) {
  Rates rates;
  const HiddenFolder hidden(folder);
  const Index area = plan.job.grid.size[0] * plan.job.grid.size[1];
  const Index slices = std::clamp<Index>(floor_index(bytes_of_trial / 4 / area), 1, plan.flow.chunk_slices);
  const Shape shape{slices, plan.job.grid.size[1], plan.job.grid.size[0]};
  Random random(1);
  const Array noise = uniform_array(Space(shape), random);
  format.place.reset();
  format.range_follows = false;
  Seconds seconds;
  const double start = seconds_now();
  auto writer = io::create_volume(hidden.path() / ("trial" + ending), shape, format, "{}");
  writer->write({0, slices}, noise.data());
  seconds.write = seconds.total = seconds_now() - start;
  writer->finish("{}");
  seconds.finish = seconds_now() - start - seconds.write;
  std::vector<StationWork> done;
  for (const char* name : {"write", "finish"})
    if (const StationWork* work = named(works, name)) {
      done.push_back(*work);
      done.back().amount *= 1.0 * slices / plan.job.grid.size[2];
    }
  return rates_of(plan, done, seconds, Rates::From::trial);
}

}  // namespace tandem::pipeline
