#include "forecast.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <system_error>
#include <utility>

#include "../../core/error.hpp"
#include "../../core/units.hpp"
#include "../../forecast/trial.hpp"
#include "../../io/files/json.hpp"
#include "../../io/files/output.hpp"
#include "../../io/files/text_file.hpp"
#include "../../pipeline/plan/chunks_due.hpp"
#include "../command.hpp"
#include "../runs/lines.hpp"
#include "../runs/stage_words.hpp"

namespace tandem::apps {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using pipeline::Rates;
using pipeline::StationTime;
using pipeline::StationWork;

constexpr double long_enough = 0.3;  // seconds of a run that tells rates
constexpr Index longest = 1 << 22;   // bytes that a file of rates may have

/// The file where rates are kept; empty if no folder is named.
fs::path rates_file() {
  for (const auto& [variable, below] :
       {std::pair{"TANDEM_CACHE", ""}, {"XDG_CACHE_HOME", "tandem"}, {"HOME", ".cache/tandem"}})
    if (const char* folder = std::getenv(variable); folder && (*below ? *folder == '/' : *folder != 0))
      return fs::path(folder) / below / "rates.json";
  return {};
}

/// The rates that are kept for this user. There are none if the file cannot be read; damaged ones are left
/// out.
Rates read_rates() {
  json all;
  try {
    all = io::json_of(io::text_of_regular_file(rates_file(), "rates", longest));
  } catch (const FileError&) {
    return {};
  }
  Rates rates;
  const json& kept = io::member(all, "rates");
  if (!kept.is_object()) return rates;
  for (const auto& [kind, rate] : kept.items())
    if (rate.is_number() && rate > 0) rates[kind] = rate;
  return rates;
}

/// Corrects the rates that are kept by those of another run. The file is replaced as a whole, so several
/// programs may do this at the same time. If it cannot be written, nothing happens.
void keep_rates(const Rates& newer, bool missed) {
  const fs::path path = rates_file();
  if (path.empty() || newer.empty()) return;
  Rates rates = read_rates();
  pipeline::correct(rates, newer, missed);
  std::error_code fault;
  fs::create_directories(path.parent_path(), fault);
  const fs::path beside = path.string() + '.' + std::to_string(::getpid());
  std::ofstream to(beside);
  to << text_of({{"what", "rates of tandem on this machine, bytes or updates a second"}, {"rates", rates}}, 1)
     << '\n';
  to.close();
  if (to) fs::rename(beside, path, fault);
  if (!to || fault) fs::remove(beside, fault);
}

/// The file system of a path, by its number.
std::string file_system_of(const fs::path& path) {
  struct stat found {};
  ::stat(io::folder_of(path).c_str(), &found);
  return ", file system " + std::to_string(found.st_dev);
}

pipeline::Ends ends_of(const RunFiles& files, const io::ScanInfo& info) {
  const io::VolumeFormat& format = files.format;
  const io::VolumeKind* kind = io::volume_kind(files.volume);
  const std::string packing = info.packing.empty() ? "" : " (" + info.packing + ")";
  return {info.format + " " + io::name_of(info.type) + packing + file_system_of(files.scan),
          std::string((kind ? *kind : io::volume_kinds().front()).title) + ' ' + name_of(format.type) + ' ' +
              name_of(format.compression) + file_system_of(files.volume),
          1.0 * bytes_of(format.type)};
}

/// What stations do, with their rates.
json lines_of(const std::vector<StationTime>& times) {
  double sum = 0;
  for (const auto& time : times) sum += time.seconds;
  json lines = json::array();
  for (const auto& [work, seconds] : times) {
    const double rate_or_none = told_rate(seconds > 0 ? work.amount / seconds : 0, work.computes);
    const json rate = rate_or_none > 0 ? json(rate_or_none * 1e-9) : json(nullptr);
    lines.push_back({{"name", work.name},
                     {"seconds", seconds},
                     {work.computes ? "updates" : "bytes", work.amount},
                     {work.computes ? "gups" : "gb_per_s", rate},
                     {"share", sum > 0 ? seconds / sum : 0}});
  }
  return lines;
}

/// The parts of a run, which work at the same time.
void print_lines(std::ostream& to, const json& lines) {
  const char* before = "parts     ";
  for (const json& line : lines) {
    std::ostringstream text;
    const bool computes = line.contains("gups");
    const json& rate = line[computes ? "gups" : "gb_per_s"];
    text << std::left << std::setw(20) << words_of_stage(line["name"].get<std::string>()) << std::right
         << std::fixed << std::setprecision(2) << std::setw(8) << line["seconds"].get<double>() << " s"
         << std::setw(5) << std::setprecision(0) << 100 * line["share"].get<double>() << " %";
    if (!rate.is_null())
      text << std::setw(10) << std::setprecision(2) << rate.get<double>()
           << (computes ? " billion updates/s" : " GB/s");
    to << std::exchange(before, "          ") << text.str() << '\n';
  }
}

}  // namespace

