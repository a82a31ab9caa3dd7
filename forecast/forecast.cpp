#include "forecast.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "../core/parallel.hpp"
#include "../core/units.hpp"
#include "../counts/steps/chain.hpp"
#include "../pipeline/beams/placement.hpp"
#include "../pipeline/methods/method.hpp"
#include "../pipeline/plan/grids.hpp"
#include "../pipeline/plan/route.hpp"
#include "../solvers/weight_search.hpp"

namespace tandem::pipeline {

namespace {

/// The nearest power of two in words, since sizes that are this near have the same rate.
std::string about(Index n) {
  const Index power = Index{1} << std::lround(std::log2(std::max<Index>(n, 1)));
  return "about " + std::to_string(power);
}

/// The size of a file, as small ones take the time of opening and closing.
std::string size_words(double bytes) { return ", " + about(std::llround(bytes / bytes_per_mib)) + " MiB"; }

/// The CPU, and how many of its threads work.
std::string cpu_words() {
  return description(Device::cpu()) + " with " + std::to_string(thread_count()) + " threads";
}

std::string device_words(const Plan& plan) {
  std::string text;
  for (const Device device : plan.flow.active_devices)
    text.append(text.empty() ? ", " : " + ").append(device.is_cuda() ? description(device) : cpu_words());
  return text + (in_tiles(plan.flow) ? ", in tiles" : "");
}

std::string step_words(const Preprocessing& how) {
  std::string text = "binned " + std::to_string(how.binning);
  for (const Step& step : how.table()) {
    if (!step.asked_for(how)) continue;
    text.append(", ").append(step.name);
    if (step.kind) text.append(" ").append(step.kind(how));
  }
  return text + (how.noise ? ", noise" : "");
}

/// Everything that a pair's speed depends on, except the device.
std::string pair_words(const Plan& plan) {
  std::ostringstream text;
  text << name_of(plan.flow.pair.model) << ' ' << name_of(plan.flow.execution());
  if (plan.flow.pair.model == Model::fourier || plan.flow.pair.model == Model::hierarchical)
    text << ' ' << plan.flow.execution().accuracy;
  text << ", " << kind_of(plan.job.scan) << ", "
       << about(std::max(plan.job.solved.size[0], plan.job.solved.size[1])) << " pixels, "
       << about(views_of(plan.job.scan)) << " views, " << about(std::min<Index>(plan.flow.chunk_slices, 128))
       << " slices";
  return text.str();
}

/// What passes the stations of a plan: bytes that are read of a frame, bytes of line integrals, voxels that
/// are written, and updates of all voxels that are solved from all views.
struct Amounts {
  double frame, integrals, voxels, updates;
};

Amounts amounts_of(const Plan& plan, const io::ScanInfo& info, const std::vector<Range>& chunks) {
  double slices = 0, solved = 0, rows = 0;
  for (const Range chunk : chunks) {
    slices += chunk.size();
    solved += solved_slices(plan.job, chunk).size();
    rows += rows_of(plan, chunk).size();
  }
  const Job& job = plan.job;
  const double views = views_of(job.scan), pixel = io::bytes_of(info.type);
  return {rows * job.rows_together * job.bins.size() * pixel, 4 * views * rows * job.filtered.detector.bins,
          slices * (job.grid.size[0] * job.grid.size[1]),
          solved * (job.solved.size[0] * job.solved.size[1]) * views};
}

/// Updates of a usual search, which looks at half of the views of some slices of their own, or of all as one
/// (`look_ahead`).
double updates_of_search(const Plan& plan) {
  if (!plan.job.looks_ahead) return 0;
  const auto [nx, ny, nz] = plan.job.solved.size;
  const Index slices = route_of(plan.flow).one_problem ? nz : std::min(nz, most_slices_ahead);
  return usual_applications_of_search / 2 * views_of(plan.job.scan) * (nx * ny * slices);
}

/// Stations work at the same time, but for those at the beginning and at the end of a run.
enum class Crew { reader, workers, writer, alone };
Crew crew_of(const StationWork& work) {
  if (work.seconds == &Seconds::search || work.seconds == &Seconds::finish) return Crew::alone;
  if (work.seconds == &Seconds::read) return Crew::reader;
  return work.seconds == &Seconds::write ? Crew::writer : Crew::workers;
}

/// Whether all stations compute on the cores of the CPU, so that their seconds add up.
bool shares_cores(const Plan& plan) {
  return std::ranges::none_of(plan.flow.active_devices, &Device::is_cuda);
}

}  // namespace

std::vector<StationWork> work_of(const Plan& plan, const io::ScanInfo& info, const Ends& ends,
                                 const std::vector<Range>& chunks) {
  const Job& job = plan.job;
  const auto [frame, integrals, voxels, updates] = amounts_of(plan, info, chunks);
  const double counts = job.views.size() * frame, read = counts + (info.flats + info.darks) * frame,
               written = ends.voxel_bytes * voxels;
  const bool moves = plan.flow.home().is_cuda(), prepares = gpus_prepare(job, plan.flow);
  const std::string cpu = ", " + cpu_words(), where = device_words(plan), pair = pair_words(plan) + where;
  const std::string solver = "iterate " + std::string(job.method->name) + " " + pair;
  const Applications steps = job.method->preparation_with(job.options) +
                             *job.options.iterations * job.method->step_with(job.options);
  std::vector<StationWork> all{
      {"search", &Seconds::search, solver, updates_of_search(plan), true},
      {"read", &Seconds::read, "read " + ends.from + size_words(read) + cpu, read},
      {"preprocess", &Seconds::preprocess,
       std::string("preprocess ") + io::name_of(info.type) + ", " + step_words(job.preprocessing) +
           (prepares ? where : cpu),
       counts},
      {"transfer", &Seconds::transfer, "transfer" + where,
       moves ? (prepares ? counts : integrals) + 4 * voxels : 0},
      {"filter", &Seconds::filter, "filter " + pair, job.filters() ? integrals : 0},
      {"backproject", &Seconds::backproject, "backproject " + pair, job.filters() ? updates : 0, true},
      {"iterate", &Seconds::iterate, solver, job.method->iterates() ? steps.together() * updates : 0, true},
      {"write", &Seconds::write, "write " + ends.to + size_words(written) + cpu, written},
      {"finish", &Seconds::finish, "finish " + ends.to + size_words(written), written}};
  std::erase_if(all, [](const StationWork& work) { return !(work.amount > 0); });
  return all;
}

std::vector<StationWork> work_done(std::vector<StationWork> planned, const Outcome& outcome) {
  double updates = outcome.updates;
  for (StationWork& work : planned) {  // back-projection comes before iterations
    if (work.name == "search") work.amount = outcome.searched.updates;
    if (work.name == "backproject") updates -= work.amount;
    if (work.name == "iterate") work.amount = std::max(0.0, updates);
  }
  return planned;
}

void correct(Rates& kept, const Rates& newer, bool missed) {
  for (const auto& [kind, rate] : newer)
    if (const auto [at, is_new] = kept.try_emplace(kind, rate); !is_new)
      at->second = missed ? rate : 0.5 * (at->second + rate);
}

std::vector<StationTime> times_of(const Plan& plan, const std::vector<StationWork>& done,
                                  const Seconds& seconds) {
  const double workers = plan.flow.workers.size();
  std::vector<StationTime> times;
  for (const StationWork& work : done)
    times.push_back({work, seconds.*work.seconds / (crew_of(work) == Crew::workers ? workers : 1)});
  return times;
}

std::string_view slowest_of(const std::vector<StationTime>& times) {
  const auto slowest = std::ranges::max_element(times, {}, &StationTime::seconds);
  return slowest == times.end() ? std::string_view() : slowest->work.name;
}

Rates rates_of(const Plan& plan, const std::vector<StationWork>& done, const Seconds& seconds) {
  const std::vector<StationTime> times = times_of(plan, done, seconds);
  double sum = 0;
  for (const auto& [work, own] : times)
    if (crew_of(work) != Crew::alone) sum += own;
  const double share = shares_cores(plan) ? (seconds.total - seconds.search) / sum : 1;
  Rates rates;
  for (const auto& [work, own] : times)
    if (const double rate = work.amount / (crew_of(work) == Crew::alone ? own : share * own);
        rate > 0 && std::isfinite(rate))
      rates[work.kind] = rate;  // iterations replace the search, which has the same kind
  return rates;
}

std::optional<Forecast> forecast(const Plan& plan, std::size_t chunks, const std::vector<StationWork>& works,
                                 const Rates& rates) {
  Forecast all;
  std::array<double, 4> sums{};  // by crew
  for (const StationWork& work : works) {
    const auto rate = rates.find(work.kind);
    if (rate == rates.end()) return {};
    all.times.push_back({work, work.amount / rate->second});
    sums[static_cast<std::size_t>(crew_of(work))] += all.times.back().seconds;
  }
  const auto [reading, computing, writing, alone] = sums;
  const double sum = reading + computing + writing, most = std::max({reading, computing, writing});
  const bool in_turn = shares_cores(plan) || !route_of(plan.flow).own_rows;
  all.seconds = alone + most + (sum - most) / (in_turn ? 1.0 : std::max(1.0, 1.0 * chunks));
  return all;
}

}  // namespace tandem::pipeline
