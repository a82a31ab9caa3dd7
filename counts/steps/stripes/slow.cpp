#include "slow.hpp"

#include <array>

#include "../../../core/parallel.hpp"

namespace tandem::pipeline::stripes {

namespace {

using kernels::Turn, kernels::Waves, kernels::WaveSums;

constexpr Index lanes = 16;  // columns together
template <class T>
using Lanes = std::array<T, lanes>;

/// Some columns with what lies beside them, (element, column); those that are not there are 0.
std::vector<Lanes<double>> elements_of(const Plane& sinogram, Range columns, const Waves& waves) {
  std::vector<Lanes<double>> all(waves.length);
  for (Index j = 0; j < waves.length; ++j)
    std::copy_n(sinogram.row(mirrored(j - waves.beside, sinogram.rows)) + columns.first, columns.size(),
                all[j].begin());
  return all;
}

/// The sums of the elements with each wave, times its weight.
std::vector<Lanes<WaveSums>> sums_of(const std::vector<Lanes<double>>& elements, const Waves& waves,
                                     const std::vector<Turn>& turns) {
  std::vector<Lanes<WaveSums>> all;
  for (std::size_t i = 0; i < waves.halves.size(); ++i) {
    Lanes<WaveSums> own{};
    Index m = 0;
    for (const Lanes<double>& values : elements) {
      const Turn turn = turns[m];
      for (std::size_t c = 0; c < lanes; ++c) own[c].add(values[c], turn);
      m = kernels::next_turn(m, waves.halves[i], waves.length);
    }
    for (WaveSums& sums : own) sums = sums.times(waves.weights[i]);
    all.push_back(own);
  }
  return all;
}

/// Element `row` of the slow part.
Lanes<double> added_up(const std::vector<Lanes<WaveSums>>& sums, Index row, const Waves& waves,
                       const std::vector<Turn>& turns) {
  Lanes<double> slow{};
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const Index m = waves.halves[i] * (row + waves.beside) % (2 * waves.length);
    const Turn turn = turns[m];
    for (std::size_t c = 0; c < lanes; ++c) slow[c] = sums[i][c].added_to(slow[c], turn);
  }
  return slow;
}

}  // namespace

Waves waves_of(Index length, Index beside, std::span<const double> gain, Zero zero) {
  constexpr double least = 1e-9;
  Waves waves{length, beside};
  for (Index k = 0; k <= length / 2; ++k) {
    const double own = gain[k];
    if (std::abs(own) < least) continue;
    const bool twice = k > 0 && 2 * k != length;  // it stands for the frequency - k too
    waves.halves.push_back(zero == Zero::at_0 ? 2 * k : length - 2 * k);
    waves.weights.push_back((twice ? 2 : 1) * own / length);
  }
  return waves;
}

Plane take_out(const Waves& waves, Plane& sinogram) {
  const std::vector<Turn> turns = kernels::turns_of(waves.length);
  Plane slow(sinogram.rows, sinogram.columns);
  parallel_for_blocks(sinogram.columns, lanes, [&](Range some) {
    const std::vector<Lanes<WaveSums>> sums = sums_of(elements_of(sinogram, some, waves), waves, turns);
    for (Index row = 0; row < sinogram.rows; ++row) {
      const Lanes<double> own = added_up(sums, row, waves, turns);
      for (Index c = 0; c < some.size(); ++c) {
        float& part = slow(row, some.first + c);
        part = static_cast<float>(own[c]);
        sinogram(row, some.first + c) -= part;
      }
    }
  });
  return slow;
}

}  // namespace tandem::pipeline::stripes
