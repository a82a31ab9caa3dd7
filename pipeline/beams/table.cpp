#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../../core/units.hpp"
#include "../../geometry/circle.hpp"
#include "../plan/warn.hpp"
#include "beam.hpp"

namespace tandem::pipeline {

extern const Beam parallel_beam, cone_beam, flexible_beam;

namespace {

/// One line for each kind of beam.
const Beam& room_of(const ParallelBeam&) { return parallel_beam; }
const Beam& room_of(const FanBeam&) { return cone_beam; }
const Beam& room_of(const ConeBeam&) { return cone_beam; }
const Beam& room_of(const FlexibleBeam&) { return flexible_beam; }

}  // namespace

const Beam& beam_of(const Scan& scan) {
  return std::visit([](const auto& s) -> const Beam& { return room_of(s); }, scan);
}

FilterOfViews when_asked_for(std::function<FilterOfViews()> make) {
  struct Once {
    std::once_flag flag;
    FilterOfViews made;
  };
  return [once = std::make_shared<Once>(), make = std::move(make)](Range views) {
    std::call_once(once->flag, [&] { once->made = make(); });
    return once->made(views);
  };
}

void require_only(const Execution& only, const Recipe& recipe, const char* kind) {
  Execution how = recipe.execution;
  if (how.variant == "automatic") how.variant = only.variant;
  require<DeviceError>(how == only, kind, " beam: no ", name_of(how),
                       "; give " + spelled("variant") + " automatic " + spelled("precision") + " float32");
}

/// A hint for angles that turn by less than a whole turn of radians; empty for others.
std::string hint_of_radians(const std::vector<double>& angles) {
  constexpr std::size_t fewest = 16;  // views
  if (angles.size() < fewest) return {};
  const auto [least, most] = std::ranges::minmax(angles);
  if (in_degrees(most - least) > whole_turn) return {};
  return "; if the angles are radians, give " + spelled("angles") + " with " + spelled("angles-unit") +
         " rad";
}

/// What else an open arc makes uncertain, if the weight of total variation is looked for; else empty.
static std::string hint_of_weight(const Job& job) {
  if (!job.looks_ahead) return {};
  return "; such data tell little of the weight of total variation, which " + spelled("tv-weight") +
         " X gives: where much of the turn is missing, it is that of noise alone";
}

void warn_of_missing_arc(std::vector<std::string>& warnings, const Job& job, double missing) {
  if (in_degrees(missing) > 0.01)
    warn(warnings, "the views leave ", in_degrees(missing),
         " degrees of a short scan (half a turn and the fan) open",
         job.filters() ? ", which count as zero" : "", "; expect limited-angle artefacts",
         job.filters() ? " and low values" : "", hint_of_weight(job),
         hint_of_radians(angles_of(job.upright())));
}

void warn_of_gap(std::vector<std::string>& warnings, const Job& job, const std::vector<double>& angles,
                 double gap, double open, double period) {
  if (look_like_radians(angles_of(job.upright())))
    return warn(warnings, "the angles look like radians, and are taken as degrees; give degrees by " +
                              spelled("angles") + " or " + spelled("arc"));
  const double usual = period / angles.size(), narrow = in_radians(5);
  const bool hole = gap > 3 * narrow && Circle(angles, period).holes() > 0;
  if (gap <= narrow || (gap <= 5 * usual && !hole)) return;
  const char* whole = period == half_turn ? "half turn" : "turn";
  const bool zero = open > in_radians(0.01);
  if (zero || !job.filters())
    warn(warnings, "the views leave ", in_degrees(zero ? open : gap), " degrees of the ", whole, " open",
         job.filters() ? ", which count as zero" : "", "; expect limited-angle artefacts",
         job.filters() ? " and low values" : "", hint_of_weight(job), hint_of_radians(angles));
  else
    warn(warnings, "the views leave a gap of ", in_degrees(gap), " degrees in the ", whole,
         ", for which the views beside it stand; expect streaks");
}

}  // namespace tandem::pipeline
