#pragma once

#include <optional>
#include <span>
#include <vector>

#include "outliers.hpp"
#include "step.hpp"

namespace tandem::pipeline {

/// What `--dezinger` and its kin ask for: outliers, and along which axes their window lies.
struct Dezinger {
  enum class Window { row, projection, cube };  ///< bins; bins and rows; bins, rows and frames
  Window window;
  OutlierRule rule;

  Index rows() const { return window == Window::row ? 1 : rule.size; }
  Index frames() const { return window == Window::cube ? rule.size : 1; }
};

/// Empty unless outliers are asked for in this window. @throws GeometryError for one that is wider than a row
std::optional<Dezinger> dezinger_of(const Preprocessing& how, Dezinger::Window window);

/// Rows that a row needs above and below, after binning.
RowMargin margin_of(const Preprocessing& how, Dezinger::Window window);

/// Replaces outliers in one frame (row, bin) of the image `y`. `planes`: the frames of the window as they
/// came, in C order, one of them this frame. Adds to `replaced` how many it replaced in each row.
void dezinger(const Dezinger& how, const Image<float>& y, Index frame, std::span<const float* const> planes,
              std::span<Index> replaced);

/// The same in all views on a GPU. Empty unless it is asked for, in a window that is not too large.
GpuWork dezinger_on_gpu(const Preprocessing& how, Dezinger::Window window);

/// The same in all frames of an image, for flats and darks. Empty unless it is asked for.
ReferenceWork dezinger_references(const Preprocessing& how, Dezinger::Window window);

}  // namespace tandem::pipeline
