// DXchange (De Carlo et al., J. Synchrotron Rad. 21, 2014), as the APS writes it and ScanWriter does.

#include <memory>

#include "../core/error.hpp"
#include "frame_source.hpp"

namespace tandem::io {

namespace {

const std::string instrument = "/measurement/instrument/";

std::unique_ptr<FrameSource> frames_at(const hdf5::File& file, const std::string& path,
                                       const std::string& axes) {
  const auto data = std::make_shared<hdf5::DataSet>(file.data_set(path));
  return hdf5_frames(data, data->text("axes").value_or(axes));
}

void read_geometry(const hdf5::File& file, Acquisition& acquisition) {
  ScanInfo& info = acquisition.info;
  const std::string kind = file.text(instrument + "tandem/kind").value_or("parallel");
  require<FileError>(kind == "parallel" || kind == "cone", file.name(), ": ", instrument, "tandem/kind: \"",
                     kind, "\"; \"parallel\" or \"cone\" is needed");
  acquisition.cone = kind == "cone";
  info.pixel_size_mm = length_mm(file, instrument + "detector/pixel_size_x", "", info.notes);
  acquisition.row_pitch_mm = length_mm(file, instrument + "detector/pixel_size_y", "", info.notes);
  info.axis_bin = file.number(instrument + "tandem/axis_bin");
  if (const auto rows = file.find(instrument + "tandem/row_axis_bins"))
    acquisition.row_axis_bins = rows->numbers();
  acquisition.sod_mm = length_mm(file, instrument + "tandem/sod", "mm", info.notes);
  acquisition.sdd_mm = length_mm(file, instrument + "tandem/sdd", "mm", info.notes);
  acquisition.midplane_row = file.number(instrument + "tandem/midplane_row");
}

}  // namespace

bool is_data_exchange(const hdf5::File& file) { return file.has("/exchange/data"); }

FrameSources data_exchange_frames(const hdf5::File& file, FrameKind kind) {
  FrameSources sources;
  const std::string path = kind == FrameKind::flat ? "/exchange/data_white" : "/exchange/data_dark";
  if (file.has(path)) sources.push_back(frames_at(file, path, "theta:y:x"));
  return sources;
}

Acquisition open_data_exchange(const hdf5::File& file) {
  Acquisition acquisition;
  acquisition.info.format = "DXchange";
  acquisition.projections.push_back(frames_at(file, "/exchange/data", "theta:y:x"));
  acquisition.flats = data_exchange_frames(file, FrameKind::flat);
  acquisition.darks = data_exchange_frames(file, FrameKind::dark);

  acquisition.angles_where = file.name() + ": /exchange/theta";
  if (file.has("/exchange/theta")) {
    const hdf5::DataSet theta = file.data_set("/exchange/theta");
    acquisition.angles = theta.numbers();
    const double factor = radians_per(theta.text("units").value_or("deg"), theta.where());
    for (double& angle : acquisition.angles) angle *= factor;
  }
  read_geometry(file, acquisition);
  return acquisition;
}

}  // namespace tandem::io
