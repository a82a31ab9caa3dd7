#include "rates_file.hpp"

#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkstemp, mkdtemp are not in <cstdlib>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <system_error>

#include "../../io/files/json.hpp"

namespace tandem::apps {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using pipeline::Rates;

constexpr std::uintmax_t longest = 1 << 22;  // bytes that a file of rates may have
constexpr const char* trial = "trial";

fs::path named_by(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? fs::path(value) : fs::path();
}

void add_entry(Rates& rates, const std::string& kind, const json& entry) {
  if (!entry.is_object() || !entry.contains("per_second") || !entry["per_second"].is_array()) return;
  const Rates::From from = entry.value("from", json()) == trial ? Rates::From::trial : Rates::From::run;
  for (const json& rate : entry["per_second"])
    if (rate.is_number()) rates.add(kind, rate.get<double>(), from);
}

std::string text_of(const Rates& rates) {
  json entries = json::object();
  for (const auto& [kind, seen] : rates.all())
    entries[kind] = {{"from", seen.from == Rates::From::trial ? trial : "run"}, {"per_second", seen.latest}};
  const json all = {{"what", "rates of tandem on this machine, bytes or updates a second"},
                    {"rates", entries}};
  return all.dump(1, ' ', false, json::error_handler_t::replace) + '\n';
}

bool write_all(int to, const std::string& text) {
  const bool written = ::write(to, text.data(), text.size()) == std::ssize(text);
  return (::close(to) == 0) && written;
}

}  // namespace

fs::path rates_file() {
  const char* name = "rates.json";
  if (const fs::path own = named_by("TANDEM_CACHE"); !own.empty()) return own / name;
  if (const fs::path cache = named_by("XDG_CACHE_HOME"); cache.is_absolute()) return cache / "tandem" / name;
  if (const fs::path home = named_by("HOME"); home.is_absolute()) return home / ".cache" / "tandem" / name;
  return {};
}

Rates read_rates(const fs::path& path) {
  Rates rates;
  std::error_code fault;
  if (!fs::is_regular_file(path, fault) || fs::file_size(path, fault) > longest) return rates;
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  const json all = io::json_of(text.str());
  if (!all.is_object() || !all.contains("rates") || !all["rates"].is_object()) return rates;
  for (const auto& [kind, entry] : all["rates"].items()) add_entry(rates, kind, entry);
  return rates;
}

void keep_rates(const fs::path& path, const Rates& newer) {
  if (path.empty() || newer.all().empty()) return;
  std::error_code fault;
  fs::create_directories(path.parent_path(), fault);
  Rates rates = read_rates(path);
  rates.add(newer);
  std::string beside = path.string() + ".XXXXXX";
  const int to = ::mkstemp(beside.data());
  if (to < 0) return;
  if (write_all(to, text_of(rates)))
    fs::rename(beside, path, fault);
  else
    fault = std::make_error_code(std::errc::io_error);
  if (fault) fs::remove(beside, fault);
}

}  // namespace tandem::apps
