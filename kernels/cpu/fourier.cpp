// A parallel beam through frequencies: rows <-> samples along rays <-> cells of a half plane <-> pixels.
//
// Arrays are (..., part, lane), where a lane is one slice. Transforms are complex, of two rows of the same
// slice: two views, or two rows of pixels. So the numbers of a slice never meet those of another one.

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <vector>

#include "../../core/ceil_div.hpp"
#include "../../core/parallel.hpp"
#include "../launches.hpp"
#include "continuation.hpp"
#include "fourier_gridding.hpp"
#include "scratch.hpp"
#include "tables.hpp"
#include "update.hpp"

namespace tandem::kernels::cpu {

namespace {

using Complex = std::complex<float>;

/// Number i of a line, in one lane.
Complex at(const float* line, Index i, Index lane) {
  const float* cell = line + i * floats_a_cell;
  return {cell[lane], cell[lanes + lane]};
}
void put(float* line, Index i, Index lane, Complex value) {
  float* cell = line + i * floats_a_cell;
  cell[lane] = value.real(), cell[lanes + lane] = value.imag();
}

/// Element k of the transforms of two real rows.
struct Two {
  Complex first, second;
};
/// Splits elements k and -k of the transform of first + i second into those of both.
Two apart(Complex element, Complex mirror) {
  const Complex sum = element + std::conj(mirror), difference = element - std::conj(mirror);
  return {0.5f * sum, {0.5f * difference.imag(), -0.5f * difference.real()}};
}
/// Element k of the transform of first + i second.
Complex together(Two two) {
  return {two.first.real() - two.second.imag(), two.first.imag() + two.second.real()};
}
Two conjugate(Two two) { return {std::conj(two.first), std::conj(two.second)}; }

/// The product, without the tests for infinities of operator*.
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
    moves.assign(plan.samples() * lanes, Complex(1));
    for (Index k = 0; k < plan.samples(); ++k)
      for (Index s = 0; s < count; ++s)
        moves[k * lanes + s] = Complex(row_phase(k, plan, -views.row_shifts[first + s]));
  }
};

/// The factors that make samples of the elements of a view's row: weights, and the phases that move bin 0 to
/// the middle of the slice. Phases are products from two tables that are made in double, so that the last
/// ones are as good as the first.
class Factors {
 public:
  Factors(const Group& group, Index view)
      : group_(group), ray_(group.plan.rays[view]), weight_(group.views.view_weights[view]) {
    const double centre = group.views.centres[view];
    for (Index k = 0; k < table; ++k) fine_[k] = Complex(row_phase(k, group.plan, centre));
    for (Index k = 0; k < group.plan.samples(); k += table)
      coarse_.emplace_back(row_phase(k, group.plan, centre));
  }
  /// The factor of element k, for rows that do not move.
  Complex operator()(Index k) const {
    const float weight = weight_ * group_.views.weights[k];
    return weight * product(coarse_[k / table], fine_[k % table]);
  }
  /// A sample of one lane from element k; `factor` is the factor of k.
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
    return group_.moves.empty() ? factor : product(factor, group_.moves[k * lanes + lane]);
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
  float* line;  ///< (bin or frequency, part, lane): zeros, then the rows
  float& real(Index i, Index lane, Index half) const { return line[i * floats_a_cell + half * lanes + lane]; }
};

/// body(row, end, where the value of this end lies among `Ends`) for each row of the pair.
template <class T, class Body>
void for_ends(const Group& group, const ViewPair& pair, Image<T> projections, const Body& body) {
  for (Index half = 0; half < pair.count; ++half)
    for (Index s = 0; s < group.count; ++s)
      for (const int end : {low_end, high_end})
        body(&projections(pair.v + half, group.first + s, 0), group.first + s, end, half * lanes + s);
}

