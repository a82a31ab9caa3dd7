// Rows that go on beyond their ends on a GPU, against the CPU and against the transpose. Skipped where no GPU
// is.

#include "../../operators/adjointness.hpp"
#include "../../operators/continuation.hpp"
#include "../../operators/fourier.hpp"
#include "../support/half_scans.hpp"
#include "cuda_fixture.hpp"

namespace tandem::test {
namespace {

constexpr Padding tapers[] = {Padding::edge, Padding::cosine};

Filter under(Window window, Padding padding, std::optional<Index> over) {
  return {.window = window, .cutoff = {}, .padding = padding, .padding_bins = over};
}

std::string name_of(const Filter& filter, Index bins) {
  return std::string(tandem::name_of(filter.padding)) + " over " +
         (filter.padding_bins ? std::to_string(*filter.padding_bins) : "half") + " of " +
         std::to_string(bins) + " bins";
}

/// A half acquisition: its rows are widened, and its rays are weighed.
ParallelBeam half_scan(Index rows) { return {{61, rows, 1, 1, 10}, regular_angles(81, whole_turn), {}}; }

/// A scan so wide that several bins of the band make an end value. Rows have axes of their own, and about the
/// last one the other end is the nearer one.
ParallelBeam wide_half_scan() {
  return {{810, 3, 1, 1, 200}, regular_angles(31, whole_turn), {200, 185.4, 489.3}};
}

/// The largest error, relative to the largest number.
double largest_error(const Array& a, const Array& truth) {
  const Array here = on_device(a, Device::cpu()), there = on_device(truth, Device::cpu());
  double largest = 0, difference = 0;
  for (Index i = 0; i < here.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(there.data()[i])));
    difference = std::max(difference, std::abs(static_cast<double>(here.data()[i]) - there.data()[i]));
  }
  return difference / largest;
}

/// Makers of operators on a device.
template <class Beam>
Make filters(const Beam& scan, const Filter& filter) {
  return [=](Device device) { return ramp_filter(scan, filter, device); };
}
Make fourier_fbps(const ParallelBeam& scan, const VolumeGrid& grid, const Filter& filter) {
  return [=](Device device) { return fourier_fbp(scan, grid, filter, device); };
}

class CudaContinuation : public Cuda {
 protected:
  /// An end bin of the transpose is a sum over all of the circle, so there the largest error tells little.
  void expect_same(const Make& make, const std::string& name) const {
    const LinearOperator there = make(gpu), here = make(cpu);
    expect_pairs_alike(there, here, name);
    const Array x = random_array(here.domain(), 3);
    EXPECT_LE(largest_error(there * on_device(x, gpu), here * x), tolerance::devices) << name;
  }
  /// Another number in one bin of the middle row changes nothing in the rows beside.
  void expect_rows_apart(const LinearOperator& map, Index view, const std::string& name) const {
    const Array y = random_array(map.domain(), 6), truth = map * y;
    const Space one = one_row(map.range());
    for (const Index bin : {Index{0}, Index{5}, map.domain().shape()[2] - 1})
      for (const float bad : {std::numeric_limits<float>::quiet_NaN(), 1e30f}) {
        Array with = on_device(y, cpu);
        image(VectorView(with))(view, 1, bin) = bad;
        const Array out = map * on_device(with, gpu);
        for (const Index row : {0, 2})
          EXPECT_TRUE(same_bits(one_of(out, row, one), one_of(truth, row, one)))
              << name << ", row " << row << ", bin " << bin << ", " << bad;
      }
  }

 private:
  static Space one_row(const Space& three) {
    Shape shape = three.shape();
    shape[three.blocks() == Blocks::rows ? 1 : 0] = 1;
    return Space(shape, three.blocks(), three.device());
  }
};

