#pragma once

#include "recon_options.hpp"

namespace tandem::apps {

/// Adds --levels, --nonnegative, --bounds, --support and --shell.
void add_bounds(Table& c, pipeline::Recipe& r);

/// A disc as --support takes it.
std::string text_of_disc(const pipeline::Support& support);

}  // namespace tandem::apps