RunForecast::RunForecast(const pipeline::Plan& plan, const io::ScanInfo& info, const RunFiles& files,
                         const std::vector<Range>& done)
    : plan_(plan),
      files_(files),
      chunks_(chunks_due(plan, done)),
      works_(work_of(plan, info, ends_of(files, info), chunks_)),
      rates_(read_rates()),
      forecast_(pipeline::forecast(plan, chunks_.size(), works_, rates_)) {}

void RunForecast::measure(io::ScanReader& reader, ProgressLine& progress) {
  if (forecast_) return;
  static std::atomic_flag is_told;  // one note is enough for several devices or scans
  if (!is_told.test_and_set())
    progress.note("note: no run like this one is known yet; a small part is tried for the forecast");
  try {
    Rates found = try_part(reader, plan_, works_, files_.volume, files_.format);
    std::erase_if(found, [&](const auto& rate) { return rates_.contains(rate.first); });
    keep_rates(found, false);
    rates_.merge(found);
    forecast_ = pipeline::forecast(plan_, chunks_.size(), works_, rates_);
  } catch (const Error& fault) {
    progress.note(std::string("note: there is no forecast: ") + fault.what());
  }
}

std::optional<double> RunForecast::seconds_after_search() const {
  if (!forecast_) return {};
  double seconds = forecast_->seconds;
  for (const auto& [work, taken] : forecast_->times)
    if (work.name == "search") seconds -= taken;
  return seconds;
}

double RunForecast::disk_bytes() const {
  const auto write = std::ranges::find(works_, "write", &StationWork::name);
  return write == works_.end() ? 0 : write->amount;
}

std::string RunForecast::lack_of_disk() const {
  std::error_code fault;
  const fs::path folder = io::folder_of(files_.volume);
  const double free = fs::space(folder, fault).available;
  if (fault || disk_bytes() <= free) return {};
  std::ostringstream text;
  text.precision(4);
  text << "the volume takes " << (files_.format.compression == io::Compression::none ? "" : "up to ")
       << disk_bytes() / bytes_per_mib << " MiB, and " << folder.string() << " has " << free / bytes_per_mib
       << " MiB free; make room, or give a smaller --dtype, --size or --region";
  return text.str();
}

void RunForecast::learn(const pipeline::Outcome& outcome) const {
  const auto done = work_done(works_, outcome);
  const auto known = pipeline::forecast(plan_, chunks_.size(), done, rates_);
  const double took = outcome.seconds.total + outcome.seconds.finish;
  const double times_longer = known ? known->seconds / took : 1;
  if (took > long_enough || times_longer > 2)
    keep_rates(rates_of(plan_, done, outcome.seconds), times_longer > 2 || times_longer < 0.5);
}

json RunForecast::planned() const {
  if (!forecast_) return nullptr;
  return {{"seconds", forecast_->seconds},
          {"slowest", slowest_of(forecast_->times)},
          {"stations", lines_of(forecast_->times)}};
}

json RunForecast::stations(const pipeline::Outcome& outcome) const {
  std::vector<StationTime> times;
  for (const StationWork& work : work_done(works_, outcome))
    times.push_back({work, outcome.seconds.*work.seconds});
  return lines_of(times);
}

void RunForecast::print(std::ostream& to) const {
  const json told = planned();
  if (told.is_null()) return;
  to << "forecast  about " << std::setprecision(3) << forecast_->seconds << std::setprecision(6)
     << " s; the slowest part: " << words_of_stage(told["slowest"].get<std::string>()) << '\n';
  print_lines(to, told["stations"]);
}

void RunForecast::print_outcome(std::ostream& to, const pipeline::Outcome& outcome, double seconds) const {
  if (seconds > long_enough) {
    print_lines(to, stations(outcome));
    to << "slowest   " << words_of_stage(slowest_of(times_of(plan_, works_, outcome.seconds))) << '\n';
  }
  if (!forecast_) return;
  const auto digits = to.precision(3);
  to << "forecast  " << forecast_->seconds << " s, took " << seconds << " s\n";
  to.precision(digits);
}

}  // namespace tandem::apps
