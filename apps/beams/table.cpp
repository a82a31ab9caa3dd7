#include <array>

#include "../../core/names.hpp"
#include "../options/values.hpp"
#include "beam.hpp"

namespace tandem::apps {

extern const Beam parallel_beam, cone_beam, flexible_beam;

namespace {

/// One line for each kind of beam.
const Beam& room_of(const ParallelBeam&) { return parallel_beam; }
const Beam& room_of(const FanBeam&) { return cone_beam; }
const Beam& room_of(const ConeBeam&) { return cone_beam; }
const Beam& room_of(const FlexibleBeam&) { return flexible_beam; }

}  // namespace

std::span<const Beam> beams() {
  static const std::array all{parallel_beam, cone_beam};
  return all;
}

const Beam& beam_named(std::string_view kind) { return named(beams(), kind, "kind of beam", &Beam::kind); }

std::string_view kind_called(const std::string& word) {
  const std::string name = in_lower_case(word);
  if (name == "fan") return ConeBeam::kind;
  for (const Beam& beam : beams())
    if (name == beam.kind) return beam.kind;
  return {};
}

const Beam& beam_of(const Scan& scan) {
  return std::visit([](const auto& s) -> const Beam& { return room_of(s); }, scan);
}

std::vector<Index> spread_rows(Range selected, Index count) {
  std::vector<Index> rows;
  for (Index k = 0; k < count; ++k)
    rows.push_back(selected.first + (2 * k + 1) * selected.size() / (2 * count));
  return rows;
}

}  // namespace tandem::apps
