#pragma once

#include "../options/recon_options.hpp"

namespace tandem::apps {

/// Runs `recon --compare`: each of the methods makes a volume of the scan, which is not kept. Writes a
/// picture of their middle slices, and a table of their costs and their quality. @throws Error
void compare_methods(ReconOptions& o);

}  // namespace tandem::apps
