#pragma once

#include <optional>
#include <string>
#include <vector>

#include "../core/device.hpp"
#include "../core/execution.hpp"
#include "command.hpp"

namespace tandem::apps {

/// Where a reconstruction is computed, and how.
struct DeviceOptions {
  std::string device = "auto", variant = "automatic", precision = "float32";
  std::optional<double> memory_gib;  ///< of a GPU; else left to the plan
  int streams = 3;                   ///< of each GPU, for tiles
  bool allow_unmatched = false;
};

/// "automatic" and the names of all variants of parallel beams in this build, on whatever device.
std::vector<std::string> variant_names();

void add_device_options(CLI::App& command, DeviceOptions& options);

Execution execution_of(const DeviceOptions& options);

/// The devices that are named; `auto` is all GPUs, or the CPU where there is none.
/// @throws DeviceError if one is not here; UsageError if one has not what is asked of it, or has it as a pair
/// that does not match where one is needed
std::vector<Device> chosen_devices(const DeviceOptions& options, Pairing needed);

}  // namespace tandem::apps
