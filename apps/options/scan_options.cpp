#include "scan_options.hpp"

#include "../../core/ceil_div.hpp"
#include "../../core/error.hpp"
#include "../../counts/steps/phase.hpp"
#include "../../io/hdf5/hdf5.hpp"
#include "../../io/volumes/volume_kind.hpp"

namespace tandem::apps {

std::unique_ptr<io::VolumeReader> volume_in(const ScanOptions& o) {
  try {
    auto volume = std::make_unique<io::VolumeReader>(o.path, o.how.allow_external_files);
    if (volume->is_reconstruction()) return volume;
  } catch (const FileError&) {
    if (io::is_volume_alone(o.path)) throw;
  }  // else it is a scan, or open_scan says what is wrong
  return nullptr;
}

std::string read_stitch(const std::string& text, pipeline::Stitch& into) {
  const std::size_t end = std::min(text.find('='), text.size());
  const std::string along = text.substr(0, end), steps = end < text.size() ? text.substr(end + 1) : "auto";
  if (along != "z" && along != "x")
    return "z (heights) or x (tiles) is needed, or z=MM,MM,... with the steps";
  into = {along == "z" ? calibration::Along::rows : calibration::Along::bins};
  if (steps == "auto") return {};
  for (const std::string& step : parts_of(steps, ',')) {
    const std::optional<double> number = number_in(step);
    if (!number)
      return "'" + step + "' is no number of mm; auto, or the steps in mm without a unit, are needed";
    into.steps_mm.push_back(*number);
  }
  return {};
}

std::unique_ptr<io::ScanReader> open_joined(const ScanOptions& o) {
  ScanOptions one = o;
  one.stitch.clear(), one.beside.clear();
  std::vector<pipeline::NamedScan> scans{{o.path, open(one)}};
  for (const std::string& path : o.beside) {
    one.path = path;
    scans.push_back({path, open(one)});
  }
  pipeline::Stitch how;
  read_stitch(o.stitch, how);
  pipeline::StepValues values = o.steps;
  return join_scans(scans, how, pipeline::take_options_of_cells(values));
}

std::unique_ptr<io::ScanReader> open(const ScanOptions& o) {
  if (!o.stitch.empty()) return open_joined(o);
  if (o.given && o.path == "-") return io::open_given_scan(*o.given, o.how);
  const auto refuse_volume = [&o] {
    require<FileError>(
        !io::is_volume_alone(o.path) && !volume_in(o), o.path,
        ": is a volume, not a scan; tandem info tells what it holds, project makes a scan of it");
  };
  if (!io::hdf5::is_hdf5(o.path)) refuse_volume();  // images may be either
  if (o.all_times && !o.how.time)
    throw UsageError("--time all goes with recon; give the number of one scan, from 0");
  try {
    return io::open_scan(o.path, o.how);
  } catch (const FileError&) {
    refuse_volume();
    throw;
  }
}

std::vector<std::string> notes_of(const io::ScanInfo& info, const ScanOptions& o) {
  std::vector<std::string> notes = info.notes;
  for (const io::Advice& advice : info.advice)
    if (!o.steps.contains(advice.option)) notes.push_back(advice.text);
  pipeline::note_phase_numbers(o.steps, info, notes);
  return notes;
}

void say_notes(const io::ScanInfo& info, const ScanOptions& o, ProgressLine& progress) {
  for (const std::string& note : notes_of(info, o)) progress.note("note: " + note);
}

Selection select(const ScanOptions& o, const io::ScanInfo& info) {
  const auto range = [](const char* name, const AxisPart& part, Index count) {
    const Range r{part.first, part.end.value_or(count)};
    require<GeometryError>(r.first < r.last && r.last <= count, name, " ", part.text(),
                           ": empty or outside 0:", count);
    return r;
  };
  Range views = range("--views", o.views, info.views_stored);
  const auto place = [&](Index view) { return ceil_div(view - o.how.first_view, o.how.view_step); };
  views = {place(views.first), place(views.last)};
  return {views, range("--detector-rows", o.detector_rows, detector_of(info.scan).rows),
          range("--columns", o.columns, detector_of(info.scan).bins)};
}

pipeline::Recipe recipe_of(const ScanOptions& o, const io::ScanInfo& info) {
  const Selection s = select(o, info);
  return {.views = s.views, .rows = s.rows, .bins = s.bins, .steps = o.steps};
}

}  // namespace tandem::apps
