#pragma once

#include <optional>
#include <string>
#include <vector>

#include "../../core/device.hpp"
#include "../../core/execution.hpp"
#include "../command.hpp"

namespace tandem::apps {

/// Where and how a reconstruction is computed.
struct DeviceOptions {
  std::string device = "auto", variant = "automatic", precision = "float32";
  std::optional<double> memory_gib;  ///< memory of a GPU; if empty, the plan decides
  bool allow_unmatched = false;
};

/// "automatic" and the names of all variants of parallel beams in this build, for all devices.
std::vector<std::string> variant_names();

/// What is wrong with a text for an option that takes one device; empty if nothing is.
std::string no_one_device(const std::string& text);
/// The device of such a text, or of "auto": then the first GPU, or the CPU if there is none. @throws
/// DeviceError if it is not here
Device one_device(const std::string& text);

void add_device_options(Table& command, DeviceOptions& options);

/// The name of a device: "cuda:0"; for the CPU with the instruction set of its kernels: "cpu (AVX-512)".
std::string words_of(Device device);

Execution execution_of(const DeviceOptions& options);

/// Whether no device is named: then the CPU does what GPUs have no kernels for.
bool leaves_devices_open(const DeviceOptions& options);

/// The devices that are named. `auto` and `all` mean all GPUs, or the CPU if there is none. @throws
/// DeviceError if a device is not here; UsageError if a device does not have the wanted execution, or if a
/// matched pair is needed and this one is not
std::vector<Device> chosen_devices(const DeviceOptions& options, Pairing needed);

}  // namespace tandem::apps
