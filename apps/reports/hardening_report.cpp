#include "hardening_report.hpp"

namespace tandem::apps {

using nlohmann::json;

json hardening_json(const calibration::Hardening& found) {
  json report{{"verdict", calibration::name_of(found.verdict)},
              {"why_not", found.why_not.empty() ? json(nullptr) : json(found.why_not)},
              {"b", found.b},
              {"b_by_slopes", found.b_by_slopes ? json(*found.b_by_slopes) : json(nullptr)},
              {"drifts", found.drifts},
              {"has_metal", found.has_metal},
              {"voxels_inside", found.voxels_inside},
              {"misfit_before", found.before},
              {"misfit_after", found.after},
              {"misfit_noise", found.noise},
              {"scale_uncertainty", found.scale_uncertainty},
              {"largest_change", found.largest_change}};
  if (!found.why_not.empty())
    for (const char* number : {"b", "misfit_after", "scale_uncertainty", "largest_change"})
      report[number] = nullptr;
  if (found.noise == 0) report["misfit_before"] = report["misfit_noise"] = nullptr;  // nothing was measured
  return report;
}

json second_json(const calibration::SecondMaterial& found) {
  return {{"why_not", found.why_not.empty() ? json(nullptr) : json(found.why_not)},
          {"b", found.b},
          {"d1", found.denser.d1},
          {"d2", found.denser.d2},
          {"misfit_before", found.before},
          {"misfit_of_one_curve", found.one},
          {"misfit_after", found.two},
          {"misfit_noise", found.noise},
          {"drifts", found.drifts},
          {"largest_share", found.largest_share},
          {"scale_uncertainty", found.scale_uncertainty}};
}

json metal_json(const calibration::MetalSearch& found) {
  const auto number = [](const std::optional<double>& value) { return value ? json(*value) : json(nullptr); };
  return {{"verdict", calibration::name_of(found.verdict)},
          {"main_attenuation", found.main},
          {"threshold", found.threshold},
          {"voxels", found.voxels},
          {"voxel_size", found.voxel},
          {"share_of_rays", found.share},
          {"misfit_before", number(found.before)},
          {"misfit_after", number(found.after)}};
}

json support_json(const calibration::ShadowDisc& found) {
  return {{"x", found.disc.x},
          {"y", found.disc.y},
          {"radius", found.disc.radius},
          {"residual", found.residual},
          {"edges", found.edges}};
}

json shell_json(const calibration::ShellAttenuation& found) {
  return {{"attenuation", found.value},
          {"doubt", found.doubt},
          {"rays", found.rays},
          {"change", found.change ? json(*found.change) : json(nullptr)}};
}

}  // namespace tandem::apps
