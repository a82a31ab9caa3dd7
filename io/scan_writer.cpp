#include "tandem/io/scan_writer.hpp"

#include <array>
#include <numbers>

#include "tandem/core/error.hpp"
#include "tandem/io/hdf5.hpp"
#include "tandem/io/part_file.hpp"
#include "tandem_version.hpp"

namespace tandem::io {

namespace {

const std::string instrument = "/measurement/instrument/";
constexpr std::array<const char*, 3> paths{"/exchange/data", "/exchange/data_white", "/exchange/data_dark"};

void write_geometry(hdf5::File& file, const ParallelBeam& scan, std::optional<double> pixel_size_mm) {
  file.write_text(instrument + "tandem/kind", "parallel");
  file.write_number(instrument + "tandem/axis_bin", scan.detector.axis_bin, "");
  if (!scan.row_axis_bins.empty()) file.write_numbers(instrument + "tandem/row_axis_bins", scan.row_axis_bins, "");
  if (!pixel_size_mm) return;
  const double rows_for_bins = scan.detector.row_pitch / scan.detector.bin_pitch;
  file.write_number(instrument + "detector/pixel_size_x", *pixel_size_mm, "mm");
  file.write_number(instrument + "detector/pixel_size_y", *pixel_size_mm * rows_for_bins, "mm");
}

}  // namespace

struct ScanWriter::Impl {
  PartFile part;  // first, so that it is removed after the file is closed
  hdf5::File file;
  PixelType type;
  Shape shape;                                       // (view, row, bin)
  std::array<std::optional<hdf5::DataSet>, 3> sets;  // by FrameKind
  std::array<Index, 3> counts, rows_written{};
};

ScanWriter::ScanWriter(const std::filesystem::path& path, const ParallelBeam& scan,
                       std::optional<double> pixel_size_mm, PixelType type, Index flats, Index darks) {
  validate(scan);
  const Shape shape{static_cast<Index>(scan.angles.size()), scan.detector.rows, scan.detector.bins};
  const double frame = static_cast<double>(shape[1] * shape[2]) * static_cast<double>(bytes_of(type));
  require_space(path, frame * static_cast<double>(shape[0] + flats + darks));
  PartFile part(path);
  hdf5::File file = hdf5::File::create(part.path());
  impl_.reset(new Impl{std::move(part), std::move(file), type, shape, {}, {shape[0], flats, darks}, {}});

  for (std::size_t k = 0; k < paths.size(); ++k) {
    if (impl_->counts[k] == 0) continue;
    impl_->sets[k] = impl_->file.create(paths[k], type, Shape{impl_->counts[k], shape[1], shape[2]}, {});
    impl_->sets[k]->set("axes", "theta:y:x");
    impl_->sets[k]->set("units", "counts");
  }
  impl_->sets[0]->set("description", "transmission");
  std::vector<double> degrees;
  for (double angle : scan.angles) degrees.push_back(angle * 180 / std::numbers::pi);
  impl_->file.write_numbers("/exchange/theta", degrees, "deg");
  impl_->file.write_text("/implements", "exchange:measurement:process");
  write_geometry(impl_->file, scan, pixel_size_mm);
}

ScanWriter::~ScanWriter() = default;

void ScanWriter::write(FrameKind kind, Range rows, const Frames& frames) {
  const auto k = static_cast<std::size_t>(kind);
  const Shape due{impl_->counts[k], rows.size(), impl_->shape[2]};
  require<FileError>(impl_->sets[k].has_value(), impl_->file.name(), ": ", paths[k], ": 0 frames were announced");
  require<FileError>(frames.shape == due && frames.type == impl_->type && 0 <= rows.first && rows.first < rows.last &&
                         rows.last <= impl_->shape[1],
                     impl_->sets[k]->where(), ": ", frames.shape[0], " frames of ", frames.shape[1], " x ",
                     frames.shape[2], " ", name_of(frames.type), " came for rows ", rows.first, ":", rows.last, "; ",
                     due[0], " of ", due[1], " x ", due[2], " ", name_of(impl_->type), " within rows 0:",
                     impl_->shape[1], " are due");
  impl_->sets[k]->write(frames.type, std::array<Range, 3>{{{0, due[0]}, rows, {0, due[2]}}}, frames.bytes.data());
  impl_->rows_written[k] += rows.size();
}

void ScanWriter::finish(const std::string& recipe_json) {
  for (std::size_t k = 0; k < paths.size(); ++k)
    require<FileError>(!impl_->sets[k] || impl_->rows_written[k] >= impl_->shape[1], impl_->file.name(), ": ", paths[k],
                       ": has ", impl_->rows_written[k], " of ", impl_->shape[1], " rows; it is not finished");
  impl_->file.write_text("/process/tandem/version", TANDEM_VERSION);
  impl_->file.write_text("/process/tandem/recipe", recipe_json);
  for (auto& set : impl_->sets) set.reset();
  impl_->file.close();
  impl_->part.finish();
}

}  // namespace tandem::io
