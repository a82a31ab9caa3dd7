#include <string>
#include <vector>

#include "../../counts/steps/step.hpp"
#include "outcome.hpp"
#include "packet.hpp"

namespace tandem::pipeline {

// These functions stand in no unnamed namespace, so that `pass` of a vector finds them.

static void pass(Packet& packet, Curve& curve) {
  pass(packet, curve.iterations);
  pass(packet, curve.values);
}

static void pass(Packet& packet, Iterated& one) {
  pass(packet, one.slices);
  pass(packet, one.iterations);
  pass(packet, one.slice_iterations);
  pass(packet, one.stopped_by);
  pass(packet, one.fitted_noise);
  pass(packet, one.squares);
  for_each_curve(one.curves, [&](const char*, Curve& curve) { pass(packet, curve); });
  for (double* number : {&one.noise, &one.data, &one.below_zero, &one.voxels, &one.between})
    pass(packet, *number);
}

static void pass(Packet& packet, Findings::OfStep& step) {
  std::string name(step.name);
  pass(packet, name);
  for (const Step& known : steps())
    if (known.name == name) step.name = known.name;
  pass(packet, step.replaced);
  pass(packet, step.notes);
  pass(packet, step.only_counts);
}

static void pass(Packet& packet, Findings& found) {
  pass(packet, found.steps);
  for (Index* number : {&found.reference_replaced, &found.reference_not_finite, &found.dead})
    pass(packet, *number);
  pass(packet, found.floor);
}

static void pass(Packet& packet, Outcome& outcome) {
  Outcome::for_each_sum([&](auto& part) { pass(packet, part); }, outcome);
}

void add_ranks(const Comm& ranks, Outcome& outcome, Findings& findings, OpenEnds& ends,
               std::optional<BeamRows>& beam) {
  if (ranks.is_alone()) return;
  Packet own;
  pass(own, outcome);
  pass(own, findings);
  pass(own, ends);
  if (beam) pass(own, *beam);
  const std::vector<std::string> all = ranks.gather(own.bytes());
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    Packet packet(all[rank]);
    Outcome other;
    Findings found;
    OpenEnds open;
    pass(packet, other);
    pass(packet, found);
    pass(packet, open);
    if (beam) {
      BeamRows rows = *beam;
      pass(packet, rows);
      beam->add(rows);
    }
    outcome.add(other);
    outcome.seconds.read += other.seconds.read;
    outcome.seconds.write += other.seconds.write;
    findings.add(found);
    ends.add(open);
  }
}

}  // namespace tandem::pipeline
