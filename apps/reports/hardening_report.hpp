#pragma once

#include <nlohmann/json.hpp>

#include "../../calibration/hardening.hpp"
#include "../../calibration/metal.hpp"
#include "../../calibration/second_material.hpp"
#include "../../calibration/shadow_disc.hpp"
#include "../../calibration/shell_attenuation.hpp"

namespace tandem::apps {

nlohmann::json hardening_json(const calibration::Hardening& found);
nlohmann::json second_json(const calibration::SecondMaterial& found);
nlohmann::json metal_json(const calibration::MetalSearch& found);
nlohmann::json support_json(const calibration::ShadowDisc& found);
nlohmann::json shell_json(const calibration::ShellAttenuation& found);

}  // namespace tandem::apps
