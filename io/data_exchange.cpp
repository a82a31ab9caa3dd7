// DXchange (De Carlo et al., J. Synchrotron Rad. 21, 2014), as the APS writes it and ScanWriter does.

#include <memory>

#include "../core/error.hpp"
#include "beams/beam.hpp"

namespace tandem::io {

namespace {

const std::string instrument = "/measurement/instrument/";

std::unique_ptr<FrameSource> frames_of(const std::shared_ptr<hdf5::DataSet>& data,
                                       std::optional<Index> time = {}) {
  const char* usual = data->shape().size() == 4 ? "time:theta:y:x" : "theta:y:x";
  return hdf5_frames(data, data->text("axes").value_or(usual), {}, time);
}

void read_geometry(const hdf5::File& file, Acquisition& acquisition) {
  ScanInfo& info = acquisition.info;
  const std::string kind = file.text(instrument + "tandem/kind").value_or("parallel");
  const BeamFields* fields = find_beam_fields(kind);
  std::string known;
  for (const BeamFields& each : beam_fields())
    known += (known.empty() ? "\"" : " or \"") + std::string(each.kind) + "\"";
  require<FileError>(fields, file.name(), ": ", instrument, "tandem/kind: \"", kind, "\"; ", known,
                     " is needed");
  acquisition.kind = fields->kind;
  // the APS writes the pitch of the camera, and beside it that at the sample, behind the objective
  info.pixel_size_mm =
      length_mm(file, instrument + "detection_system/objective/resolution", "um", info.notes);
  if (!info.pixel_size_mm) {
    info.pixel_size_mm = length_mm(file, instrument + "detector/pixel_size_x", "", info.notes);
    acquisition.row_pitch_mm = length_mm(file, instrument + "detector/pixel_size_y", "", info.notes);
  }
  info.energy_kev = energy_kev(file, instrument + "monochromator/energy", info.notes);
  info.axis_bin = file.number(instrument + "tandem/axis_bin");
  for (const BeamFields& each : beam_fields()) each.read(file, instrument + "tandem", acquisition);
}

}  // namespace

FrameSources data_exchange_frames(const hdf5::File& file, FrameKind kind) {
  FrameSources sources;
  const std::string path = kind == FrameKind::flat ? "/exchange/data_white" : "/exchange/data_dark";
  if (file.has(path)) sources.push_back(frames_of(std::make_shared<hdf5::DataSet>(file.data_set(path))));
  return sources;
}

std::optional<Acquisition> find_data_exchange(const hdf5::File& file, const OpenOptions& options) {
  if (!file.has("/exchange/data")) return std::nullopt;
  Acquisition acquisition;
  acquisition.info.format = "DXchange";
  const auto data = std::make_shared<hdf5::DataSet>(file.data_set("/exchange/data"));
  acquisition.projections.push_back(frames_of(data, options.time));
  acquisition.has_times = data->shape().size() == 4;
  acquisition.can_grow =
      !acquisition.has_times && data->can_grow() && !data->text("axes").value_or("").starts_with("y");
  acquisition.planned_views = data->most_slices();
  acquisition.flats = data_exchange_frames(file, FrameKind::flat);
  acquisition.darks = data_exchange_frames(file, FrameKind::dark);

  acquisition.angles_where = file.name() + ": /exchange/theta";
  if (file.has("/exchange/theta")) {
    const hdf5::DataSet theta = file.data_set("/exchange/theta");
    acquisition.angles = theta.numbers();
    if (const auto angles = theta.most_slices()) acquisition.planned_views = angles;
    const double factor = radians_per(theta.text("units").value_or("deg"), theta.where());
    for (double& angle : acquisition.angles) angle *= factor;
  }
  if (!acquisition.flats.empty())
    acquisition.info.times =
        frame_times(file, acquisition.projections.front()->shape()[0], acquisition.flats.front()->shape()[0]);
  read_geometry(file, acquisition);
  return acquisition;
}

}  // namespace tandem::io
