#include "follow.hpp"

#include <chrono>
#include <sstream>
#include <thread>

#include "../../core/error.hpp"
#include "../../counts/steps/step.hpp"
#include "../../pipeline/methods/method.hpp"
#include "../../solvers/run.hpp"

namespace tandem::apps {

namespace {

/// Opens a scan that can be followed from now on. @throws FileError
std::unique_ptr<io::GrowingScan> opened(const ReconOptions& o) {
  auto scan = io::open_growing_scan(o.scan.path, o.scan.how, o.planned_views);
  const pipeline::Preprocessing how =
      pipeline::preprocessing_of(o.scan.steps, select(o.scan, scan->info()).bins, 0);
  pipeline::require_reference(scan->info(), how, false);
  return scan;
}

}  // namespace

void check_follow(const ReconOptions& o) {
  if (!o.recipe.follow) return;
  if (!pipeline::method_named(o.recipe.method).filters)
    throw UsageError("--follow goes with fbp and fdk; " + o.recipe.method + " needs all views at once");
  for (const Model model : {Model::fourier, Model::hierarchical})
    if (o.recipe.model == model)
      throw UsageError("--follow: --model " + std::string(name_of(model)) +
                       " needs all views at once; leave --model out");
  for (const char* option : {"--view-shifts", "--view-row-shifts"})
    if (o.given(option))
      throw UsageError("--follow: " + std::string(option) +
                       " needs all views at once; reconstruct when the scan is complete");
  if (o.recipe.find_axis)
    throw UsageError("--follow: --rotation-axis auto needs all views at once; give --rotation-axis X");
  if (o.given("--physics"))
    throw UsageError(
        "--follow: --physics auto needs all views at once; reconstruct when the scan is complete");
  if (pipeline::option::beam_hardening.is_word(o.recipe.steps, "auto"))
    throw UsageError("--follow: --beam-hardening auto needs all views at once; give coefficients");
  if (o.recipe.mends_metal)
    throw UsageError("--follow: --metal needs all views at once; reconstruct when the scan is complete");
  if (o.recipe.padding == Padding::circle && o.recipe.fbp_filter.attenuation == 0)
    throw UsageError(
        "--follow: --padding circle finds its attenuation in all views; give circle:attenuation=X");
  const pipeline::Preprocessing how{.values = o.recipe.steps};
  for (const pipeline::Step& step : pipeline::steps())
    if (step.needs_all_views && step.asked_for(how))
      throw UsageError("--follow: the step " + std::string(step.name) +
                       " needs all views at once; leave it out");
  if (o.resume) throw UsageError("--follow and --resume do not go together");
  if (o.scan.how.view_step > 1) throw UsageError("--follow and a step of --views do not go together");
}

std::unique_ptr<io::GrowingScan> wait_for_scan(const ReconOptions& o, ProgressLine& progress) {
  const double begun = seconds_now();
  for (bool told = false;; std::this_thread::sleep_for(std::chrono::milliseconds(100))) {
    const double waited = seconds_now() - begun;
    progress("wait", waited, o.patience, "seconds");
    try {
      return opened(o);
    } catch (const FileError& fault) {
      const std::string why = fault.what();
      require<FileError>(waited < o.patience, why, "; --follow waited for ", o.patience,
                         " s (--follow=seconds=S)");
      std::ostringstream text;
      text << "note: --follow waits " << o.patience << " s (--follow=seconds=S) for the scan: " << why;
      if (!told) progress.note(text.str());
      told = true;
    }
  }
}

nlohmann::json followed_json(const pipeline::Followed& followed) {
  return {{"views", followed.views},
          {"of", followed.of},
          {"again", followed.again},
          {"seconds_after_last_view", seconds_now() - followed.last_view}};
}

}  // namespace tandem::apps
