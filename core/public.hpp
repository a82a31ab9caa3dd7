#pragma once

/// Opens namespace tandem in a header that is installed. What such a header declares is visible outside the
/// library; everything else is hidden.
#define TANDEM_PUBLIC [[gnu::visibility("default")]]
