// The options that say how a scan is opened, and which part of it is used.

#include "scan.hpp"

#include <cmath>

#include "../geometry/scan.hpp"
#include "../io/scans/beams/beam.hpp"
#include "../io/scans/geometries/geometry_file.hpp"
#include "renamed.hpp"
#include "steps.hpp"

namespace tandem::options {

namespace {

void parse_angles(const std::string& text, io::OpenOptions& how) {
  how.angles = text;
  if (!text.ends_with(']')) return;  // other brackets belong to the name
  const std::size_t bracket = text.rfind('[');
  if (bracket == std::string::npos || bracket == 0)
    throw UsageError("--angles '" + text + "' is not FILE or FILE[A:B]");
  how.angles = text.substr(0, bracket);
  how.angle_lines = parse_range("--angles", text.substr(bracket + 1, text.size() - bracket - 2));
}

/// Takes --geometry, which is a kind of beam or a file with the geometry of each view.
void parse_geometry(const std::string& text, io::OpenOptions& how) {
  how.kind = in_lower_case(text) == io::fan_kind ? io::fan_kind : kind_called(text);
  if (!how.kind.empty()) return;
  const std::string successor = successor_of_value("geometry", text);
  if (std::error_code fault; !successor.empty() && !std::filesystem::exists(text, fault))
    throw UsageError("--geometry '" + text + "' is not known" + successor);
  const io::GeometryName name = io::geometry_named(text);
  how.geometry = name.path, how.parallel_rays = name.parallel;
}

void parse_arc(const std::string& given, io::OpenOptions& how) {
  const std::string inclusive = ",inclusive";
  std::string text = in_lower_case(given);
  how.arc_inclusive = text.ends_with(inclusive);
  if (how.arc_inclusive) text.resize(text.size() - inclusive.size());
  how.arc_deg = number_in(text);
  if (!how.arc_deg || *how.arc_deg == 0 || std::abs(*how.arc_deg) > 36000)
    throw UsageError("--arc '" + given + "' is not DEG or DEG,inclusive with DEG up to 36000, but not 0");
}

void parse_orientation(const std::string& given, io::OpenOptions& how) {
  const std::optional<io::Orientation> orientation = io::orientation_of(in_lower_case(given));
  if (!orientation)
    throw UsageError("--orient '" + given +
                     "' is not a list of transpose, flip-rows and flip-columns, with a comma between two");
  how.orientation = *orientation;
}

void parse_reversed(const std::string& given, io::ReversedMotion& reversed) {
  for (const std::string& word : parts_of(in_lower_case(given), ',')) {
    if (word != "across-beam" && word != "along-axis" && word != "along-beam")
      throw UsageError("--reverse-motion '" + given +
                       "' is not a list of across-beam, along-axis and along-beam, with a comma between two");
    (word == "across-beam" ? reversed.across : word == "along-axis" ? reversed.up : reversed.along) = true;
  }
}

void add_views(Table& c, ScanOptions& o) {
  c.add_parsed(
       "--geometry", On::result, [&how = o.how](const std::string& text) { parse_geometry(text, how); },
       "where each view was taken from: vectors of ASTRA (*.npy, *.geom, *.txt), RTK (*.xml) or LEAP "
       "(*.cfg), with :cone or :parallel if vectors do not say it; or the kind of beam (default: the "
       "file's own)")
      .of_kind("FILE|FILE:cone|FILE:parallel|cone|fan|parallel");
  add_angles(c, o.how);
  c.add_parsed(
       "--arc", On::result, [&how = o.how](const std::string& text) { parse_arc(text, how); },
       "views in equal steps from 0 over these degrees, instead of the scan's own angles")
      .of_kind("DEG[,inclusive]")
      .in("degrees")
      .without("--angles");
  c.add("--view-shifts", On::result, o.how.view_shifts,
        "parallel beam: one number per line, how many bins the image of each view lies towards higher "
        "bins")
      .of_kind("FILE");
  c.add("--view-row-shifts", On::result, o.how.row_shifts,
        "parallel beam: one number per line, how many rows the image of each view lies towards higher "
        "rows")
      .of_kind("FILE");
  c.add_parsed(
       "--orient", On::result, [&how = o.how](const std::string& text) { parse_orientation(text, how); },
       "turns the stored images before all else, in this order")
      .of_kind("transpose,flip-rows,flip-columns");
  c.add_parsed(
       "--reverse-motion", On::result,
       [&how = o.how](const std::string& text) { parse_reversed(text, how.reversed_motion); },
       "motions of the sample that go the other way than the file's positions say: where rows do not "
       "count downwards, or the stage counts the other way")
      .of_kind("across-beam,along-axis,along-beam");
}

void add_lengths(Table& c, ScanOptions& o) {
  c.add("--pixel-size", On::result, o.how.pixel_size_mm, "detector pitch, mm (default: the file's own)")
      .in("mm")
      .check(length());
  c.add("--sod", On::result, o.how.sod_mm,
        "cone or fan: from source to rotation axis, mm (default: the file's own)")
      .called("source to axis")
      .in("mm")
      .check(length());
  c.add("--sdd", On::result, o.how.sdd_mm,
        "cone or fan: from source to detector, mm (default: the file's own)")
      .called("source to detector")
      .in("mm")
      .check(length());
  c.add("--midplane-row", On::result, o.how.midplane_row,
        "cone: row at the source's height, from 0 (default: the file's own, else the middle)")
      .called("midplane")
      .in("row")
      .check(within(-1e9, 1e9));
  c.add("--curved-detector", On::result, o.how.curved_detector,
        "cone or fan: the detector lies on a cylinder about the source, and --pixel-size is along its arc");
}

}  // namespace

std::string_view kind_called(const std::string& word) {
  const std::string name = in_lower_case(word);
  if (name == "fan" || name == ConeBeam::kind) return ConeBeam::kind;
  return name == ParallelBeam::kind ? ParallelBeam::kind : std::string_view();
}

void add_angles(Table& c, io::OpenOptions& how) {
  c.add_parsed(
       "--angles", On::result, [&how](const std::string& text) { parse_angles(text, how); },
       "list of angles: one per line, or the column angle of a table; or FILE:/NAME, or an array of NumPy; "
       "with [A:B] only lines A to B (from 0, half open)")
      .of_kind("FILE[A:B]");
  add_choice(c, "--angles-unit", On::result, how.angles_unit, {"deg", "rad"},
             "unit of the list (default: what it says, else deg, or rad if it fills pi or 2 pi)")
      .only_with("--angles");
}

void add_scan(Table& c, ScanOptions& o) {
  c.heading("Scan");
  c.add("scan", On::result, o.path, what_a_scan_is).required();
}

void add_external_files(Table& c, bool& allowed) {
  c.add("--allow-external-files", On::files, allowed,
        "read data outside the folder of the file, or of the Zarr, that leads to them");
}

Option& add_raw(Table& c, io::OpenOptions& how) {
  return c
      .add_parsed(
          "--raw", On::result,
          [&how](const std::string& text) { io::read_raw_frames(text, how.raw.emplace()); },
          "frames in files without a head: type of number, bins x rows, bytes before the first frame, and "
          "big for the order of bytes if it is not little; a file has one frame or many")
      .check([](std::string& text) {
        io::RawFrames raw;
        return io::read_raw_frames(text, raw);
      })
      .of_kind("TYPE,BINSxROWS[,header=BYTES][,big]");
}

void add_scan_options(Table& c, ScanOptions& o) {
  c.heading("Scan");
  c.add("--flats", On::result, o.how.flats, "flat images: a file, FILE:/NAME or a folder (repeatable)")
      .of_kind("FILE");
  c.add("--darks", On::result, o.how.darks, "dark images: a file, FILE:/NAME or a folder (repeatable)")
      .of_kind("FILE");
  add_counts(c, "--flat-loc", On::result, o.how.flat_views,
             "all flats are sets of equal size, taken before these views (default: what the scan tells)",
             most_along_an_axis, 0)
      .called("views after flats");
  add_external_files(c, o.how.allow_external_files);
  add_raw(c, o.how);
  c.add("--like", On::run, o.like, "take the options that this volume of tandem was made with")
      .of_kind("VOLUME");
  add_views(c, o);
  c.add_parsed(
       "--time", On::result,
       [&o](const std::string& text) {
         o.all_times = in_lower_case(text) == "all";
         o.how.time = whole_in(text);
       },
       "which of several scans, from 0, where the file has an axis of times; recon: all, one after "
       "another, with {time} in the name of the output")
      .check([](const std::string& text) {
        std::string number = text;
        return in_lower_case(text) == "all" ? std::string() : count(0)(number);
      })
      .of_kind("K|all")
      .called("time point");
  c.add_parsed(
       "--file-type", On::result,
       [&how = o.how](const std::string& text) {
         how.field_of_view = text == "standard" ? io::FieldOfView::standard : io::FieldOfView::doubled;
       },
       "double_fov: a half acquisition, with views all round and the axis aside; standard: slices as wide "
       "as the detector (default: what axis, angles and file say)")
      .check(one_of({"standard", "double_fov"}))
      .of_kind("standard|double_fov");
  c.add_parsed(
       "--rotation-direction", On::result,
       [&how = o.how](const std::string& text) { how.reverse_rotation = text == "-1"; },
       "default +1; -1: all angles change their sign")
      .check(one_of({"+1", "1", "-1"}))
      .of_kind("+1|1|-1")
      .default_text("+1");
  add_lengths(c, o);
  c.heading("From counts to line integrals");
  add_step_options(c, o.steps);
  c.at_end([&o, &c] {
    require_together(o.steps);
    const bool makes_volumes = c.command == "recon" || c.command == "look";
    if (!makes_volumes && pipeline::option::beam_hardening.is_word(o.steps, "auto"))
      throw UsageError("--beam-hardening auto goes with recon and look; give coefficients, or leave it out");
  });
}

void add_selection(Table& c, ScanOptions& o) {
  c.heading("Selection of the scan");
  const auto add = [&c](const std::string& name, AxisPart& part, bool takes_step, const char* help) {
    c.add_parsed(
         name, On::result,
         [&part, name, takes_step](const std::string& text) {
           part = parse_axis_part(name, text, takes_step);
         },
         help)
        .of_kind(takes_step ? "A:B[:STEP]" : "A:B");
  };
  add("--detector-rows", o.detector_rows, false,
      "rows A to B of the detector, from 0, half open; A: to the last one, :B from the first one (recon of a "
      "cone beam: the slices there, for which rows beside are read too)");
  add("--columns", o.columns, false, "columns A to B of the detector");
  c.at_end([&o] { o.how.view_step = o.views.step, o.how.first_view = o.views.first % o.views.step; });
  add("--views", o.views, true, "views A to B, with STEP every so many of them: ::4 is every fourth");
}

}  // namespace tandem::options
