#include "image_transform.hpp"

#include <algorithm>

#include "fourier_transform.hpp"
#include "scratch.hpp"

namespace tandem::kernels::cpu {

namespace {

using Complex = std::complex<float>;

/// Calls body(line, first position, last position) for positions so few that they stay in the L1 cache from
/// line to line.
template <class Body>
void for_blocks(Index lines, Index length, const Body& body) {
  constexpr Index block = 32;
  for (Index first = 0; first < length; first += block)
    for (Index line = 0; line < lines; ++line) body(line, first, std::min(first + block, length));
}

/// Some rows of `length` numbers; `side_by_side` is (position, lane).
void rows_to_spectra(const float* rows, Index some, Index length, float* side_by_side, Complex* spectra) {
  const Index frequencies = length / 2 + 1;
  for_blocks(some, length, [&](Index row, Index first, Index last) {
    for (Index i = first; i < last; ++i) side_by_side[i * lanes + row] = rows[row * length + i];
  });
  transform_real(side_by_side, length, Direction::forward);
  for_blocks(some, frequencies, [&](Index row, Index first, Index last) {
    const float* from = side_by_side + row;
    for (Index k = first; k < last; ++k)
      spectra[row * frequencies + k] = {from[std::max<Index>(0, 2 * k - 1) * lanes],
                                        k == 0 || 2 * k == length ? 0.0f : from[2 * k * lanes]};
  });
}

void spectra_to_rows(const Complex* spectra, Index some, Index length, float* side_by_side, float* rows) {
  const Index frequencies = length / 2 + 1;
  for_blocks(some, frequencies, [&](Index row, Index first, Index last) {
    float* to = side_by_side + row;
    for (Index k = first; k < last; ++k) {
      const Complex value = spectra[row * frequencies + k];
      if (k > 0 && 2 * k < length) to[2 * k * lanes] = value.imag();
      to[std::max<Index>(0, 2 * k - 1) * lanes] = value.real();
    }
  });
  transform_real(side_by_side, length, Direction::backward);
  for_blocks(some, length, [&](Index row, Index first, Index last) {
    for (Index i = first; i < last; ++i) rows[row * length + i] = side_by_side[i * lanes + row];
  });
}

void transform_columns(Complex* spectrum, Index rows, Index columns, Direction direction) {
  Lines side_by_side(rows * 2 * lanes);
  float* line = side_by_side.data();
  for (Index first = 0; first < columns; first += lanes) {
    const Index some = std::min(lanes, columns - first);
    for (Index r = 0; r < rows; ++r)
      for (Index c = 0; c < some; ++c) {
        const Complex value = spectrum[r * columns + first + c];
        line[2 * r * lanes + c] = value.real(), line[(2 * r + 1) * lanes + c] = value.imag();
      }
    transform(line, rows, direction);
    for (Index r = 0; r < rows; ++r)
      for (Index c = 0; c < some; ++c)
        spectrum[r * columns + first + c] = {line[2 * r * lanes + c], line[(2 * r + 1) * lanes + c]};
  }
}

/// Calls body(first row, number of rows, where they lie side by side) for all rows of all images.
template <class Body>
void for_rows(const Images& images, const Body& body) {
  Lines side_by_side(images.columns * lanes);
  const Index rows = images.count * images.rows;
  for (Index first = 0; first < rows; first += lanes)
    body(first, std::min(lanes, rows - first), side_by_side.data());
}

void transform_columns(const Images& images, Complex* spectra, Direction direction) {
  if (images.rows == 1) return;
  for (Index i = 0; i < images.count; ++i)
    transform_columns(spectra + i * images.rows * images.frequencies(), images.rows, images.frequencies(),
                      direction);
}

}  // namespace

void transform_images(const Images& images, const float* from, Complex* spectra) {
  for_rows(images, [&](Index first, Index some, float* side_by_side) {
    rows_to_spectra(from + first * images.columns, some, images.columns, side_by_side,
                    spectra + first * images.frequencies());
  });
  transform_columns(images, spectra, Direction::forward);
}

void transform_back(const Images& images, Complex* spectra, float* to) {
  transform_columns(images, spectra, Direction::backward);
  for_rows(images, [&](Index first, Index some, float* side_by_side) {
    spectra_to_rows(spectra + first * images.frequencies(), some, images.columns, side_by_side,
                    to + first * images.columns);
  });
}

}  // namespace tandem::kernels::cpu
