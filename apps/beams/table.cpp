#include <algorithm>
#include <array>

#include "beam.hpp"

namespace tandem::apps {

extern const Beam parallel_beam, cone_beam;

std::span<const Beam> beams() {
  static const std::array all{parallel_beam, cone_beam};
  return all;
}

const Beam& beam_named(std::string_view kind) {
  return *std::ranges::find_if(beams(), [&](const Beam& beam) { return beam.kind == kind; });
}

const Beam& beam_of(const Scan& scan) { return beam_named(kind_of(scan)); }

std::vector<Index> spread_rows(Range selected, Index count) {
  std::vector<Index> rows;
  for (Index k = 0; k < count; ++k)
    rows.push_back(selected.first + (2 * k + 1) * selected.size() / (2 * count));
  return rows;
}

}  // namespace tandem::apps
