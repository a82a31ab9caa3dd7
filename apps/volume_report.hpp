#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "../io/volume_place.hpp"

namespace tandem::apps {

/// Where a volume lies, for reports, in the order (z, y, x): `pitch_mm` along x (null where none is known),
/// `unit`, `pitch` and `centre` in `unit_of_length`, `full_shape`, `region` (first and last of each axis).
nlohmann::json place_json(const io::VolumePlace& place);

/// The same for people, of such a report; the region where it is not all.
std::string words_of_place(const nlohmann::json& report);

}  // namespace tandem::apps
