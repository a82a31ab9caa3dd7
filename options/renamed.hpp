#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tandem::options {

/// What another program of tomography, or an older tandem, calls an option or a value, and what it is here.
struct Renamed {
  std::string_view name;      ///< as it is written there
  std::string_view of;        ///< the program; "tandem": an older one; empty: several
  std::string_view here;      ///< with options between braces: "{detector-rows} A:B"
  std::string_view but = {};  ///< what differs, or what goes with it; likewise
};

/// A value of an option.
struct RenamedValue {
  std::string_view option;  ///< the option of today that takes it
  Renamed value;
};

/// What an option that is not known is called here: "; tomopy's center is --rotation-axis here, less 0.5".
/// Empty if no row has it. `name`: in any case, with or without dashes and underscores.
std::string successor_of_option(std::string_view name);

/// The same of a value that an option does not take: "; ASTRA's FBP_CUDA is fbp here, with --device cuda".
/// A detail behind a colon does not count.
std::string successor_of_value(std::string_view option, std::string_view value);

/// The rows, for tests.
std::span<const Renamed> renamed_options();
std::span<const RenamedValue> renamed_values();
/// Options of an older tandem that are details of a method against stripes: "fw:level" was fw-level.
std::span<const std::string_view> renamed_stripe_options();

}  // namespace tandem::options
