#include "scan_options.hpp"

#include <algorithm>
#include <sstream>

#include "../../axis/repeated_view.hpp"
#include "../../core/ceil_div.hpp"
#include "../../core/error.hpp"
#include "../../counts/preprocess.hpp"
#include "../../counts/steps/chain.hpp"
#include "../../counts/steps/phase.hpp"
#include "../../io/hdf5/hdf5.hpp"
#include "../../io/scans/beams/beam.hpp"
#include "../../io/volumes/volume_kind.hpp"
#include "../../pipeline/beams/beam.hpp"
#include "../../pipeline/plan/job.hpp"
#include "../../pipeline/plan/margin_rows.hpp"
#include "../beams/beam.hpp"
#include "command_line.hpp"
#include "scan_texts.hpp"
#include "step_options.hpp"

namespace tandem::apps {

namespace {

bool is_variable(const std::string& text) {
  const std::string known = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
  return text.find_first_not_of(known) == std::string::npos && !text.empty() && text.front() != '.' &&
         text.back() != '.' && text.find("..") == std::string::npos;
}

void add_variable(CLI::App& c, ScanOptions& o) {
  c.add_option(
       "--variable", o.how.variable,
       "MATLAB: the variable that holds the sinogram, also a field STRUCTURE.FIELD (default: sinogram)")
      ->check([](const std::string& text) {
        return is_variable(text) ? std::string() : "'" + text + "' is no name of a variable";
      })
      ->type_name("NAME")
      ->option_text(of_volume);
}

}  // namespace

void add_scan(CLI::App& c, ScanOptions& o) {
  heading(c, "Scan");
  c.add_option("scan", o.path, what_a_scan_is)->required();
}

namespace {

void add_views(CLI::App& c, ScanOptions& o) {
  c.add_option("--geometry", o.geometry,
               "where each view was taken from: vectors of ASTRA (*.npy, *.geom, *.txt), RTK (*.xml) or LEAP "
               "(*.cfg), with :cone or :parallel if vectors do not say it; or the kind of beam (default: the "
               "file's own)")
      ->type_name("FILE|FILE:cone|FILE:parallel|cone|fan|parallel")
      ->option_text(of_volume);
  CLI::Option* angles =
      c.add_option("--angles", o.angles,
                   "one angle per line, degrees; with [A:B] only lines A to B (from 0, half open)")
          ->type_name("FILE[A:B]")
          ->option_text(of_volume);
  c.add_option("--arc", o.arc,
               "views in equal steps from 0 over these degrees, instead of the scan's own angles")
      ->type_name("DEG[,inclusive]")
      ->excludes(angles)
      ->option_text(of_volume);
  c.add_option("--view-shifts", o.how.view_shifts,
               "parallel beam: one number per line, how many bins the image of each view lies towards higher "
               "bins")
      ->type_name("FILE")
      ->option_text(of_volume);
  c.add_option("--view-row-shifts", o.how.row_shifts,
               "parallel beam: one number per line, how many rows the image of each view lies towards higher "
               "rows")
      ->type_name("FILE")
      ->option_text(of_volume);
  c.add_option("--orient", o.orient, "turns the stored images before all else, in this order")
      ->type_name("transpose,flip-rows,flip-columns")
      ->option_text(of_volume);
  c.add_option("--reverse-motion", o.reversed_motion,
               "motions of the sample that go the other way than the file's positions say: where rows do not "
               "count downwards, or the stage counts the other way")
      ->type_name("across-beam,along-axis,along-beam")
      ->option_text(of_volume);
}

void add_lengths(CLI::App& c, ScanOptions& o) {
  c.add_option("--pixel-size", o.how.pixel_size_mm, "detector pitch, mm (default: the file's own)")
      ->check(length())
      ->option_text(of_volume);
  c.add_option("--sod", o.how.sod_mm,
               "cone or fan: from source to rotation axis, mm (default: the file's own)")
      ->check(length())
      ->option_text(of_volume);
  c.add_option("--sdd", o.how.sdd_mm, "cone or fan: from source to detector, mm (default: the file's own)")
      ->check(length())
      ->option_text(of_volume);
  c.add_option("--midplane-row", o.how.midplane_row,
               "cone: row at the source's height, from 0 (default: the file's own, else the middle)")
      ->check(within(-1e9, 1e9))
      ->option_text(of_volume);
  c.add_flag(
       "--curved-detector", o.how.curved_detector,
       "cone or fan: the detector lies on a cylinder about the source, and --pixel-size is along its arc")
      ->option_text(of_volume);
}

}  // namespace

void add_scan_options(CLI::App& c, ScanOptions& o) {
  o.given = given_scan();
  heading(c, "Scan");
  c.add_option("--flats", o.flats, "flat images: a file or a folder (repeatable)")
      ->allow_extra_args(false)
      ->type_name("FILE")
      ->option_text(of_volume);
  c.add_option("--darks", o.darks, "dark images: a file or a folder (repeatable)")
      ->allow_extra_args(false)
      ->type_name("FILE")
      ->option_text(of_volume);
  add_counts(c, "--flat-loc", o.how.flat_views,
             "all flats are sets of equal size, taken before these views (default: what the scan tells)",
             most_along_an_axis, 0)
      ->option_text(of_volume);
  add_external_files(c, o.how.allow_external_files);
  add_views(c, o);
  add_variable(c, o);
  c.add_option("--time", o.time,
               "which of several scans, from 0, where the file has an axis of times; recon: all, one after "
               "another, with {time} in the name of the output")
      ->check([](const std::string& text) {
        std::string number = text;
        return in_lower_case(text) == all_times ? std::string() : count(0)(number);
      })
      ->type_name("K|all")
      ->option_text(of_volume);
  add_choice(
      c, "--file-type", o.file_type, {"standard", "double_fov"},
      "double_fov: a half acquisition, with views all round and the axis aside; standard: slices as wide "
      "as the detector (default: what axis, angles and file say)")
      ->option_text(of_volume);
  add_choice(c, "--rotation-direction", o.rotation_direction, {"+1", "1", "-1"},
             "default +1; -1: all angles change their sign")
      ->option_text(of_volume);
  add_lengths(c, o);
  heading(c, "From counts to line integrals");
  add_step_options(c, o.steps);
  c.parse_complete_callback([&o] {
    parse_texts(o);
    require_together(o.steps);
  });
}

void add_selection(CLI::App& c, ScanOptions& o) {
  heading(c, "Selection of the scan");
  const auto add = [&c](const std::string& name, AxisPart& part, bool takes_step, const char* help) {
    c.add_option_function<std::string>(
         name,
         [&part, name, takes_step](const std::string& text) {
           try {
             part = parse_axis_part(text, takes_step);
           } catch (const UsageError& fault) {
             throw UsageError(name + ": " + fault.what());
           }
         },
         help)
        ->type_name(takes_step ? "A:B[:STEP]" : "A:B")
        ->option_text(of_volume);
  };
  add("--detector-rows", o.detector_rows, false,
      "rows A to B of the detector, from 0, half open; A: to the last one, :B from the first one (recon of a "
      "cone beam: the slices there, for which rows beside are read too)");
  add("--columns", o.columns, false, "columns A to B of the detector");
  add("--views", o.views, true, "views A to B, with STEP every so many of them: ::4 is every fourth");
}

std::unique_ptr<io::VolumeReader> volume_in(const ScanOptions& o) {
  try {
    auto volume = std::make_unique<io::VolumeReader>(o.path, o.how.allow_external_files);
    if (volume->is_reconstruction()) return volume;
  } catch (const FileError&) {
    if (io::is_volume_alone(o.path)) throw;
  }  // else it is a scan, or open_scan says what is wrong
  return nullptr;
}

std::unique_ptr<io::ScanReader> open(const ScanOptions& o) {
  if (o.given && o.path == "-") return io::open_given_scan(*o.given, o.how);
  const auto refuse_volume = [&o] {
    require<FileError>(
        !io::is_volume_alone(o.path) && !volume_in(o), o.path,
        ": is a volume, not a scan; tandem info tells what it holds, project makes a scan of it");
  };
  if (!io::hdf5::is_hdf5(o.path)) refuse_volume();  // images may be either
  if (in_lower_case(o.time) == all_times && !o.how.time)
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

namespace {

/// Line integrals (view, row, bin) of some views and rows, all selected bins.
std::vector<float> line_integrals(io::ScanReader& reader, const ScanOptions& o, Range views,
                                  const std::vector<Index>& chosen, ProgressLine& progress) {
  const auto [all_views, all_rows, columns] = select(o, reader.info());
  pipeline::Preprocessing how =
      pipeline::preprocessing_of(pipeline::with_recorded_pose(o.steps, reader.info()), columns, 0);
  how.row_shifts = pipeline::row_shifts_of(reader.info(), all_rows.size(), 0);
  pipeline::require_reference(reader.info(), how, false);
  const pipeline::RowMargin margin = pipeline::margin_of(how);
  const Index rows = chosen.size(), bins = columns.size(), file_rows = detector_of(reader.info().scan).rows;
  std::vector<float> lines(views.size() * rows * bins);
  pipeline::Findings findings;
  for (Index k = 0; k < rows; ++k) {
    progress("read rows", k, rows, "rows");
    const Index row = chosen[k];
    const Range needed = margin.around({row, row + 1}),
                there{std::max<Index>(needed.first, 0), std::min(needed.last, file_rows)};
    const Range read = with_good_margins(reader, how, {{row, row + 1}, there, columns, views});
    auto reference = pipeline::read_reference(reader, read, columns, how);
    reference.margin_above = row - read.first;
    reference.margin_below = read.last - row - 1;
    const auto counts = reader.read(io::FrameKind::projection, views, read, columns);
    const auto data =
        pipeline::preprocess(counts, reference, how, Space({views.size(), 1, bins}, Blocks::rows), findings);
    for (Index v = 0; v < views.size(); ++v)
      std::copy_n(data.y.data() + v * bins, bins, &lines[(v * rows + k) * bins]);
  }
  return lines;
}

void warn_of_doubts(const pipeline::AxisEstimate& axis, const Scan& scan, ProgressLine& progress) {
  constexpr double doubtful = 0.3;  // even rows of air agree by up to so much with some axis
  constexpr double blurred = 0.5;   // bins
  const double turn = period_of(scan).value_or(whole_turn);
  const std::string advice = pipeline::axis_advice(angles_of(scan), turn, detector_of(scan).rows > 1);
  if (axis.agreement < doubtful) progress.warn("the rows hardly agree on an axis; " + advice);
  if (axis.uncertainty <= blurred) return;
  std::ostringstream text;
  text << (axis.cut_off ? "the sample reaches beyond the detector: " : "") << "the axis is uncertain by "
       << axis.uncertainty << " bins; " << advice;
  progress.warn(text.str());
}

}  // namespace

pipeline::AxisEstimate find_axis_in(io::ScanReader& reader, const ScanOptions& o,
                                    const pipeline::AxisSearch& search, const std::vector<Index>& rows,
                                    ProgressLine& progress) {
  const Scan& scan = reader.info().scan;
  require<GeometryError>(axis_of(scan).has_value(), "the views of a ", kind_of(scan),
                         " beam have no rotation axis that could be found");
  const OffCircle& off = reader.info().off_circle;
  const bool moved = reader.info().is_no_circle && !(off.bin_shifts.empty() && off.row_shifts.empty());
  require<GeometryError>(
      view_shifts_of(scan).empty() && !moved,
      "the axis is not searched where the images of the views are shifted (--view-shifts, of a cone beam "
      "--view-row-shifts, or the scan says so); give --rotation-axis X, or look at `tandem recon --sweep`");
  const auto leans = [&o](const pipeline::Option<pipeline::Number>& option) {
    return option.of(o.steps).value_or(0) != 0;
  };
  require<GeometryError>(
      !leans(pipeline::option::axis_tilt) &&
          (pipeline::beam_of(scan).roll || !leans(pipeline::option::detector_roll)),
      "the axis is not searched with --axis-tilt, nor with --detector-roll in a cone beam; give "
      "--rotation-axis X");
  require<GeometryError>(!off.curved,
                         "the axis is not searched on a curved detector; give --rotation-axis X");
  const Selection s = select(o, reader.info());
  const std::vector<float> lines = line_integrals(reader, o, s.views, rows, progress);
  progress("find axis", 0, 1, "searches");
  pipeline::AxisSearch shifted = search;
  shifted.aside = reader.info().field_of_view == io::FieldOfView::doubled;
  if (shifted.between)
    for (double& edge : *shifted.between) edge -= s.bins.first;
  auto axis = beam_of(scan).find_axis(lines, crop(scan, s.views, s.rows, s.bins), std::ssize(rows), shifted,
                                      progress);
  const double first = s.bins.first;
  axis.axis_bin += first;
  if (axis.axis_if_repeated) *axis.axis_if_repeated += first;
  return axis;
}

pipeline::AxisEstimate find_axis_of(io::ScanReader& reader, const ScanOptions& o,
                                    const pipeline::AxisSearch& search, Index count, ProgressLine& progress) {
  const Scan& scan = reader.info().scan;
  const std::vector<Index> rows = beam_of(scan).rows_for_axis(scan, select(o, reader.info()).rows, count);
  const pipeline::AxisEstimate axis = find_axis_in(reader, o, search, rows, progress);
  warn_of_doubts(axis, scan, progress);
  return axis;
}

std::vector<double> axes_of(const pipeline::AxisEstimate& axis) {
  std::vector<double> axes{axis.axis_bin};
  if (axis.axis_if_repeated) axes.push_back(*axis.axis_if_repeated);
  return axes;
}

void warn_of_repeated_view(io::ScanReader& reader, const ScanOptions& o, const std::vector<double>& axes,
                           ProgressLine& progress) {
  if (!o.how.arc_deg || o.how.arc_inclusive) return;
  const io::ScanInfo& info = reader.info();
  const Selection s = select(o, info);
  const Index views = views_of(info.scan);
  const double turns = *o.how.arc_deg / 360;
  const bool whole = turns == std::round(turns),
             half = 2 * turns == std::round(2 * turns) && period_of(info.scan) == half_turn;
  if (views < 4 || s.views.size() < views || !(whole || half)) return;
  const std::vector<Index> rows = beam_of(info.scan).rows_for_axis(info.scan, s.rows, 5);
  std::vector<float> lines = line_integrals(reader, o, {0, 2}, rows, progress);
  const std::vector<float> last = line_integrals(reader, o, {views - 2, views}, rows, progress);
  lines.insert(lines.end(), last.begin(), last.end());
  const auto repeats = [&](double axis) {
    const Shape shape{4, std::ssize(rows), s.bins.size()};
    const auto mirror = whole ? std::nullopt : std::optional(axis - s.bins.first);
    return pipeline::repeats_first_view(lines, shape, {0, 1, 2, 3}, mirror);
  };
  if (std::any_of(axes.begin(), axes.end(), repeats))
    progress.warn("the last view looks like the first one" + std::string(whole ? "" : ", mirrored") +
                  "; if the scan ends where its arc does, give --arc " + o.arc + ",inclusive");
}

}  // namespace tandem::apps
