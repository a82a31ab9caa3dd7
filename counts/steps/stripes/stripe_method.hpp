#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../../../core/spelled.hpp"
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

/// The `begin` of a method that does `remove` with what `asked` reads in the options.
template <auto asked, auto remove>
Work begin_with(const Preprocessing& how) {
  return [own = asked(how)](Plane& sinogram, Notes&) { remove(sinogram, own); };
}

/// All methods, in the order of the help.
std::span<const Method> methods();

constexpr std::string_view chosen_by = "remove-stripe-method";  ///< name of the option

/// A method, or an option behind its name, beside the option that chooses it.
inline std::string words_of(std::string_view method) {
  return spelled(chosen_by) + " " + std::string(method);
}

/// A window along a row: what was given, or the default as far as a row has bins. @throws GeometryError if
/// the given one is wider than a row
Index window_of(const Preprocessing& how, const Option<WholeNumber>& option, Index otherwise);

/// A window of bins that is asked for by a whole number.
Option<WholeNumber> window(std::string_view name, std::string_view help, std::string_view title = {});

}  // namespace tandem::pipeline::stripes
