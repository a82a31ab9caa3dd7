#include "device_options.hpp"

#include "tandem/core/error.hpp"
#include "tandem/operators/projector.hpp"

namespace tandem::apps {

namespace {

/// auto, cpu, all, cuda, cuda:0,1
std::string no_device(const std::string& text) {
  std::string error = "'" + text + "' is not auto, cpu, all, cuda or cuda:0,1";
  if (text == "auto" || text == "cpu" || text == "all" || text == "cuda") return "";
  if (!text.starts_with("cuda:")) return error;
  char before = ',';  // digits and commas, where each comma stands between digits
  for (const char c : text.substr(5)) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit && (c != ',' || before == ',')) return error;
    before = c;
  }
  return before == ',' ? error : "";
}

Device device_named(const std::string& text) {
  require<DeviceError>(text != "all" && text.find(',') == std::string::npos, "--device ", text,
                       ": several devices are not used together yet; give cpu, cuda or cuda:N");
  if (text != "auto") return Device::named(text);
  const std::vector<Device> here = devices();
  return here.size() > 1 ? here[1] : here[0];
}

}  // namespace

void add_device_options(CLI::App& c, DeviceOptions& o) {
  c.add_option("--device", o.device, "auto (default: the first GPU, else the CPU)|cpu|cuda|cuda:N")
      ->check(no_device);
  const std::map<std::string, Variant> variants{
      {"automatic", Variant::automatic}, {"standard", Variant::standard},
      {"texture", Variant::texture},     {"alu", Variant::alu},
      {"hybrid", Variant::hybrid},       {"tensor", Variant::tensor}};
  c.add_option("--variant", o.execution.variant, "of the back-projection, default automatic: the fastest")
      ->transform(
          CLI::CheckedTransformer(variants).description("automatic|standard|texture|alu|hybrid|tensor"));
  const std::map<std::string, Precision> precisions{
      {"float32", Precision::float32}, {"float16", Precision::float16}, {"uint8", Precision::uint8}};
  c.add_option("--precision", o.execution.precision, "of what is back-projected (default float32)")
      ->transform(CLI::CheckedTransformer(precisions).description("float32|float16|uint8"));
  c.add_option("--device-memory", o.memory_gib,
               "memory of the GPU to stay below, GiB (default: 90 % of what is free)")
      ->check(positive(1e9));
}

Device chosen_device(const DeviceOptions& o) {
  const Device device = device_named(o.device);
  if (o.memory_gib > 0 && o.device == "cpu")
    throw UsageError("--device-memory goes with a GPU, not with --device cpu; give --memory");
  std::string list;
  for (const Execution e : executions(device)) {
    const bool any = o.execution.variant == Variant::automatic;
    if ((any || o.execution.variant == e.variant) && o.execution.precision == e.precision) return device;
    list += (list.empty() ? "" : ", ") + name_of(e);
  }
  throw UsageError("--variant, --precision: " + device.name() + " has no " + name_of(o.execution) +
                   "; it has " + list);
}

}  // namespace tandem::apps
