#include "station_work.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "../core/parallel.hpp"
#include "../counts/steps/chain.hpp"
#include "../pipeline/beams/placement.hpp"
#include "../pipeline/methods/method.hpp"
#include "../pipeline/plan/grids.hpp"
#include "../pipeline/plan/route.hpp"
#include "../solvers/weight/weight_search.hpp"

namespace tandem::pipeline {

namespace {

/// The nearest power of two in words, since sizes that are this near have the same rate.
std::string about(Index n) {
  const Index power = Index{1} << std::lround(std::log2(std::max<Index>(n, 1)));
  return "about " + std::to_string(power);
}

/// The CPU, and how many of its threads work.
std::string cpu_words() {
  return description(Device::cpu()) + " with " + std::to_string(thread_count()) + " threads";
}

/// The devices that compute, in words: "2 x NVIDIA H200".
std::string device_words(const Plan& plan) {
  std::map<std::string, int> counts;
  for (const Device device : plan.flow.active_devices)
    ++counts[device.is_cuda() ? description(device) : cpu_words()];
  std::string text;
  for (const auto& [name, count] : counts)
    text.append(text.empty() ? "" : " + ").append(std::to_string(count)).append(" x ").append(name);
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

/// Numbers that pass the stations of a plan.
struct Amounts {
  double frame = 0;        ///< pixels that are read of a frame
  double projections = 0;  ///< line integrals
  double voxels = 0;       ///< voxels that are written
  double solved = 0;       ///< voxels on which the method works
};

Amounts amounts_of(const Plan& plan, const std::vector<Range>& chunks) {
  double slices = 0, solved = 0, rows = 0;
  for (const Range chunk : chunks) {
    slices += chunk.size();
    solved += solved_slices(plan.job, chunk).size();
    rows += rows_of(plan, chunk).size();
  }
  const Detector& d = plan.job.filtered.detector;
  return {rows * plan.job.rows_together * plan.job.bins.size(), views_of(plan.job.scan) * rows * d.bins,
          slices * (plan.job.grid.size[0] * plan.job.grid.size[1]),
          solved * (plan.job.solved.size[0] * plan.job.solved.size[1])};
}

/// Updates of a usual search, which looks at some slices of their own, or at all as one (`look_ahead`).
double updates_of_search(const Plan& plan, double views) {
  if (!plan.job.looks_ahead) return 0;
  const auto [nx, ny, nz] = plan.job.solved.size;
  const Index slices = route_of(plan.flow).one_problem ? nz : std::min(nz, most_slices_ahead);
  return usual_applications_of_search * views * (nx * ny * slices);
}

}  // namespace

const std::vector<Station>& stations() {
  static const std::vector<Station> all{
      {"search", &Seconds::search},     {"read", &Seconds::read},     {"preprocess", &Seconds::preprocess},
      {"transfer", &Seconds::transfer}, {"filter", &Seconds::filter}, {"backproject", &Seconds::backproject},
      {"iterate", &Seconds::iterate},   {"write", &Seconds::write},   {"finish", &Seconds::finish}};
  return all;
}

double seconds_of(const Seconds& seconds, std::string_view station) {
  const auto found = std::find_if(stations().begin(), stations().end(),
                                  [&](const Station& some) { return some.name == station; });
  return seconds.*(found->seconds);
}

bool shares_cores(const Plan& plan) {
  return std::none_of(plan.flow.active_devices.begin(), plan.flow.active_devices.end(),
                      [](Device device) { return device.is_cuda(); });
}

std::vector<StationWork> work_of(const Plan& plan, const io::ScanInfo& info, const Ends& ends,
                                 const std::vector<Range>& chunks) {
  const Amounts n = amounts_of(plan, chunks);
  const double views = views_of(plan.job.scan), updates = n.solved * views;
  const double pixel = io::bytes_of(info.type);
  const std::string cpu = cpu_words(), where = ", " + device_words(plan), pair = pair_words(plan) + where;
  const double file_frames = plan.job.views.size() + info.flats + info.darks;
  const Applications steps = plan.job.method->preparation_with(plan.job.options) +
                             *plan.job.options.iterations * plan.job.method->step_with(plan.job.options);
  const bool moves = plan.flow.home().is_cuda(), prepares = gpus_prepare(plan.job, plan.flow);
  const double counts = plan.job.views.size() * n.frame * pixel;
  const std::string solver = "iterate " + std::string(plan.job.method->name) + " " + pair;
  std::vector<StationWork> all{
      {"search", solver, updates_of_search(plan, views), true},
      {"read", "read " + ends.from + ", " + cpu, file_frames * n.frame * pixel},
      {"preprocess",
       std::string("preprocess ") + io::name_of(info.type) + ", " + step_words(plan.job.preprocessing) +
           (prepares || plan.flow.helper() ? where : ", " + cpu),
       counts},
      {"transfer", "transfer" + where, moves ? (prepares ? counts : 4 * n.projections) + 4 * n.voxels : 0},
      {"filter", "filter " + pair, plan.job.filters() ? 4 * n.projections : 0},
      {"backproject", "backproject " + pair, plan.job.filters() ? updates : 0, true},
      {"iterate", solver, plan.job.method->iterates() ? steps.together() * updates : 0, true},
      {"write", "write " + ends.to + ", " + cpu, ends.voxel_bytes * n.voxels},
      {"finish", "finish " + ends.to, ends.voxel_bytes * n.voxels}};
  std::erase_if(all, [](const StationWork& work) { return !(work.amount > 0); });
  return all;
}

std::vector<StationWork> work_done(std::vector<StationWork> planned, double updates) {
  for (const StationWork& work : planned)
    if (work.name == "backproject") updates -= work.amount;
  for (StationWork& work : planned)
    if (work.name == "iterate") work.amount = std::max(0.0, updates);
  return planned;
}

}  // namespace tandem::pipeline
