#include "tell_hardening.hpp"

#include <sstream>

#include "../../core/spelled.hpp"

namespace tandem::pipeline {

using calibration::BeamVerdict;
using calibration::Hardening;
using calibration::HardeningBy;

std::string short_of(double value) {
  std::ostringstream text;
  text.precision(3);
  text << value;
  return text.str();
}

namespace {

/// "misfit of projections 24.8 -> 0.21 (noise 0.14)".
std::string misfit_of(const Hardening& found, bool after) {
  return "misfit of the projections " + short_of(found.before) +
         (after ? " -> " + short_of(found.after) : "") + " (noise " + short_of(found.noise) + ")";
}

/// What the correction does, or would do.
std::string change_of(const Hardening& found) {
  return "b " + short_of(found.b) + ", the thickest rays by +" + short_of(100 * found.largest_change) +
         " %, scale +- " + short_of(100 * found.scale_uncertainty) + " %";
}

std::string words_of_verdict(const Hardening& found, HardeningBy means) {
  switch (found.verdict) {
    case BeamVerdict::none:
      if (found.after < found.before / 2 && found.b < 1)
        return "beam hardening is so little that it may be noise, or changes less than half a percent: " +
               misfit_of(found, true);
      return "no beam hardening stands out: " + misfit_of(found, false) + "; three times that may be noise";
    case BeamVerdict::hardened:
      return "beam hardening: " + misfit_of(found, true) + ", " + change_of(found) +
             (found.b_by_slopes ? ""
              : means == HardeningBy::moments
                  ? "; " + spelled("beam-hardening") + " auto checks that in slices, and corrects it"
                  : "; slices are too small to check that it is not scatter");
    case BeamVerdict::hardened_by_slopes:
      return "beam hardening, by slopes inside of one material alone, since the projections agree with each "
             "other for any beam, as those of a round body do: " +
             change_of(found) + "; a body whose density falls towards its middle looks the same";
    case BeamVerdict::ambiguous:
      if (found.after > found.before / 2)
        return "the projections agree: " + misfit_of(found, false) +
               ", as those of a round body always do, and slopes inside of slices are not those of hardening "
               "alone";
      return "beam hardening of one material explains only a part: " + misfit_of(found, true) +
             (found.has_metal ? "; there is metal" : "; a second material or scatter may be the rest");
    case BeamVerdict::inconsistent:
      return "the projections do not agree, and beam hardening of one material is not why: " +
             misfit_of(found, false) +
             "; scatter, materials side by side, a wrong axis or wrong angles, a beam that drifts (" +
             spelled("air-columns") + "), or a sample that moves may be the cause";
    default:
      return "beam hardening cannot be told from the projections: " + std::string(found.why_not);
  }
}

}  // namespace

std::string words_of(const Hardening& found, HardeningBy means, bool corrected) {
  const std::string words =
      !corrected || found.noise == 0 ? words_of_verdict(found, means)
      : found.verdict == BeamVerdict::hardened
          ? "after the correction of beam hardening there is more of it: " + misfit_of(found, true)
          : "after the correction of beam hardening: " + misfit_of(found, false);
  return !found.drifts ? words
                       : "the beam drifts from view to view (" + spelled("air-columns") +
                             " takes that out); apart from that, " + words;
}

/// What a second material explains.
std::string words_of_second(const calibration::SecondMaterial& second) {
  return "beam hardening of two materials: misfit of the projections " + short_of(second.before) + " -> " +
         short_of(second.one) + " by one curve -> " + short_of(second.two) + " (noise " +
         short_of(second.noise) + "), b " + short_of(second.b) + ", denser parts by up to +" +
         short_of(100 * second.largest_share) + " %, scale +- " + short_of(100 * second.scale_uncertainty) +
         " %";
}

void tell_of_hardening(const Hardening& found, const std::optional<calibration::SecondMaterial>& second,
                       const Listener& listener) {
  if (second && second->is_told())
    return listener.note(spelled("beam-hardening") + " auto: " + words_of_second(*second) + "; corrected");
  const std::string option = spelled("beam-hardening") + " auto: ",
                    words = words_of(found, HardeningBy::moments_and_slices);
  if (!found.drifts && (found.verdict == BeamVerdict::none || found.verdict == BeamVerdict::hardened))
    return listener.note(option + words + (found.is_corrected() ? "; corrected" : "; nothing is changed"));
  listener.warn(option + words +
                (found.is_corrected()
                     ? ""
                     : "; nothing is changed; give a wedge, a spectrum or coefficients if you "
                       "know them"));
}

}  // namespace tandem::pipeline
