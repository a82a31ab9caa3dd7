#include <gtest/gtest.h>

#include <cmath>

#include "../../geometry/free_views.hpp"
#include "../../geometry/phantom.hpp"
#include "../../pipeline/watch/beam_rows.hpp"
#include "../support/scans.hpp"

namespace tandem::test {
namespace {

using calibration::BeamVerdict;
using calibration::Hardening;
using pipeline::BeamRows;

constexpr Index views = 900, rows = 7, bins = 96;  // more views than are kept

pipeline::Job job_of_rows() {
  pipeline::Job job;
  job.scan = ParallelBeam{.detector = {.bins = bins, .rows = rows, .axis_bin = 0.5 * (bins - 1)},
                          .angles = regular_angles(views, half_turn)};
  return job;
}

/// Line integrals of an ellipse aside; two energies, of which the harder half of the beam has b times the
/// attenuation.
Array line_integrals(const Scan& scan, double b) {
  const Phantom sample = scaled({{{1, {0.6, 0.35, INFINITY}, {0.1, 0.05, 0}, 0.3}}}, 0.5 * bins, 0.05);
  std::vector<float> rays(views * rows * bins);
  project(sample, scan, {0, rows}, rays);
  Array lines(projection_space(scan));
  const auto measured = [b](double p) {
    return static_cast<float>(-std::log(0.5 * std::exp(-(2 - b) * p) + 0.5 * std::exp(-b * p)));
  };
  std::ranges::transform(rays, lines.data(), measured);
  return lines;
}

/// Some views and rows of line integrals.
Array part_of(const Array& all, Range of_views, Range of_rows) {
  Array part(Space({of_views.size(), of_rows.size(), bins}));
  const Image<const float> from = image(ConstVectorView(all));
  copy({&from(of_views.first, of_rows.first, 0), of_views.size(), of_rows.size(), bins, from.s0, from.s1},
       image(VectorView(part)), default_stream(Device::cpu()));
  return part;
}

void expect_same(const Hardening& a, const Hardening& b) {
  EXPECT_EQ(a.verdict, b.verdict);
  EXPECT_EQ(a.before, b.before);
  EXPECT_EQ(a.noise, b.noise);
  EXPECT_EQ(a.b, b.b);
}

TEST(BeamRows, TellHardeningFromOneEnergy) {
  const pipeline::Job job = job_of_rows();
  for (const double b : {1.0, 0.6}) {
    BeamRows kept(job);
    kept.add({0, views}, {0, rows}, line_integrals(job.scan, b));
    const Hardening found = kept.diagnosis();
    EXPECT_EQ(found.verdict, b == 1 ? BeamVerdict::none : BeamVerdict::hardened) << found.why_not;
    EXPECT_NEAR(found.b, b == 1 ? 1.0 : 0.6, 0.06);  // the curve that is fitted has another share
  }
}

TEST(BeamRows, AreTheSameInAnyBlocksAndOnAnyRank) {
  const pipeline::Job job = job_of_rows();
  const Array all = line_integrals(job.scan, 0.7);
  BeamRows whole(job), blocks(job), first(job), second(job);
  whole.add({0, views}, {0, rows}, all);
  for (const Range some : {Range{500, views}, Range{0, 1}, Range{1, 500}})
    for (const Range part : {Range{0, 4}, Range{3, rows}}) blocks.add(some, part, part_of(all, some, part));
  first.add({0, views}, {0, 3}, part_of(all, {0, views}, {0, 3}));
  second.add({0, views}, {3, rows}, part_of(all, {0, views}, {3, rows}));
  pipeline::Packet written;
  pass(written, second);
  pipeline::Packet read(written.bytes());
  BeamRows sent(job);
  pass(read, sent);
  first.add(sent);
  expect_same(blocks.diagnosis(), whole.diagnosis());
  expect_same(first.diagnosis(), whole.diagnosis());
}

TEST(BeamRows, TakeOnlyRowsThatPassedWhole) {
  const pipeline::Job job = job_of_rows();
  Array all = line_integrals(job.scan, 0.7);
  BeamRows some(job), none(job), one(job);
  for (Index view = 0; view < views; ++view)  // row 3 is another sample: it must not matter
    for (Index bin = 0; bin < bins; ++bin) all.data()[(view * rows + 3) * bins + bin] = 1;
  some.add({0, views}, {0, 3}, part_of(all, {0, views}, {0, 3}));
  some.add({0, views - 9}, {3, 4}, part_of(all, {0, views - 9}, {3, 4}));
  one.add({0, views}, {0, 3}, part_of(all, {0, views}, {0, 3}));
  expect_same(some.diagnosis(), one.diagnosis());
  EXPECT_EQ(some.diagnosis().verdict, BeamVerdict::hardened);
  none.add({0, views - 9}, {0, rows}, part_of(all, {0, views - 9}, {0, rows}));
  EXPECT_EQ(none.diagnosis().verdict, BeamVerdict::not_known);
  EXPECT_EQ(none.diagnosis().why_not, "not all views of the rows that tell were read in this run");
}

TEST(BeamRows, NameWhatKeepsThemFromTelling) {
  pipeline::Job job = job_of_rows();
  const auto why = [&] { return std::string(BeamRows(job).diagnosis().why_not); };
  job.circle = job.scan;
  EXPECT_NE(why().find("a tilt, a roll or shifts"), std::string::npos) << why();
  job.preprocessing.keeps_transmissions = true;
  EXPECT_NE(why().find("counts"), std::string::npos) << why();
  const ConeBeam cone{.detector = {.bins = bins, .rows = rows, .axis_bin = 0.5 * (bins - 1)},
                      .angles = regular_angles(views, whole_turn),
                      .sod = 600,
                      .sdd = 1000};
  job = {}, job.scan = as_free_views(cone, {.curved = true}), job.circle = cone;
  EXPECT_NE(why().find("curved"), std::string::npos) << why();
}

TEST(BeamRows, AreNearTheMidplaneOfACone) {
  pipeline::Job job;
  const auto cone = [&](double midplane) {
    job.scan = ConeBeam{.detector = {.bins = bins,
                                     .rows = rows,
                                     .bin_pitch = 2,
                                     .row_pitch = 2,
                                     .axis_bin = 0.5 * (bins - 1)},
                        .angles = regular_angles(views, whole_turn),
                        .sod = 600,
                        .sdd = 1000,
                        .midplane_row = midplane};
    BeamRows kept(job);
    kept.add({0, views}, {0, rows}, line_integrals(job.scan, 0.6));
    return kept.diagnosis();
  };
  EXPECT_EQ(cone(3).verdict, BeamVerdict::hardened);
  const Hardening off = cone(200);
  EXPECT_EQ(off.verdict, BeamVerdict::not_known);
  EXPECT_NE(off.why_not.find("midplane"), std::string::npos) << off.why_not;
}

}  // namespace
}  // namespace tandem::test
