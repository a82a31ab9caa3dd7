#include <array>

#include "../../core/names.hpp"
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

const Beam& beam_of(const Scan& scan) {
  return std::visit([](const auto& s) -> const Beam& { return room_of(s); }, scan);
}

}  // namespace tandem::apps
