#pragma once

#include "complete.hpp"

namespace tandem::pipeline {

/// Fits the disc of the support to the shadow in rows that are spread over the whole detector, so that it
/// does not depend on the selected ones, finds the higher level in its shell, and puts both into the recipe,
/// as far as they are to be found. If there are several ranks, the first one looks, and has what it found.
/// @throws GeometryError as `fit_shadow_disc` and `attenuation_of_shell`, and for rows with axes of their own
FoundSupport take_support(Recipe& recipe, io::ScanReader& reader, const Listener& listener);

}  // namespace tandem::pipeline
