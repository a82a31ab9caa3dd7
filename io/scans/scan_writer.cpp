#include "scan_writer.hpp"

#include <array>

#include "../../core/error.hpp"
#include "../../core/units.hpp"
#include "../../core/version.hpp"
#include "../files/plain_file.hpp"
#include "../hdf5/hdf5.hpp"
#include "beams/beam.hpp"

namespace tandem::io {

namespace {

constexpr Index room_for_text = 1 << 20;  // bytes beside pixels and angles; measured: 15 kB
const std::string instrument = "/measurement/instrument/";
constexpr std::array<const char*, 3> paths{"/exchange/data", "/exchange/data_white", "/exchange/data_dark"};

void write_geometry(hdf5::File& file, const Scan& scan, std::optional<double> pixel_size_mm) {
  file.write_text(instrument + "tandem/kind", std::string(kind_of(scan)));
  find_beam_fields(kind_of(scan))->write(file, instrument + "tandem", scan);
  const Detector& detector = detector_of(scan);
  if (const auto axis = axis_of(scan)) file.write_number(instrument + "tandem/axis_bin", *axis, "");
  if (!pixel_size_mm) return;
  file.write_number(instrument + "detector/pixel_size_x", *pixel_size_mm, "mm");
  file.write_number(instrument + "detector/pixel_size_y",
                    *pixel_size_mm * detector.row_pitch / detector.bin_pitch, "mm");
}

}  // namespace

struct ScanWriter::Impl {
  Output output;
  PlainFile file;
  PixelType type;
  Shape shape;                                             // (view, row, bin)
  std::array<Index, 3> counts, rows_written{}, offsets{};  // by FrameKind

  std::string where(std::size_t kind) const { return file.name() + ": " + paths[kind]; }
  void make_file(const Scan& scan, std::optional<double> pixel_size_mm);
};

void ScanWriter::Impl::make_file(const Scan& scan, std::optional<double> pixel_size_mm) {
  hdf5::File made = hdf5::File::create(file);
  for (std::size_t k = 0; k < paths.size(); ++k) {
    if (counts[k] == 0) continue;
    hdf5::DataSet set = made.create(paths[k], number_type(type), Shape{counts[k], shape[1], shape[2]});
    set.set("axes", "theta:y:x");
    set.set("units", "counts");
    if (k == 0) set.set("description", "transmission");
    offsets[k] = set.offset();
  }
  std::vector<double> degrees;
  for (double angle : angles_of(scan)) degrees.push_back(in_degrees(angle));
  if (!degrees.empty()) made.write_numbers("/exchange/theta", degrees, "deg");
  made.write_text("/implements", "exchange:measurement:process");
  made.write_text("/process/tandem/version", TANDEM_VERSION);
  write_geometry(made, scan, pixel_size_mm);
  made.close();
}

ScanWriter::ScanWriter(Output output, const Scan& scan, std::optional<double> pixel_size_mm, PixelType type,
                       Index flats, Index darks) {
  validate(scan);
  const Shape shape{views_of(scan), detector_of(scan).rows, detector_of(scan).bins};
  PlainFile file = output.create(output.name());
  impl_ = std::make_unique<Impl>(
      Impl{std::move(output), std::move(file), type, shape, {shape[0], flats, darks}, {}, {}});
  const double frame = 1.0 * (shape[1] * shape[2]) * bytes_of(type);
  impl_->file.require_space(frame * (shape[0] + flats + darks) +
                            (room_for_text + 8 * (12 * shape[0] + shape[1])));
  impl_->make_file(scan, pixel_size_mm);
}

ScanWriter::~ScanWriter() = default;

void ScanWriter::write(FrameKind kind, Range rows, const Frames& frames) {
  const auto k = static_cast<std::size_t>(kind);
  const Shape due{impl_->counts[k], rows.size(), impl_->shape[2]};
  require<FileError>(due[0] > 0, impl_->where(k), ": 0 frames were announced");
  require<FileError>(frames.shape == due && frames.type == impl_->type && 0 <= rows.first &&
                         rows.first < rows.last && rows.last <= impl_->shape[1],
                     impl_->where(k), ": ", frames.shape[0], " frames of ", frames.shape[1], " x ",
                     frames.shape[2], " ", name_of(frames.type), " came for rows ", rows.first, ":",
                     rows.last, "; ", due[0], " of ", due[1], " x ", due[2], " ", name_of(impl_->type),
                     " within rows 0:", impl_->shape[1], " are due");
  const Index line = due[2] * bytes_of(impl_->type), slab = rows.size() * line;
  for (Index frame = 0; frame < due[0]; ++frame)
    impl_->file.write(impl_->offsets[k] + (frame * impl_->shape[1] + rows.first) * line,
                      frames.bytes.data() + frame * slab, slab);
  impl_->rows_written[k] += rows.size();
}

void ScanWriter::finish(const std::string& recipe_json) {
  for (std::size_t k = 0; k < paths.size(); ++k)
    require<FileError>(impl_->counts[k] == 0 || impl_->rows_written[k] >= impl_->shape[1], impl_->where(k),
                       ": has ", impl_->rows_written[k], " of ", impl_->shape[1],
                       " rows; it is not finished");
  impl_->file.require_room(room_for_text + recipe_json.size());
  hdf5::File file = hdf5::File::modify(impl_->file);
  file.write_text("/process/tandem/recipe", recipe_json);
  file.close();
  impl_->output.publish();
}

}  // namespace tandem::io
