#include "look_solver.hpp"

#include <algorithm>
#include <chrono>

#include "../../pipeline/watch/live.hpp"
#include "../options/command_line.hpp"
#include "../runs/failure.hpp"
#include "../runs/lines.hpp"
#include "../runs/progress.hpp"
#include "../runs/recon_scan.hpp"
#include "look_command.hpp"

namespace tandem::apps {

using nlohmann::json;

namespace {

/// At most some 500 points of a curve, the newest among them.
json thinned_curve(const std::vector<std::pair<int, double>>& curve) {
  constexpr std::size_t most = 500;
  const std::size_t step = curve.size() / most + 1;
  json points = json::array();
  for (std::size_t k = 0; k < curve.size(); ++k)
    if (k % step == 0 || k + 1 == curve.size()) points.push_back({curve[k].first, curve[k].second});
  return points;
}

double seconds_of_clock() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// All that is to be the same for a solver to go on from where it was.
std::string problem_of(json options) {
  for (const char* name : {"iterations", "tv-weight"}) options.erase(name);
  return text_of(options);
}

/// The plane that a command names: by x, y, or else z.
std::pair<const char*, std::size_t> plane_of(const json& asked) {
  if (asked.contains("x")) return {"x", 0};
  if (asked.contains("y")) return {"y", 1};
  return {"z", 2};
}

}  // namespace

LookSolver::LookSolver(const LookOptions& options, std::function<void()> news, std::function<bool()> watched)
    : ToldOf(std::move(news)), options_(options), watched_(std::move(watched)) {}

LookSolver::~LookSolver() {
  end();
  if (thread_.joinable()) thread_.join();
}

void LookSolver::begin(const json& asked) {
  constexpr Index most_binning = 8, no_binning = -1;
  const json options = options_.by_solver(options_in(asked), asked.value("solver", json::object()));
  const auto parsed = options_.parsed(options);  // refused here rather than there
  if (!parsed->options.given("--reconstruction-algorithm"))
    throw UsageError("solver: reconstruction-algorithm is needed, such as cgls");
  Wish wish{options, whole_of(asked, "z", 0, {0, most_slices}), {}, flag_of(asked, "warm")};
  if (const Index binning = whole_of(asked, "binning", no_binning, {0, most_binning}); binning >= 0)
    wish.binning = static_cast<int>(binning);
  change([&] {
    wish_ = std::move(wish);
    enough_ = true;                                                            // for the one at work
    state_ = {{"state", "runs"}, {"stage", "waits"}, {"picture", pictures_}};  // nothing of the one before
    if (!thread_.joinable() && !over_) thread_ = std::thread([this] { work(); });
    told_.notify_all();
  });
}

void LookSolver::enough() {
  const std::lock_guard lock(mutex_);
  enough_ = true;
  if (wish_) wish_->enough = true;
}

void LookSolver::end() {
  const std::lock_guard lock(mutex_);
  over_ = true;
  told_.notify_all();
}

Pictured LookSolver::iterate(const json& asked) const {
  const Index side = whole_of(asked, "side", 4096, {16, 16385});
  const std::lock_guard lock(mutex_);
  if (newest_.grey.empty()) throw UsageError("no solver has made a picture yet");
  Pictured some{newest_, about_};
  if (!at_work_ && about_.value("whole", false)) {
    const auto [plane, axis] = plane_of(asked);
    const Index count = about_["size"][2 - axis], number = whole_of(asked, plane, about_["z"], {0, count});
    some.picture = solver_->plane(axis, number).value();
    some.head[plane] = number;
  }
  some.head["residuals"] = thinned_curve(residuals_);
  some.head["picture"] = pictures_;
  const Index width = some.picture.width, height = some.picture.height;
  if (width > side || height > side) some.picture = pipeline::shrunk(some.picture.grey, width, height, side);
  return some;
}

/// The thread: one wish after the other.
void LookSolver::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    told_.wait(lock, [this] { return over_ || wish_; });
    if (over_) return;
    const Wish wish = std::move(*wish_);
    wish_.reset();
    at_work_ = true, steps_ = false, enough_ = wish.enough;
    residuals_.clear();
    state_ = {{"state", "runs"}, {"stage", "begins"}, {"picture", pictures_}};
    lock.unlock();
    news_();
    const double begun = seconds_of_clock();
    const std::optional<Failure> failure = failure_of([&] { run(wish); });
    lock.lock();
    at_work_ = false;
    if (wish_) continue;  // a newer one: all that this one was for is its volume
    state_["state"] = failure ? "failed" : "done";
    state_["seconds"] = seconds_of_clock() - begun;
    if (failure) state_["error"] = one_line("", failure->text);
    lock.unlock();
    news_();
    lock.lock();
  }
}

void LookSolver::run(const Wish& wish) {
  const auto parsed = options_.parsed(wish.options);
  ReconOptions& o = parsed->options;
  if (const std::string how = options_.opening(wish.options); !solver_ || how != how_) {
    solver_.reset();
    reader_ = open(o.scan);
    solver_ = std::make_unique<pipeline::SliceSolver>(*reader_);
    how_ = how;
  }
  o.common.quiet = o.common.silent = true;
  ProgressLine silent(o.common);
  complete_recipe(o, *reader_, silent);
  const int binning = wish.binning.value_or(solver_->quick_binning(o.recipe));
  keep(solver_->solve(o.recipe, {wish.slice, binning, wish.warm, problem_of(wish.options)}, seen()), binning);
}

/// Whether a solver makes another step.
bool LookSolver::goes_on(int iteration, double residual) {
  const bool somebody = watched_();
  bool more = false;
  change([&] {
    if (over_) throw UsageError("tandem look ends");
    if (wish_) return;  // it is not this one's state any more
    steps_ = true;
    residuals_.emplace_back(iteration, residual);
    state_["stage"] = "iterate", state_["iteration"] = iteration, state_["residual"] = residual;
    more = somebody && !enough_;
  });
  return more;
}

pipeline::SolveSeen LookSolver::seen() {
  return {.step = [this](int iteration, double residual) { return goes_on(iteration, residual); },
          .picture =
              [this](io::Picture iterate, int iteration) {
                change([&] {
                  newest_ = std::move(iterate);
                  about_ = {{"iteration", iteration}, {"final", false}};
                  state_["picture"] = ++pictures_;
                });
              },
          .stage =
              [this](const std::string& stage, const std::string& detail) {
                {
                  const std::lock_guard lock(mutex_);
                  if (over_ || (!steps_ && enough_)) throw UsageError("stopped");
                  if (steps_) return;
                  state_["stage"] = stage, state_["detail"] = detail;
                }
                news_();
              }};
}

void LookSolver::keep(pipeline::Solved made, int binning) {
  change([&] {
    newest_ = std::move(made.picture);
    about_ = {{"iteration", made.iterations},
              {"final", true},
              {"z", made.slice},
              {"slices", made.slices},
              {"size", made.place.grid.shape()},
              {"whole", made.whole},
              {"unit", made.unit},
              {"method", made.method},
              {"pitch", made.place.grid.pitch[0]},
              {"length", made.place.unit_of_length()}};
    ++pictures_;
    if (wish_) return;
    for (const auto& [name, value] : about_.items()) state_[name] = value;
    state_["iterations"] = made.iterations, state_["stopped_by"] = made.stopped_by;
    state_["binning"] = binning, state_["warm"] = made.warm;
    state_["tv_weight"] = made.tv_weight ? json(*made.tv_weight) : json(nullptr);
    state_["warnings"] = made.warnings;
    state_["picture"] = pictures_;
  });
}

}  // namespace tandem::apps
