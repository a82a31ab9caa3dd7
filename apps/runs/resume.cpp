#include "resume.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "../../core/instruction_set.hpp"
#include "../../core/names.hpp"
#include "../../core/version.hpp"
#include "../../io/files/checksum.hpp"
#include "../../io/sources.hpp"

namespace tandem::apps {

using nlohmann::json;

namespace {

io::SourceIdentity identity_of(const Common& common, const std::filesystem::path& input) {
  const auto seen = common.behind.find(input);
  return io::identity_of(seen == common.behind.end() ? io::files_behind(input) : seen->second);
}

std::string on_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return text;
}

std::string words_of(const io::SourceIdentity& source) {
  std::ostringstream text;
  text << source.files << " files of " << source.bytes << " bytes, " << source.modified << ", digests "
       << std::hex << source.digest << ' ' << source.times;
  return text.str();
}

/// The kinds of the devices, "cpu" or "cuda". A run that goes on may have other GPUs, and another number of
/// them.
std::string kinds_of(const json& devices) {
  std::set<std::string> kinds;
  for (const std::string device : devices) kinds.insert(device.substr(0, device.find(':')));
  return joined(kinds, " and ");
}

}  // namespace

io::Identity identity_of(const Common& common, const NamedFiles& inputs, const std::string& config,
                         const json& planned) {
  io::Identity identity{{"the version of tandem", TANDEM_VERSION}};
  std::map<std::string, int> counts;  // since several scans are joined, and flats may be of several files
  for (const NamedFile& input : inputs) {
    if (input.path.empty()) continue;
    const int number = ++counts[input.option];
    identity.emplace_back(input.option + (number == 1 ? "" : ", file " + std::to_string(number)),
                          words_of(identity_of(common, input.path)));
  }
  std::istringstream lines(config);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find(" = ");
    if (line.starts_with('#') || equals == std::string::npos) continue;
    identity.emplace_back("--" + line.substr(0, equals), on_one_line(line.substr(equals + 3)));
  }
  identity.emplace_back("the kind of device", kinds_of(planned["device"]));
  identity.emplace_back("the rounding of the CPU's instructions",
                        instructions_fuse() ? "products and sums at once" : "products, then sums");
  for (const char* key :
       {"algorithm", "model", "variant", "precision", "vectors", "slab", "volume", "geometry"})
    identity.emplace_back(std::string("the ") + key, on_one_line(planned[key].dump()));
  return identity;
}

std::string made_by(const Common& common, const NamedFiles& inputs, const std::string& config) {
  std::uint32_t scan = 0, options = 0;
  const auto add = [](const std::string& text, std::uint32_t& digest) {
    digest = io::checksum(text.data(), text.size(), digest);
  };
  for (const NamedFile& input : inputs)
    if (!input.path.empty())
      add(input.option + ' ' + std::to_string(identity_of(common, input.path).digest), scan);
  std::istringstream lines(config);
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && !line.starts_with('#')) add(line, options);
  std::ostringstream text;
  text << "scan " << std::hex << scan << ", options " << options;
  return text.str();
}

std::string words_of(const std::vector<Range>& slices) {
  Index count = 0;
  for (const Range some : slices) count += some.size();
  const auto words = [](Range some) { return std::to_string(some.first) + ":" + std::to_string(some.last); };
  return std::to_string(count) + (count == 1 ? " slice (" : " slices (") + joined(slices, ", ", words) + ")";
}

}  // namespace tandem::apps
