#include <algorithm>
#include <array>
#include <cmath>

#include "../../../core/error.hpp"
#include "../../../core/spelled.hpp"
#include "../changed_frames.hpp"
#include "beam.hpp"

namespace tandem::io {

extern const BeamFields parallel_fields, cone_fields, flexible_fields;

std::span<const BeamFields> beam_fields() {
  static const std::array all{parallel_fields, cone_fields, flexible_fields};
  return all;
}

const BeamFields* find_beam_fields(std::string_view kind) {
  const auto all = beam_fields();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const BeamFields& f) { return f.kind == kind; });
  return found == all.end() ? nullptr : &*found;
}

const BeamFields& fields_of(const Acquisition& found, const OpenOptions& options) {
  std::string_view kind = found.kind;
  for (const BeamFields& each : beam_fields())
    if (each.is_asked_for(options)) kind = each.kind;
  if (!options.kind.empty())
    kind = options.kind == fan_kind ? ConeBeam::kind : std::string_view(options.kind);
  const BeamFields* fields = find_beam_fields(kind);
  require<GeometryError>(fields != nullptr, "kind of beam: ", options.kind, " is not known");
  return *fields;
}

std::vector<double> shifts_of_views(const Acquisition& found, const OpenOptions& options,
                                    const std::filesystem::path& given, const std::vector<double>& recorded) {
  std::vector<double> shifts =
      given.empty() ? recorded
                    : read_numbers(given, "shift", "in bins or rows", options.allow_external_files);
  const std::size_t views = found.info.views_stored;
  require<FileError>(given.empty() || shifts.size() == views, given.string(), ": ", shifts.size(),
                     " shifts for ", views, " views; one per view is needed");
  return every(shifts, options.first_view, options.view_step);
}

void require_rows_left(const std::vector<double>& row_shifts, const Detector& detector) {
  for (const double shift : row_shifts)
    require<GeometryError>(std::abs(shift) < detector.rows, spelled("view-row-shifts") + ": a shift of ",
                           shift, " rows; less than the ", detector.rows, " rows of the detector are needed");
}

}  // namespace tandem::io
