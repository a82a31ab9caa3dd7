// tandem recon SCAN SCAN ...: the same for each of several scans.

#include "batch.hpp"

#include <filesystem>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>

#include "../../io/sources.hpp"
#include "../../solvers/run.hpp"
#include "failure.hpp"
#include "files.hpp"
#include "lines.hpp"
#include "signals.hpp"

namespace tandem::apps {

namespace {

namespace fs = std::filesystem;

/// How a run ended.
struct ScanRow {
  std::string scan, output;
  double seconds = 0;
  std::optional<Failure> failure;
};

using Words = std::map<std::string, std::string>;  // by what stands for them: "{name}"

/// All at once: what takes the place of a word may hold another one, as a scan may be called {folder}.h5.
std::string replaced(const std::string& text, const Words& words) {
  std::string all;
  for (std::size_t at = 0; at < text.size();) {
    const auto here = std::ranges::find_if(
        words, [&](const auto& word) { return text.compare(at, word.first.size(), word.first) == 0; });
    all += here == words.end() ? text.substr(at, 1) : here->second;
    at += here == words.end() ? 1 : here->first.size();
  }
  return all;
}

/// The name of a file or a folder, which no path can be made of that leads elsewhere: "..." and ".." are
/// none.
std::string proper(const fs::path& name, const fs::path& otherwise) {
  return name == "." || name == ".." ? otherwise.string() : name.string();
}

/// All files that a run writes; a log is written by all runs if its name does not depend on the scan.
NamedFiles files_of(const ReconOptions& o) {
  NamedFiles files = outputs_of(o);
  files.push_back({"--json", o.common.json});
  std::erase_if(files, [](const NamedFile& file) { return file.path.empty() || file.path == "-"; });
  return files;
}

std::string real_name(const fs::path& path) {
  std::error_code fault;
  return fs::weakly_canonical(fs::absolute(path, fault), fault).string();
}

/// No two runs may write to one name, and none to what any of them reads.
void require_apart(const std::vector<std::shared_ptr<ReconOptions>>& runs) {
  std::map<std::string, std::string> scan_of;  // by the names that are written
  NamedFiles outputs, inputs;
  for (const auto& o : runs) {
    for (const NamedFile& output : files_of(*o)) {
      const auto [other, is_new] = scan_of.emplace(real_name(output.path), o->scan.path);
      if (!is_new)
        throw UsageError(
            output.option + " " + output.path.string() + ": would be written for " + other->second +
            " and for " + o->scan.path +
            "; put {name} into it, or {folder} if scans have the same names, or {time} with "
            "--time all; if these are images of one scan, give their folder, or a pattern in quotes");
      outputs.push_back(output);
    }
    for (NamedFile& input : inputs_of(o->scan)) inputs.push_back(std::move(input));
  }
  Common seen;
  refuse_sources(seen, inputs, outputs);
}

void print_table(std::ostream& to, const std::vector<ScanRow>& rows) {
  std::size_t width = 4;
  for (const ScanRow& row : rows) width = std::max(width, one_line("", row.scan).size());
  const auto line = [&](const std::string& scan, const std::string& result, const std::string& seconds,
                        const std::string& rest) {
    to << std::left << std::setw(static_cast<int>(width)) << scan << "  " << std::setw(9) << result
       << std::right << std::setw(8) << seconds << "  " << rest << '\n';
  };
  line("scan", "result", "seconds", "volume, or error");
  for (const ScanRow& row : rows) {
    std::ostringstream seconds;
    seconds << std::fixed << std::setprecision(1) << row.seconds;
    line(one_line("", row.scan), row.failure ? "failed " + std::to_string(row.failure->code) : "done",
         seconds.str(), one_line("", row.failure ? row.failure->text : row.output));
  }
}

/// The line of a failure; it names the scan.
std::string words_of(const ScanRow& row) {
  const std::string& text = row.failure->text;
  return text.find(row.scan) == std::string::npos ? row.scan + ": " + text : text;
}

/// How many scans follow one another in a file.
Index scans_in(const ReconOptions& o, const std::string& path) {
  io::OpenOptions how = o.scan.how;
  how.time = 0;
  return io::open_scan(path, how)->info().scans_stored;
}

/// The numbers of the scans of a file that are asked for; one that is empty if there is no axis of times.
std::vector<std::optional<Index>> times_of(const ReconOptions& o, const std::string& scan) {
  if (o.scan.how.time || !o.scan.all_times) return {o.scan.how.time};
  std::vector<std::optional<Index>> times;
  for (Index k = 0, count = scans_in(o, scan); k < count; ++k) times.emplace_back(k);
  return times;
}

/// With as many digits as the last one has.
std::string digits_of(Index number, std::size_t of) {
  const std::string text = std::to_string(number), last = std::to_string(of - 1);
  return std::string(last.size() - text.size(), '0') + text;
}

}  // namespace

std::string name_for(const std::string& pattern, const std::string& scan, const std::string& time) {
  std::error_code fault;
  fs::path path = fs::absolute(scan, fault).lexically_normal();
  const bool is_pattern = !fs::exists(path, fault) && !io::image_folder_of(path).empty();
  if (!path.has_filename() || is_pattern) path = path.parent_path();
  const fs::path name = fs::is_directory(path, fault) ? path.filename() : path.stem();
  Words words{{"{name}", proper(name, path.filename())},
              {"{folder}", path.parent_path().filename().string()}};
  if (!time.empty()) words.emplace("{time}", time);
  return replaced(pattern, words);
}

std::vector<std::shared_ptr<ReconOptions>> options_by_scan(const ReconOptions& o) {
  std::vector<std::shared_ptr<ReconOptions>> runs;
  const bool joined = !o.scan.stitch.empty();
  for (const std::string& scan : joined ? std::vector{o.scans.front()} : o.scans) {
    const auto times = times_of(o, scan);
    for (const std::optional<Index>& time : times) {
      auto one = std::make_shared<ReconOptions>(o);
      one->take_scan(scan);
      one->scan.how.time = time;
      for (std::string* name : {&one->output, &one->part_of, &one->preview, &one->save_config,
                                &one->checkpoint, &one->common.json, &one->common.log}) {
        const std::size_t count = time ? std::max<std::size_t>(times.size(), *time + 1) : 0;
        *name = name_for(*name, scan, time ? digits_of(*time, count) : "");
      }
      finish_recipe(*one);
      check_together(*one);
      runs.push_back(std::move(one));
    }
  }
  return runs;
}

void run_all(const std::vector<std::shared_ptr<ReconOptions>>& runs,
             const std::function<void(ReconOptions&)>& run) {
  require_apart(runs);
  const Common& common = runs.front()->common;
  std::vector<ScanRow> rows;
  const bool on_terminal = common.json == "-" && !common.listener;
  const auto reports = on_terminal ? std::make_shared<nlohmann::json>(nlohmann::json::array()) : nullptr;
  for (const auto& o : runs) {
    o->common.together = reports;
    const double begun = seconds_now();
    if (!common.quiet)
      std::cerr << "tandem: scan " << rows.size() + 1 << " of " << runs.size() << ": "
                << one_line("", o->scan.path) << std::endl;
    ScanRow row{o->scan.path, o->output, 0, failure_of([&] { run(*o); })};
    row.seconds = seconds_now() - begun;
    rows.push_back(row);
    if (caught_signal() != 0) break;
    if (row.failure) std::cerr << one_line("tandem: error: ", words_of(row)) << std::endl;
  }
  if (reports) std::cout << text_of(*reports, 1) << '\n';
  if (!common.quiet) print_table(common.json == "-" ? std::cerr : std::cout, rows);
  throw_if_interrupted();
  const auto failed = [](const ScanRow& row) { return row.failure.has_value(); };
  const auto first = std::find_if(rows.begin(), rows.end(), failed);
  if (first == rows.end()) return;
  throw ScansFailed(first->failure->code, std::to_string(std::count_if(rows.begin(), rows.end(), failed)) +
                                              " of " + std::to_string(rows.size()) +
                                              " scans failed, the first is " + first->scan +
                                              "; the lines above say why");
}

}  // namespace tandem::apps