/// One bin goes on over one: what rounding leaves grows with how often the bin is counted.
TEST_F(CudaContinuation, RampFiltersAgreeWithTheCpu) {
  for (const Padding padding : tapers) expect_same(filters(odd_scan(1, 5), padded(padding, 1)), "one bin");
  for (const Index bins : {7, 60, 61, 300, 2047})
    for (const Padding padding : tapers)
      for (const std::optional<Index> over : {std::optional<Index>{}, {1}, {30}, {500}}) {
        const Filter filter = padded(padding, over);
        const ParallelBeam scan = odd_scan(bins, 5);
        expect_same(filters(scan, filter), name_of(filter, bins));
      }
}

TEST_F(CudaContinuation, IsSeen) {
  const ParallelBeam scan = odd_scan(61, 5);
  const VolumeGrid grid = grid_of(45, 37, 5);
  const Array y = random_array(projection_space(scan, gpu), 3);
  for (const Padding padding : tapers) {
    EXPECT_GT(relative_error(ramp_filter(scan, padded(padding), gpu) * y, ramp_filter(scan, {}, gpu) * y),
              0.01);
    EXPECT_GT(relative_error(fourier_fbp(scan, grid, padded(padding), gpu) * y,
                             fourier_fbp(scan, grid, {}, gpu) * y),
              0.01);
  }
}

/// There are more pairs of rows than are transformed at once.
TEST_F(CudaContinuation, ManyLongRowsAgreeWithTheCpu) {
  const ParallelBeam scan = odd_scan(4097, 40);
  const Filter filter = under(Window::hann, Padding::cosine, 100);
  expect_same(filters(scan, filter), "many long rows");
}

TEST_F(CudaContinuation, OfRowsThatAreMovedWeighedOrWidenedAgreesWithTheCpu) {
  for (const Padding padding : tapers)
    for (const std::optional<Index> over : {std::optional<Index>{}, {9}}) {
      const Filter filter = padded(padding, over);
      const ParallelBeam wobbling = wobbling_scan();
      expect_same(filters(wobbling, filter), "rows that move");
      expect_same(filters(half_scan(3), filter), "half acquisition");
      ParallelBeam moving_half = half_scan(3);
      moving_half.row_axis_bins = {10, 9.4, 11.3};
      expect_same(filters(moving_half, filter), "half acquisition whose rows move");
      expect_same(filters(wide_half_scan(), filter), "wide half acquisition whose rows move");
      expect_same([](Device device) { return weigh_rays(wide_half_scan(), device); }, "weighed rays");
      for (const double axis : {60.0, 403.0, 406.5}) {
        const ConeBeam wide{{810, 2, 0.9, 1.3, axis}, regular_angles(19, whole_turn), 1600, 2000, 0.7};
        expect_same(filters(wide, filter), "wide cone, axis at bin " + std::to_string(axis));
      }
      for (const double axis : {15.2, 6.4, 25.1})
        for (const double arc : {whole_turn, 3.6}) {
          const ConeBeam cone{{31, 5, 0.9, 1.3, axis}, regular_angles(19, arc), 60, 100, 1.7};
          expect_same(filters(cone, filter), "cone, axis at bin " + std::to_string(axis));
        }
    }
}

TEST_F(CudaContinuation, FourierFbpAgreesWithTheCpu) {
  struct Case {
    ParallelBeam scan;
    VolumeGrid grid;
  };
  const Case cases[] = {{scan_of(23, 11, 21), grid_of(17, 19, 11)},
                        {scan_of(31, 3, 60), grid_of(71, 50, 3, 0.8)},
                        {scan_of(31, 5, 333), grid_of(40, 61, 5, 2.3)},
                        {scan_of(13, 2, 2500), grid_of(70, 90, 2, 3)},
                        {scan_of(40, 70, 301), grid_of(111, 64, 70)},
                        {wobbling_scan(), grid_of(43, 41, 3)},
                        {half_scan(3), grid_of(61, 57, 3)},
                        {wide_half_scan(), grid_of(61, 57, 3)}};
  for (const Case& c : cases)
    for (const Padding padding : tapers)
      for (const std::optional<Index> over : {std::optional<Index>{}, {1}, {500}}) {
        const Filter filter = under(Window::hann, padding, over);
        expect_same(fourier_fbps(c.scan, c.grid, filter),
                    "Fourier, " + name_of(filter, c.scan.detector.bins));
      }
}

