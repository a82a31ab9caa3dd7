// A parallel beam through frequencies: rows <-> samples along rays <-> cells of a half plane <-> pixels.
//
// Arrays are (..., lane), where a lane is one slice. Transforms are complex, of two rows of the same slice:
// two views, or two rows of pixels. So the numbers of a slice never meet those of another one.

#include "fourier.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <map>
#include <mutex>
#include <vector>

#include "../../core/ceil_div.hpp"
#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../launches.hpp"
#include "fftw.hpp"
#include "fourier_gridding.hpp"
#include "update.hpp"

namespace tandem::kernels::cpu {

namespace {

using Complex = std::complex<float>;
constexpr Index lanes = fourier_lanes;

// ---- transforms along (position, lane)

/// Of all lanes at once, in place. Plans live as long as the program.
fftwf_plan plan_for(Index length, int sign) {
  static std::map<std::pair<Index, int>, FftwPlan> made;
  const FftwPlanner planner;
  FftwPlan& plan = made[{length, sign}];
  if (plan) return plan.get();
  Array line(Space({length, lanes, 2}));  // aligned as the lines will be
  auto* data = reinterpret_cast<fftwf_complex*>(line.data());
  const int n = static_cast<int>(length), many = static_cast<int>(lanes);
  plan.reset(
      fftwf_plan_many_dft(1, &n, many, data, nullptr, many, 1, data, nullptr, many, 1, sign, FFTW_ESTIMATE));
  require<DeviceError>(plan != nullptr, "Fourier model: FFTW has no plan for ", length, " numbers");
  return plan.get();
}

void transform(Complex* line, Index length, int sign) {
  auto* data = reinterpret_cast<fftwf_complex*>(line);
  fftwf_execute_dft(plan_for(length, sign), data, data);
}

/// Element k of the transforms of two real rows.
struct Two {
  Complex first, second;
};
/// From elements k and -k of the transform of first + i second.
Two apart(Complex at, Complex mirror) {
  const Complex sum = at + std::conj(mirror), difference = at - std::conj(mirror);
  return {0.5f * sum, {0.5f * difference.imag(), -0.5f * difference.real()}};
}
/// Element k of the transform of first + i second.
Complex together(Two two) {
  return {two.first.real() - two.second.imag(), two.first.imag() + two.second.real()};
}
Two conjugate(Two two) { return {std::conj(two.first), std::conj(two.second)}; }

/// Without the tests for infinities of operator*.
Complex product(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// ---- rows <-> samples

/// Slices that are worked on together.
struct Group {
  const FourierViews& views;
  const FourierPlan& plan;
  Index first, count;
  std::vector<Complex> moves{};  ///< (k, lane): what moves the row of each lane; empty if no row moves

  Group(const FourierViews& packed, Index begin, Index end)
      : views(packed), plan(*packed.plan), first(begin), count(std::min(lanes, end - begin)) {
    if (views.row_shifts.empty()) return;
    moves.assign(static_cast<std::size_t>(plan.samples() * lanes), Complex(1));
    for (Index k = 0; k < plan.samples(); ++k)
      for (Index s = 0; s < count; ++s)
        moves[static_cast<std::size_t>(k * lanes + s)] =
            Complex(row_phase(k, plan, -views.row_shifts[static_cast<std::size_t>(first + s)]));
  }
};

/// What the elements of a view's row are multiplied by to become samples: weights, and the phases that move
/// bin 0 to the middle of the slice. Phases are products from two tables that are made in double, so that the
/// last ones are as good as the first.
class Factors {
 public:
  Factors(const Group& group, Index view)
      : group_(group),
        ray_(group.plan.rays[static_cast<std::size_t>(view)]),
        weight_(group.views.view_weights[static_cast<std::size_t>(view)]) {
    for (Index k = 0; k < table; ++k)
      fine_[static_cast<std::size_t>(k)] = Complex(row_phase(k, group.plan, ray_.centre));
    for (Index k = 0; k < group.plan.samples(); k += table)
      coarse_.emplace_back(row_phase(k, group.plan, ray_.centre));
  }
  /// Of element k, for rows that do not move.
  Complex operator()(Index k) const {
    const float weight = weight_ * group_.views.weights[static_cast<std::size_t>(k)];
    return weight *
           product(coarse_[static_cast<std::size_t>(k / table)], fine_[static_cast<std::size_t>(k % table)]);
  }
  /// A sample of one lane from element k; `factor` is that of k.
  Complex sample(Index k, Index lane, Complex factor, Complex element) const {
    const Complex value = product(element, moved(k, lane, factor));
    return ray_.turned ? std::conj(value) : value;
  }
  /// The transpose.
  Complex element(Index k, Index lane, Complex factor, Complex sample) const {
    return product(ray_.turned ? std::conj(sample) : sample, std::conj(moved(k, lane, factor)));
  }

 private:
  Complex moved(Index k, Index lane, Complex factor) const {
    return group_.moves.empty() ? factor
                                : product(factor, group_.moves[static_cast<std::size_t>(k * lanes + lane)]);
  }
  static constexpr Index table = 64;
  const Group& group_;
  const Ray& ray_;
  float weight_;
  std::array<Complex, table> fine_;
  std::vector<Complex> coarse_;
};

/// Views v and v + 1, or v alone, and the transform of their rows.
struct ViewPair {
  Index v, count;
  Complex* line;  ///< (bin or frequency, lane)
  float& real(Index i, Index lane, Index half) const {
    return reinterpret_cast<float*>(line)[i * floats_a_cell + 2 * lane + half];
  }
};

/// The end values of rows, of all lanes and of both views: one number for each that a position has.
using Ends = std::array<float, floats_a_cell>;

/// Adds what rows go on with beyond their ends.
void go_on(const Continuation& beyond, Index bins, float* line) {
  if (beyond.zeros()) return;
  Ends low{}, high{};
  const float share = 1 / static_cast<float>(beyond.bins);
  for (Index b = 0; b < beyond.bins; ++b)
    for (Index c = 0; c < floats_a_cell; ++c) {
      low[static_cast<std::size_t>(c)] += share * line[b * floats_a_cell + c];
      high[static_cast<std::size_t>(c)] += share * line[(bins - 1 - b) * floats_a_cell + c];
    }
  for (std::size_t i = 0; i < beyond.before.size(); ++i, line += floats_a_cell)
    for (std::size_t c = 0; c < low.size(); ++c)
      line[c] += low[c] * beyond.before[i] + high[c] * beyond.after[i];
}

/// The transpose.
void come_back(const Continuation& beyond, Index bins, float* line) {
  if (beyond.zeros()) return;
  std::array<double, floats_a_cell> low{}, high{};
  for (std::size_t i = 0; i < beyond.before.size(); ++i)
    for (std::size_t c = 0; c < low.size(); ++c) {
      const float value = line[i * low.size() + c];
      low[c] += static_cast<double>(value * beyond.before[i]);
      high[c] += static_cast<double>(value * beyond.after[i]);
    }
  const double share = 1 / static_cast<double>(beyond.bins);
  for (Index b = 0; b < beyond.bins; ++b)
    for (Index c = 0; c < floats_a_cell; ++c) {
      line[b * floats_a_cell + c] += static_cast<float>(share * low[static_cast<std::size_t>(c)]);
      line[(bins - 1 - b) * floats_a_cell + c] +=
          static_cast<float>(share * high[static_cast<std::size_t>(c)]);
    }
}

void rows_to_samples(const Group& group, Image<const float> projections, const ViewPair& pair,
                     Complex* polar) {
  const FourierPlan& plan = group.plan;
  std::fill_n(pair.line, plan.length * lanes, Complex{});
  for (Index half = 0; half < pair.count; ++half)
    for (Index s = 0; s < group.count; ++s) {
      const float* row = &projections(pair.v + half, group.first + s, 0);
      for (Index bin = 0; bin < plan.bins; ++bin) pair.real(bin, s, half) = row[bin];
    }
  go_on(group.views.beyond, plan.bins, reinterpret_cast<float*>(pair.line));
  transform(pair.line, plan.length, FFTW_FORWARD);
  for (Index half = 0; half < pair.count; ++half) {
    const Factors factors(group, pair.v + half);
    Complex* samples = polar + (pair.v + half) * plan.samples() * lanes;
    for (Index k = 0; k < plan.samples(); ++k) {
      const Complex factor = factors(k);
      for (Index s = 0; s < lanes; ++s) {
        const Two two = apart(pair.line[k * lanes + s], pair.line[(k ? plan.length - k : 0) * lanes + s]);
        samples[k * lanes + s] = factors.sample(k, s, factor, half ? two.second : two.first);
      }
    }
  }
}

void samples_to_rows(const Group& group, const Complex* const (&samples)[2], const ViewPair& pair,
                     float alpha, float beta, Image<float> projections) {
  const FourierPlan& plan = group.plan;
  std::fill_n(pair.line, plan.length * lanes, Complex{});
  const Factors first(group, pair.v), second(group, pair.v + pair.count - 1);
  for (Index k = 0; k < plan.samples(); ++k) {
    const Complex factors[2] = {first(k), second(k)};
    for (Index s = 0; s < lanes; ++s) {
      Two two{first.element(k, s, factors[0], samples[0][k * lanes + s]), {}};
      if (pair.count > 1) two.second = second.element(k, s, factors[1], samples[1][k * lanes + s]);
      if (k == 0 || 2 * k == plan.length) {  // which have half the weight: samples k and -k meet here
        pair.line[k * lanes + s] = {2 * two.first.real(), 2 * two.second.real()};
      } else {
        pair.line[k * lanes + s] = together(two);
        pair.line[(plan.length - k) * lanes + s] = together(conjugate(two));
      }
    }
  }
  transform(pair.line, plan.length, FFTW_BACKWARD);
  come_back(group.views.beyond, plan.bins, reinterpret_cast<float*>(pair.line));
  for (Index half = 0; half < pair.count; ++half)
    for (Index s = 0; s < group.count; ++s) {
      float* row = &projections(pair.v + half, group.first + s, 0);
      for (Index bin = 0; bin < plan.bins; ++bin) update(row[bin], alpha * pair.real(bin, s, half), beta);
    }
}

// ---- cells <-> pixels. The grid is (x, y, lane): columns of the half plane.

/// Where pixel i of `pixels` stands among cells: the middle one at 0.
Index cell_of(Index i, Index pixels, Index cells) {
  return i < pixels / 2 ? i - pixels / 2 + cells : i - pixels / 2;
}

/// Rows iy and iy + 1 of pixels, or iy alone, from the columns transformed along y.
void cells_to_rows(const Group& group, const Complex* grid, Index iy, Complex* line, float alpha, float beta,
                   Image<float> volume) {
  const FourierPlan& plan = group.plan;
  const Index count = std::min<Index>(2, plan.ny - iy), half_way = plan.cells_x / 2;
  const Complex* from[2] = {grid + cell_of(iy, plan.ny, plan.cells_y) * lanes,
                            grid + cell_of(iy + count - 1, plan.ny, plan.cells_y) * lanes};
  for (Index x = 0; x < plan.columns(); ++x)
    for (Index s = 0; s < lanes; ++s) {
      const Two two{from[0][x * plan.cells_y * lanes + s], from[1][x * plan.cells_y * lanes + s]};
      if (x == 0 || x == half_way) {
        line[x * lanes + s] = {two.first.real(), two.second.real()};
      } else {
        line[x * lanes + s] = together(two);
        line[(plan.cells_x - x) * lanes + s] = together(conjugate(two));
      }
    }
  transform(line, plan.cells_x, FFTW_BACKWARD);
  const auto* parts = reinterpret_cast<const float*>(line);
  for (Index half = 0; half < count; ++half)
    for (Index s = 0; s < group.count; ++s) {
      const float gain = alpha * plan.gain_y[static_cast<std::size_t>(iy + half)];
      float* row = &volume(group.first + s, iy + half, 0);
      for (Index ix = 0; ix < plan.nx; ++ix) {
        const float part = parts[cell_of(ix, plan.nx, plan.cells_x) * floats_a_cell + 2 * s + half];
        update(row[ix], gain * plan.gain_x[static_cast<std::size_t>(ix)] * part, beta);
      }
    }
}

/// The transpose, as far as the columns.
void rows_to_cells(const Group& group, Image<const float> volume, Index iy, Complex* line, Complex* grid) {
  const FourierPlan& plan = group.plan;
  const Index count = std::min<Index>(2, plan.ny - iy);
  std::fill_n(line, plan.cells_x * lanes, Complex{});
  auto* parts = reinterpret_cast<float*>(line);
  for (Index half = 0; half < count; ++half)
    for (Index s = 0; s < group.count; ++s) {
      const float gain = plan.gain_y[static_cast<std::size_t>(iy + half)];
      const float* row = &volume(group.first + s, iy + half, 0);
      for (Index ix = 0; ix < plan.nx; ++ix)
        parts[cell_of(ix, plan.nx, plan.cells_x) * floats_a_cell + 2 * s + half] =
            gain * plan.gain_x[static_cast<std::size_t>(ix)] * row[ix];
    }
  transform(line, plan.cells_x, FFTW_FORWARD);
  for (Index x = 0; x < plan.columns(); ++x)
    for (Index half = 0; half < count; ++half) {
      Complex* to = grid + (x * plan.cells_y + cell_of(iy + half, plan.ny, plan.cells_y)) * lanes;
      for (Index s = 0; s < lanes; ++s) {
        const Two two = apart(line[x * lanes + s], line[(x ? plan.cells_x - x : 0) * lanes + s]);
        to[s] = half ? two.second : two.first;
      }
    }
}

/// Writes the cells of a tile that the grid has.
void store_tile(const FourierPlan& plan, const FrequencyTile& tile, const float* cells, float* grid) {
  const Index across = std::min<Index>(frequency_tile, plan.columns() - tile.x);
  const Index down = std::min<Index>(frequency_tile, plan.cells_y / 2 - tile.y);
  for (Index x = 0; x < across; ++x)
    for (Index y = 0; y < down; ++y) {
      const Index row = tile.y + y < 0 ? tile.y + y + plan.cells_y : tile.y + y;
      std::copy_n(cells + (x * frequency_tile + y) * floats_a_cell, floats_a_cell,
                  grid + ((tile.x + x) * plan.cells_y + row) * floats_a_cell);
    }
}

Complex* complex(Array& array) { return reinterpret_cast<Complex*>(array.data()); }

Space grid_of(const FourierPlan& plan) { return Space({plan.columns(), plan.cells_y, floats_a_cell}); }
Space line_of(Index length) { return Space({1, length, floats_a_cell}); }

void backward(const FourierViews& packed, const Execution&, float alpha, Image<const float> projections,
              float beta, Image<float> volume, Stream& stream) {
  note_launch("Fourier backward");
  const FourierPlan& plan = *packed.plan;
  const Index views = projections.n0;
  Array polar(Space({views, plan.samples(), floats_a_cell}), stream), grid(grid_of(plan), stream);
  for (Index first = 0; first < volume.n0; first += lanes) {
    const Group group(packed, first, volume.n0);
    parallel_for(ceil_div<Index>(views, 2), [&](Index i) {
      Array line(line_of(plan.length), stream);
      rows_to_samples(group, projections, {2 * i, std::min<Index>(2, views - 2 * i), complex(line)},
                      complex(polar));
    });
    parallel_for(static_cast<Index>(plan.tiles.size()), [&](Index i) {
      const FrequencyTile& tile = plan.tiles[static_cast<std::size_t>(i)];
      Array cells(Space({frequency_tile, frequency_tile, floats_a_cell}), stream);
      gather_tile(plan, tile, polar.data(), cells.data());
      store_tile(plan, tile, cells.data(), grid.data());
    });
    parallel_for(plan.columns(), [&](Index x) {
      transform(complex(grid) + x * plan.cells_y * lanes, plan.cells_y, FFTW_BACKWARD);
    });
    parallel_for(ceil_div<Index>(plan.ny, 2), [&](Index i) {
      Array line(line_of(plan.cells_x), stream);
      cells_to_rows(group, complex(grid), 2 * i, complex(line), alpha, beta, volume);
    });
  }
}

void forward(const FourierViews& packed, const Execution&, float alpha, Image<const float> volume, float beta,
             Image<float> projections, Stream& stream) {
  note_launch("Fourier forward");
  const FourierPlan& plan = *packed.plan;
  Array grid(grid_of(plan), stream);
  for (Index first = 0; first < volume.n0; first += lanes) {
    const Group group(packed, first, volume.n0);
    parallel_for(plan.columns(), [&](Index x) {  // rows of cells beyond the pixels
      std::fill_n(complex(grid) + x * plan.cells_y * lanes, plan.cells_y * lanes, Complex{});
    });
    parallel_for(ceil_div<Index>(plan.ny, 2), [&](Index i) {
      Array line(line_of(plan.cells_x), stream);
      rows_to_cells(group, volume, 2 * i, complex(line), complex(grid));
    });
    parallel_for(plan.columns(), [&](Index x) {
      transform(complex(grid) + x * plan.cells_y * lanes, plan.cells_y, FFTW_FORWARD);
    });
    parallel_for(ceil_div<Index>(projections.n0, 2), [&](Index i) {
      const ViewPair pair{2 * i, std::min<Index>(2, projections.n0 - 2 * i), nullptr};
      Array line(line_of(plan.length), stream), samples(Space({2, plan.samples(), floats_a_cell}), stream);
      for (Index half = 0; half < pair.count; ++half)
        sample_ray(plan, pair.v + half, grid.data(), samples.data() + half * plan.samples() * floats_a_cell);
      samples_to_rows(group, {complex(samples), complex(samples) + plan.samples() * lanes},
                      {pair.v, pair.count, complex(line)}, alpha, beta, projections);
    });
  }
}

}  // namespace

/// The samples of all views, the grid, and a line and two rays of samples for each thread.
double fourier_memory(const FourierSizes& n, Index views, Index, Device) {
  const Index line = std::max(n.length + 2 * n.samples(), n.cells_x);
  return 4.0 * static_cast<double>(floats_a_cell *
                                   (views * n.samples() + n.columns() * n.cells_y + thread_count() * line));
}

namespace fourier_variants {

FourierVariant fourier() { return fourier_row(forward, backward); }

}  // namespace fourier_variants

}  // namespace tandem::kernels::cpu