void rows_to_samples(const Group& group, Image<const float> projections, const ViewPair& pair, float* polar) {
  const FourierPlan& plan = group.plan;
  for (Index half = 0; half < pair.count; ++half)
    for (Index s = 0; s < group.count; ++s) {
      const float* row = &projections(pair.v + half, group.first + s, 0);
      for (Index bin = 0; bin < plan.bins; ++bin) pair.real(bin, s, half) = row[bin];
    }
  if (const Continuation& beyond = group.views.beyond; !beyond.zeros()) {
    Ends values{};
    for_ends(group, pair, projections, [&](const float* row, Index number, int end, std::size_t at) {
      values[end][at] = end_value(beyond.end_values(), number, end, row);
    });
    go_on(beyond, values, pair.line);
  }
  transform(pair.line, plan.length, Direction::forward);
  for (Index half = 0; half < pair.count; ++half) {
    const Factors factors(group, pair.v + half);
    float* samples = polar + (pair.v + half) * plan.samples() * floats_a_cell;
    for (Index k = 0; k < plan.samples(); ++k) {
      const Complex factor = factors(k);
      for (Index s = 0; s < lanes; ++s) {
        const Two two = apart(at(pair.line, k, s), at(pair.line, k ? plan.length - k : 0, s));
        put(samples, k, s, factors.sample(k, s, factor, half ? two.second : two.first));
      }
    }
  }
}

void samples_to_rows(const Group& group, const float* const (&samples)[2], const ViewPair& pair, float alpha,
                     float beta, Image<float> projections) {
  const FourierPlan& plan = group.plan;
  const Factors first(group, pair.v), second(group, pair.v + pair.count - 1);
  for (Index k = 0; k < plan.samples(); ++k) {
    const Complex factors[2] = {first(k), second(k)};
    for (Index s = 0; s < lanes; ++s) {
      Two two{first.element(k, s, factors[0], at(samples[0], k, s)), {}};
      if (pair.count > 1) two.second = second.element(k, s, factors[1], at(samples[1], k, s));
      if (k == 0 || 2 * k == plan.length) {  // these have half the weight: samples k and -k meet here
        put(pair.line, k, s, {2 * two.first.real(), 2 * two.second.real()});
      } else {
        put(pair.line, k, s, together(two));
        put(pair.line, plan.length - k, s, together(conjugate(two)));
      }
    }
  }
  transform(pair.line, plan.length, Direction::backward);
  for (Index half = 0; half < pair.count; ++half)
    for (Index s = 0; s < group.count; ++s) {
      float* row = &projections(pair.v + half, group.first + s, 0);
      for (Index bin = 0; bin < plan.bins; ++bin) update(row[bin], alpha * pair.real(bin, s, half), beta);
    }
  if (const Continuation& beyond = group.views.beyond; !beyond.zeros()) {
    const Ends values = come_back(beyond, pair.line);
    for_ends(group, pair, projections, [&](float* row, Index number, int end, std::size_t at) {
      give_back(beyond.end_values(), number, end, alpha * values[end][at], row);
    });
  }
}

// ---- cells <-> pixels. The grid is (x, y, lane): columns of the half plane.

/// The place of pixel i of `pixels` among cells; the middle pixel is at 0.
Index cell_of(Index i, Index pixels, Index cells) {
  return i < pixels / 2 ? i - pixels / 2 + cells : i - pixels / 2;
}

/// Rows iy and iy + 1 of pixels, or iy alone, from the columns transformed along y.
void cells_to_rows(const Group& group, const float* grid, Index iy, float* line, float alpha, float beta,
                   Image<float> volume) {
  const FourierPlan& plan = group.plan;
  const Index count = std::min<Index>(2, plan.ny - iy), half_way = plan.cells_x / 2;
  const Index from[2] = {cell_of(iy, plan.ny, plan.cells_y), cell_of(iy + count - 1, plan.ny, plan.cells_y)};
  for (Index x = 0; x < plan.columns(); ++x)
    for (Index s = 0; s < lanes; ++s) {
      const Two two{at(grid, x * plan.cells_y + from[0], s), at(grid, x * plan.cells_y + from[1], s)};
      if (x == 0 || x == half_way) {
        put(line, x, s, {two.first.real(), two.second.real()});
      } else {
        put(line, x, s, together(two));
        put(line, plan.cells_x - x, s, together(conjugate(two)));
      }
    }
  transform(line, plan.cells_x, Direction::backward);
  for (Index half = 0; half < count; ++half)
    for (Index s = 0; s < group.count; ++s) {
      const float gain = alpha * plan.gain_y[iy + half];
      float* row = &volume(group.first + s, iy + half, 0);
      for (Index ix = 0; ix < plan.nx; ++ix) {
        const float part = line[cell_of(ix, plan.nx, plan.cells_x) * floats_a_cell + half * lanes + s];
        update(row[ix], gain * plan.gain_x[ix] * part, beta);
      }
    }
}

