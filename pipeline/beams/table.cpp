#include "beam.hpp"

namespace tandem::pipeline {

extern const Beam parallel_beam, cone_beam;

namespace {

/// One line a kind.
const Beam& room_of(const ParallelBeam&) { return parallel_beam; }
const Beam& room_of(const FanBeam&) { return cone_beam; }
const Beam& room_of(const ConeBeam&) { return cone_beam; }

}  // namespace

const Beam& beam_of(const Scan& scan) {
  return std::visit([](const auto& s) -> const Beam& { return room_of(s); }, scan);
}

}  // namespace tandem::pipeline
