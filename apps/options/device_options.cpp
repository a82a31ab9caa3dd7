#include "device_options.hpp"

#include <algorithm>

#include "../../core/error.hpp"
#include "../../core/instruction_set.hpp"
#include "../../core/names.hpp"
#include "../../kernels/variants.hpp"
#include "../../operators/projector.hpp"

namespace tandem::apps {

namespace {

/// What is wrong with a text that should be auto, all, cpu, cuda or cuda:0,1; empty if nothing is.
std::string fault_of_devices(const std::string& text) {
  std::string error = "'" + text + "' is not auto, all, cpu, cuda, cuda:N or cuda:N,N,...";
  if (text == "auto" || text == "all" || text == "cpu" || text == "cuda") return "";
  if (!text.starts_with("cuda:")) return error;
  const auto is_number = [](const std::string& part) {
    return !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
  };
  return std::ranges::all_of(parts_of(text.substr(5), ','), is_number) ? "" : error;
}

std::vector<Device> devices_named(const std::string& text) {
  if (text == "auto" || text == "all") {
    std::vector<Device> here = devices();  // the CPU comes first
    if (here.size() > 1) here.erase(here.begin());
    return here;
  }
  std::vector<Device> named;
  for (const std::string& part : parts_of(text, ','))
    named.push_back(Device::named(named.empty() ? part : "cuda:" + part));
  for (std::size_t i = 0; i < named.size(); ++i)
    if (std::count(named.begin(), named.end(), named[i]) > 1)
      throw UsageError("--device " + text + ": " + named[i].name() + " is named twice");
  return named;
}

void require_execution(const DeviceOptions& o, Pairing needed, Device device) {
  const Execution wanted = execution_of(o);
  std::vector<std::string> all, matching;
  bool any_asked = false;
  for (const Execution& e : executions(device)) {
    const bool any = wanted.variant == "automatic", matched = is_matched(e, device),
               asked = (any || wanted.variant == e.variant) && wanted.precision == e.precision;
    if (asked && (matched || needed == Pairing::any)) return;
    any_asked |= asked;
    all.push_back(name_of(e));
    if (matched) matching.push_back(name_of(e));
  }
  const std::string what = "--variant " + o.variant + " --precision " + o.precision + ": ";
  if (any_asked)
    throw UsageError(what +
                     "the back-projection is not the transpose of the projection, which a solver needs; "
                     "that of " +
                     joined(matching, ", ") + " is, or give --allow-unmatched");
  const std::string error = what + "device " + device.name() + " has " + joined(all, ", ");
  require<DeviceError>(!leaves_devices_open(o) || device.is_cuda(), error, "; no GPU was found");
  throw UsageError(error);
}

}  // namespace

bool leaves_devices_open(const DeviceOptions& o) { return o.device == "auto" || o.device == "all"; }

std::string no_one_device(const std::string& text) {
  const bool list = text.find(',') != std::string::npos;
  return text == "auto" || text == "all" || list || !fault_of_devices(text).empty()
             ? "'" + text + "' is not cpu, cuda or cuda:N"
             : "";
}

Device one_device(const std::string& text) { return devices_named(text).front(); }

std::vector<std::string> variant_names() {
  std::vector<std::string> names{"automatic"};
  for (const kernels::Backend& backend : kernels::backends())
    for (const auto& row : backend.parallel)
      if (std::find(names.begin(), names.end(), row.name) == names.end()) names.emplace_back(row.name);
  return names;
}

void add_device_options(Table& c, DeviceOptions& o) {
  c.add("--device", On::run, o.device,
        "auto (default: all GPUs, else the CPU, also for what GPUs have not; for solvers of cone and "
        "flexible beams the first GPU, if it holds the vectors)|all (all GPUs)|cpu|cuda|cuda:N|cuda:N,N,... "
        "(they share the work)")
      .check(lower_case())
      .check(fault_of_devices)
      .briefly("auto (all GPUs, else the CPU), all, cpu, cuda, cuda:0,1");
  add_choice(c, "--variant", On::result, o.variant, variant_names(),
             "how projector and back-projector run (default automatic: the fastest)");
  add_choice(c, "--precision", On::result, o.precision, {"float32", "float16", "uint8"},
             "number type of the data that projector and back-projector read (default float32)");
  c.add("--allow-unmatched", On::result, o.allow_unmatched,
        "let a solver take a pair whose back-projection is not the transpose of its projection");
  c.add("--device-memory", On::run, o.memory_gib,
        "the most memory to take of each GPU, GiB (default: 90 % of what is free)")
      .in("GiB")
      .check(positive(1e9));
}

std::string words_of(Device device) {
  return device.is_cuda() ? device.name() : device.name() + " (" + instruction_set() + ")";
}

Execution execution_of(const DeviceOptions& o) { return {o.variant, precision_named(o.precision)}; }

std::vector<Device> chosen_devices(const DeviceOptions& o, Pairing needed) {
  std::vector<Device> chosen = devices_named(o.device);
  if (o.memory_gib && o.device == "cpu")
    throw UsageError("--device-memory goes with a GPU, not with --device cpu; give --memory");
  for (const Device device : chosen)
    if (device.is_cuda() || chosen.size() == 1)  // a CPU beside GPUs runs a variant of its own
      require_execution(o, o.allow_unmatched ? Pairing::any : needed, device);
  return chosen;
}

}  // namespace tandem::apps
