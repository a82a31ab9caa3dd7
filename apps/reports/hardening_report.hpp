#pragma once

#include <nlohmann/json.hpp>

#include "../../calibration/hardening.hpp"

namespace tandem::apps {

nlohmann::json hardening_json(const calibration::Hardening& found);

}  // namespace tandem::apps
