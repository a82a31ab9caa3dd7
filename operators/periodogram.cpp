#include "periodogram.hpp"

#include <cmath>

#include "../core/parallel.hpp"
#include "../kernels/spectra.hpp"
#include "shares.hpp"

namespace tandem {

namespace {

/// The distance of a line with these powers; negative if all are zero.
double distance_of(std::span<const double> powers) {
  double all = 0, sum = 0, squares = 0;
  for (std::size_t k = 1; k < powers.size(); ++k) all += powers[k];
  if (!(all > 0)) return -1;
  const double count = powers.size() - 1;
  for (std::size_t k = 1; k < powers.size(); ++k) {
    sum += powers[k];
    squares += std::pow(sum / all - k / count, 2);
  }
  return std::sqrt(squares / count);
}

/// The distances of the lines of a vector on the host, in order.
std::vector<double> distances_of(ConstVectorView x) {
  const auto [planes, rows, length] = x.space.shape();
  std::vector<double> distances(planes * rows);
  parallel_for(planes, [&, rows = rows, length = length](Index plane) {
    const std::size_t lines = rows, size = length, half = size / 2 + 1, first = plane * lines;
    std::vector<double> powers(lines * half);
    kernels::powers_of_lines({x.data + first * size, lines * size}, length, powers);
    for (std::size_t k = 0; k < lines; ++k)
      distances[first + k] = distance_of(std::span(powers).subspan(k * half, half));
  });
  return distances;
}

}  // namespace

std::vector<double> distance_from_white(ConstVectorView x, Stream& stream) {
  if (x.space.device() != Device::cpu()) {
    Array host(x.space.on(Device::cpu()), default_stream(Device::cpu()));
    copy(x, host, stream);
    stream.synchronize();
    return distance_from_white(host, default_stream(Device::cpu()));
  }
  const std::vector<double> distances = distances_of(x);
  const std::size_t blocks = x.space.block_count();
  const std::size_t rows = x.space.shape()[1];
  std::vector<double> means(blocks, 0.0), counts(blocks, 0.0);
  for (std::size_t line = 0; line < distances.size(); ++line) {
    const std::size_t block = x.space.blocks() == Blocks::rows     ? line % rows
                              : x.space.blocks() == Blocks::slices ? line / rows
                                                                   : 0;
    if (distances[line] < 0) continue;
    means[block] += distances[line];
    counts[block] += 1;
  }
  sum_over_ranks(x.space, std::span(means));
  sum_over_ranks(x.space, std::span(counts));
  for (std::size_t b = 0; b < blocks; ++b) means[b] = counts[b] > 0 ? means[b] / counts[b] : 0;
  return means;
}

}  // namespace tandem