/// The transpose, as far as the columns.
void rows_to_cells(const Group& group, Image<const float> volume, Index iy, float* line, float* grid) {
  const FourierPlan& plan = group.plan;
  const Index count = std::min<Index>(2, plan.ny - iy);
  for (Index half = 0; half < count; ++half)
    for (Index s = 0; s < group.count; ++s) {
      const float gain = plan.gain_y[iy + half];
      const float* row = &volume(group.first + s, iy + half, 0);
      for (Index ix = 0; ix < plan.nx; ++ix)
        line[cell_of(ix, plan.nx, plan.cells_x) * floats_a_cell + half * lanes + s] =
            gain * plan.gain_x[ix] * row[ix];
    }
  transform(line, plan.cells_x, Direction::forward);
  for (Index x = 0; x < plan.columns(); ++x)
    for (Index half = 0; half < count; ++half) {
      const Index to = x * plan.cells_y + cell_of(iy + half, plan.ny, plan.cells_y);
      for (Index s = 0; s < lanes; ++s) {
        const Two two = apart(at(line, x, s), at(line, x ? plan.cells_x - x : 0, s));
        put(grid, to, s, half ? two.second : two.first);
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

Space grid_of(const FourierPlan& plan) { return Space({plan.columns(), plan.cells_y, floats_a_cell}); }

void backward(const FourierViews& packed, const Execution&, float alpha, Image<const float> projections,
              float beta, Image<float> volume, Stream& stream) {
  note_launch("Fourier backward");
  const FourierPlan& plan = *packed.plan;
  const Index views = projections.n0;
  Array polar(Space({views, plan.samples(), floats_a_cell}), stream), grid(grid_of(plan), stream);
  for (Index first = 0; first < volume.n0; first += lanes) {
    const Group group(packed, first, volume.n0);
    parallel_for(ceil_div<Index>(views, 2), [&](Index i) {
      Lines line(plan.length * floats_a_cell);
      rows_to_samples(group, projections, {2 * i, std::min<Index>(2, views - 2 * i), line.data()},
                      polar.data());
    });
    parallel_for(plan.tiles.size(), [&](Index i) {
      const FrequencyTile& tile = plan.tiles[i];
      Lines cells(frequency_tile * frequency_tile * floats_a_cell);
      gather_tile(plan, tile, polar.data(), cells.data());
      store_tile(plan, tile, cells.data(), grid.data());
    });
    parallel_for(plan.columns(), [&](Index x) {
      transform(grid.data() + x * plan.cells_y * floats_a_cell, plan.cells_y, Direction::backward);
    });
    parallel_for(ceil_div<Index>(plan.ny, 2), [&](Index i) {
      Lines line(plan.cells_x * floats_a_cell);
      cells_to_rows(group, grid.data(), 2 * i, line.data(), alpha, beta, volume);
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
      std::fill_n(grid.data() + x * plan.cells_y * floats_a_cell, plan.cells_y * floats_a_cell, 0.0f);
    });
    parallel_for(ceil_div<Index>(plan.ny, 2), [&](Index i) {
      Lines line(plan.cells_x * floats_a_cell);
      rows_to_cells(group, volume, 2 * i, line.data(), grid.data());
    });
    parallel_for(plan.columns(), [&](Index x) {
      transform(grid.data() + x * plan.cells_y * floats_a_cell, plan.cells_y, Direction::forward);
    });
    parallel_for(ceil_div<Index>(projections.n0, 2), [&](Index i) {
      const ViewPair pair{2 * i, std::min<Index>(2, projections.n0 - 2 * i), nullptr};
      Lines line(plan.length * floats_a_cell), samples(2 * plan.samples() * floats_a_cell);
      for (Index half = 0; half < pair.count; ++half)
        sample_ray(plan, pair.v + half, grid.data(), samples.data() + half * plan.samples() * floats_a_cell);
      samples_to_rows(group, {samples.data(), samples.data() + plan.samples() * floats_a_cell},
                      {pair.v, pair.count, line.data()}, alpha, beta, projections);
    });
  }
}

}  // namespace

/// The samples of all views, the grid, and for each thread a line, its transform and two rays of samples.
double fourier_memory(const FourierSizes& n, Index views, Index, Device) {
  const Index line = 2 * std::max({n.length + n.samples(), n.cells_x, n.cells_y});
  return 4.0 * (floats_a_cell * (views * n.samples() + n.columns() * n.cells_y + thread_count() * line));
}

namespace fourier_variants {

FourierVariant fourier() { return fourier_row(forward, backward); }

}  // namespace fourier_variants

}  // namespace tandem::kernels::cpu