template <class MakeScan>
void expect_half_is_whole(const Way& way, const Width& width, const MakeScan& scan_of) {
  const auto half = scan_of(width, true), whole = scan_of(width, false);
  const Phantom disc = disc_aside(width.whole);
  const Array of_half = line_integrals_of(disc, half), of_whole = line_integrals_of(disc, whole);
  for (const Padding padding : paddings) {
    const std::vector<double> some = readings(way, width, half, of_half, padding),
                              all = readings(way, width, whole, of_whole, padding);
    for (std::size_t k = 0; k < some.size(); ++k) {
      SCOPED_TRACE(std::string(decltype(half)::kind) + ", " + std::string(name_of(way.model)) + ", " +
                   tandem::name_of(way.how) + ", " + std::to_string(width.whole) + " bins, " +
                   std::string(tandem::name_of(padding)));
      EXPECT_NEAR(some[k], all[k], tolerance::half_of_whole);
      EXPECT_NEAR(some[k], 1, tolerance::half_of_whole);
    }
  }
}

/// Every kernel and precision but bytes, which have too few steps for the weights' band.
TEST_F(CudaContinuation, LeavesHalfOfADiscAsGoodAsTheWhole) {
  std::vector<Way> ways{{Model::joseph, gpu}, {Model::fourier, gpu}};
  for (const Execution& how : executions_of_hats(gpu))
    if (how.precision != Precision::uint8) ways.push_back({Model::pixel_driven, gpu, how});
  for (const Width& width : widths) {
    for (const Way& way : ways) expect_half_is_whole(way, width, parallel_scan);
    for (const Model model : {Model::separable_footprint, Model::pixel_driven}) {
      expect_half_is_whole({model, gpu}, width, fan_scan);
      expect_half_is_whole({model, gpu}, width, cone_scan);
    }
  }
}

TEST_F(CudaContinuation, PairsOfRowsThatAreMovedOrWidenedMatch) {
  const ParallelBeam wobbling = wobbling_scan();
  for (const Padding padding : tapers) {
    const Filter filter = padded(padding);
    EXPECT_LE(adjointness(ramp_filter(wobbling, filter, gpu)).mismatch, tolerance::mismatch);
    EXPECT_LE(adjointness(ramp_filter(half_scan(3), filter, gpu)).mismatch, tolerance::mismatch);
    EXPECT_LE(adjointness(ramp_filter(wide_half_scan(), filter, gpu)).mismatch, tolerance::mismatch);
    EXPECT_LE(adjointness(fourier_fbp(wide_half_scan(), grid_of(61, 57, 3), filter, gpu)).mismatch,
              tolerance::composed_mismatch);
    EXPECT_LE(adjointness(fourier_fbp(wobbling, grid_of(43, 41, 3), filter, gpu)).mismatch,
              tolerance::composed_mismatch);
  }
}

TEST_F(CudaContinuation, NumbersThatAreNotFiniteStayInTheirRow) {
  const Filter filter = padded(Padding::cosine);
  const ParallelBeam scan = odd_scan(61, 3);
  const LinearOperator ramp = ramp_filter(scan, filter, gpu),
                       fbp = fourier_fbp(scan, grid_of(45, 37, 3), filter, gpu);
  for (const Index view : {0, 21, 52}) {
    expect_rows_apart(ramp, view, "ramp");
    expect_rows_apart(adjoint(ramp), view, "ramp, transpose");
    expect_rows_apart(fbp, view, "Fourier");
  }
}

}  // namespace
}  // namespace tandem::test
