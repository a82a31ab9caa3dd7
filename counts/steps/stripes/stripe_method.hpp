#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../step.hpp"
#include "plane.hpp"

namespace tandem::pipeline::stripes {

/// Takes the stripes out of a sinogram, and notes what it did if it chose that.
using Work = std::function<void(Plane& sinogram, Notes& notes)>;

/// A way to remove stripes. All that the step knows about it stands here.
struct Method {
  std::string_view name, help;
  std::vector<StepOption> options = {};
  bool heeds_axis = false;  ///< see `Step`
  double planes = 2;        ///< planes of the size of the sinogram that it holds at most
  /// The work with these options. @throws GeometryError if they make no sense for the bins of a row
  Work (*begin)(const Preprocessing& how) = nullptr;
  /// See `Step`. Null: the CPU does it.
  GpuWork (*on_gpu)(const Preprocessing& how) = nullptr;
  double (*gpu_bytes)(const Preprocessing& how, Shape shape) = nullptr;
  /// See `Step::conflict`.
  std::string (*conflict)(const StepValues& values) = nullptr;
};

/// All methods, in the order of the help.
std::span<const Method> methods();

/// The option behind the name of a method as a user types it: "--remove-stripe-method vo-large:size".
inline std::string words_of(std::string_view option) {
  return "--remove-stripe-method " + std::string(option);
}

/// A window along a row: what was given, or the default as far as a row has bins. @throws GeometryError if
/// the given one is wider than a row
Index window_of(const Preprocessing& how, std::string_view option, Index otherwise);

/// A window of bins that is asked for by a whole number.
StepOption window(std::string_view name, std::string_view help);

}  // namespace tandem::pipeline::stripes
