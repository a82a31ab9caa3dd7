#pragma once

#include "scan.hpp"

namespace tandem {

/// The detector on which filtered rows lie (`filtered_detector`), and how many views beside some the filter
/// may need for them.
struct FilteredRows {
  Detector detector;
  Index views_beside = 0;
};

/// The filtered rows of a scan. @throws GeometryError for views that have no filter
FilteredRows filtered_rows(const Scan& scan);

}  // namespace tandem
