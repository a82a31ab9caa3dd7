#pragma once

#include <optional>

#include "complete.hpp"

namespace tandem::pipeline {

/// Fits the disc of the support to the shadow in rows that are spread over the whole detector, so that it
/// does not depend on the selected ones, and puts it into the recipe. If there are several ranks, the first
/// one looks, and has the fit. @throws GeometryError as `fit_shadow_disc`, and for rows with axes of their
/// own
std::optional<calibration::ShadowDisc> take_support(Recipe& recipe, io::ScanReader& reader,
                                                    const Listener& listener);

}  // namespace tandem::pipeline
