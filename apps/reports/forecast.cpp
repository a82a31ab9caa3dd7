#include "forecast.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "../../core/error.hpp"
#include "../../core/units.hpp"
#include "../../forecast/trial.hpp"
#include "../../pipeline/plan/chunks_due.hpp"
#include "../runs/stage_words.hpp"
#include "rates_file.hpp"

namespace tandem::apps {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using pipeline::Rates;
using pipeline::Seconds;
using pipeline::StationWork;

constexpr double long_enough = 0.3;  // seconds of a run that tells rates

/// The folder where the file system of a path begins.
std::string file_system_of(const fs::path& path) {
  std::error_code fault;
  fs::path at = fs::weakly_canonical(fs::absolute(path, fault), fault);
  struct stat here {
  }, above{};
  while (!at.empty() && ::stat(at.c_str(), &here) != 0 && at.has_relative_path()) at = at.parent_path();
  while (at.has_relative_path() && ::stat(at.parent_path().c_str(), &above) == 0 &&
         above.st_dev == here.st_dev)
    at = at.parent_path();
  return at.string();
}

fs::path folder_of(const RunFiles& files) {
  const fs::path folder = files.volume.parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

const io::VolumeKind& kind_of(const fs::path& volume) {
  const io::VolumeKind* kind = io::volume_kind(volume);
  return kind ? *kind : io::volume_kinds().front();
}

pipeline::Ends ends_of(const RunFiles& files, const io::ScanInfo& info) {
  const fs::path volume = files.volume.empty() ? fs::path("volume.h5") : files.volume;
  const io::VolumeFormat& format = files.format;
  const std::string packing = info.packing.empty() ? "" : " (" + info.packing + ")";
  return {info.format + " " + io::name_of(info.type) + packing + ", " + file_system_of(files.scan),
          std::string(kind_of(volume).title) + ' ' + name_of(format.type) +
              (format.compression == io::Compression::none ? ""
                                                           : std::string(" ") + name_of(format.compression)) +
              ", " + file_system_of(volume),
          1.0 * bytes_of(format.type)};
}

double bytes_to_write(const std::vector<StationWork>& works) {
  for (const StationWork& work : works)
    if (work.name == "write") return work.amount;
  return 0;
}

/// What a station has done, with its rate.
json line_of(const StationWork& work, double seconds, double share) {
  json line = {{"name", work.name}, {"seconds", seconds}};
  line[work.computes ? "updates" : "bytes"] = work.amount;
  line[work.computes ? "gups" : "gb_per_s"] =
      seconds > 0 ? json(work.amount / seconds * 1e-9) : json(nullptr);
  line["share"] = share;
  return line;
}

json lines_of(const std::vector<pipeline::Forecast::Part>& parts) {
  double sum = 0;
  for (const auto& part : parts) sum += part.seconds;
  json lines = json::array();
  for (const auto& [work, seconds] : parts)
    lines.push_back(line_of(work, seconds, sum > 0 ? seconds / sum : 0));
  return lines;
}

void print_line(std::ostream& to, const json& line) {
  std::ostringstream text;
  const bool computes = line.contains("gups");
  const json& rate = line[computes ? "gups" : "gb_per_s"];
  text << std::left << std::setw(20) << words_of_stage(line["name"].get<std::string>()) << std::right
       << std::fixed << std::setprecision(2) << std::setw(8) << line["seconds"].get<double>() << " s"
       << std::setw(5) << std::setprecision(0) << 100 * line["share"].get<double>() << " %";
  if (!rate.is_null())
    text << std::setw(10) << std::setprecision(2) << rate.get<double>()
         << (computes ? " billion updates/s" : " GB/s");
  to << text.str() << '\n';
}

/// The parts of a run, which work at the same time.
void print_lines(std::ostream& to, const json& lines) {
  const char* before = "parts     ";
  for (const json& line : lines) print_line(to << std::exchange(before, "          "), line);
}

}  // namespace

RunForecast::RunForecast(const pipeline::Plan& plan, const io::ScanInfo& info, const RunFiles& files,
                         const std::vector<Range>& done)
    : plan_(plan),
      files_(files),
      chunks_(chunks_due(plan, done)),
      works_(work_of(plan, info, ends_of(files, info), chunks_)),
      disk_bytes_(bytes_to_write(works_)),
      rates_(read_rates(rates_file())) {
  foretell();
}

void RunForecast::foretell() { forecast_ = pipeline::forecast(plan_, chunks_, works_, rates_); }

void RunForecast::measure(io::ScanReader& reader, ProgressLine& progress) {
  const auto missing = without_rate(works_, rates_);
  const auto lacks = [&](std::string_view station) {
    return std::find(missing.begin(), missing.end(), station) != missing.end();
  };
  const bool reads = lacks("read"), writes = lacks("write");
  const bool computes = missing.size() > static_cast<std::size_t>(reads) + static_cast<std::size_t>(writes);
  Rates found;
  const auto attempt = [&](bool wanted, const std::string& what, const auto& trial) {
    if (!wanted) return;
    progress.note("note: no rate of " + what + " is known yet; it is measured");
    try {
      found.add(trial());
    } catch (const Error& fault) {
      progress.note("note: " + what + " cannot be measured, and has no forecast: " + fault.what());
    }
  };
  attempt(reads, "reading", [&] { return try_reading(reader, plan_, works_); });
  attempt(computes, "computing", [&] { return try_computing(reader.info(), plan_, works_); });
  attempt(writes, "writing", [&] {
    return try_writing(folder_of(files_), std::string(kind_of(files_.volume).ending()), files_.format, plan_,
                       works_);
  });
  rates_.add(found);
  keep_rates(rates_file(), found);
  std::erase_if(works_, [&](const StationWork& work) {
    return (work.name == "read" || work.name == "write") && !rates_.rate(work.kind);
  });
  foretell();
}

std::string RunForecast::lack_of_disk() const {
  std::error_code fault;
  const double free = fs::space(folder_of(files_), fault).available;
  if (fault || disk_bytes_ <= free) return {};
  std::ostringstream text;
  text.precision(4);
  text << "the volume takes " << (files_.format.compression == io::Compression::none ? "" : "up to ")
       << disk_bytes_ / bytes_per_mib << " MiB, and " << folder_of(files_).string() << " has "
       << free / bytes_per_mib << " MiB free; make room, or give a smaller --dtype, --size or --region";
  return text.str();
}

void RunForecast::learn(const pipeline::Outcome& outcome) const {
  if (outcome.seconds.total < long_enough) return;
  keep_rates(rates_file(),
             rates_of(plan_, work_done(works_, outcome.updates), outcome.seconds, Rates::From::run));
}

json RunForecast::planned() const {
  if (!forecast_) return nullptr;
  return {{"seconds", forecast_->seconds},
          {"slowest", forecast_->slowest},
          {"stations", lines_of(forecast_->parts)}};
}

json RunForecast::stations(const pipeline::Outcome& outcome) const {
  std::vector<pipeline::Forecast::Part> parts;
  for (StationWork& work : work_done(works_, outcome.updates)) {
    if (work.name == "search") work.amount = outcome.searched.updates;
    parts.push_back({work, seconds_of(outcome.seconds, work.name)});
  }
  return lines_of(parts);
}

void RunForecast::print(std::ostream& to) const {
  const json told = planned();
  if (told.is_null()) return;
  to << "forecast  about " << std::setprecision(3) << forecast_->seconds << std::setprecision(6)
     << " s; the slowest part: " << words_of_stage(forecast_->slowest) << '\n';
  print_lines(to, told["stations"]);
}

void RunForecast::print_outcome(std::ostream& to, const pipeline::Outcome& outcome, double seconds) const {
  print_lines(to, stations(outcome));
  to << "slowest   " << words_of_stage(slowest_of(plan_, outcome.seconds)) << '\n';
  if (!forecast_) return;
  const auto digits = to.precision(3);
  to << "forecast  " << forecast_->seconds << " s, took " << seconds << " s\n";
  to.precision(digits);
}

}  // namespace tandem::apps
