#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "../../io/volumes/volume_place.hpp"

namespace tandem::apps {

/// The place of a volume, for reports, in the order (z, y, x): `pitch_mm` along x (null if it is not known),
/// `unit`, `pitch` and `centre` in `unit_of_length`, `full_shape`, and `region` (the half-open range along
/// each axis).
nlohmann::json place_json(const io::VolumePlace& place);

/// This report in words. It names the region if it is not the full grid.
std::string words_of_place(const nlohmann::json& report);

}  // namespace tandem::apps
