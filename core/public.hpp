#pragma once

/// Opens namespace tandem in a header that is installed: what it declares can be seen from outside the
/// library, where all else is hidden.
#define TANDEM_PUBLIC [[gnu::visibility("default")]]
