#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/array.hpp"
#include "../../core/comm.hpp"
#include "../files/identity.hpp"
#include "../files/output.hpp"
#include "../hdf5/packing.hpp"
#include "../scans/scan_origin.hpp"
#include "volume_place.hpp"

namespace tandem::io {

/// How voxels are stored. Integer types map [min, max] onto their whole range and clip values outside.
/// float16 is IEEE half precision: 11 bits from 6e-5 to 65504, steps of 6e-8 below.
enum class VoxelType { float32, float16, uint16, uint8 };

struct VolumeFormat {
  VoxelType type = VoxelType::float32;
  Compression compression = Compression::none;
  float min = 0, max = 1;            ///< attenuation, for integer types
  std::optional<double> water = {};  ///< attenuation of water, 1/mm, if values are to be Hounsfield units
  bool range_follows = false;  ///< whether `VolumeWriter::set_range` gives min and max before the first slice
  std::optional<VolumePlace> place = {};  ///< the place of the volume; if left out, none is written
  /// Digests of the scan and of the options, in words. Parts with different digests are not of one volume.
  /// Empty if they are not known.
  std::string made_by = {};
  ScanOrigin origin = {};  ///< facts about sample and beam, for kinds that can hold them
  int zarr = 2;            ///< Zarr 2, which is OME-Zarr 0.4, or Zarr 3 with shards, which is OME-Zarr 0.5
  Index shard_bytes = Index{1} << 30;  ///< the largest shard of several slices in Zarr 3
  std::string unit() const { return place ? place->unit() : "1/pixel"; }
};

struct VolumeKind;  // volume_kind.hpp

/// Hounsfield units: 0 for water, and -1000 for what attenuates nothing.
constexpr double hounsfield = 1000;
/// The attenuations that whole Hounsfield units of 16 bits stand for: -32768 to 32767.
std::pair<float, float> hounsfield_range(double water);

/// Voxels that an integer type could not hold: below `min`, which became the smallest integer, and above
/// `max`.
struct Clipped {
  Index below = 0, above = 0;
};

/// Whether `file` is, or would be, a file of the volume "NAME.tif", whose slices are files: a slice
/// "NAME_00000.tif" beside it, or the manifest "NAME.tif.manifest".
bool is_file_of(const std::filesystem::path& volume, const std::filesystem::path& file);
/// The files that an output of this name may replace: the file itself, and the existing files of the volume
/// with that name.
std::vector<std::filesystem::path> files_of_output(const std::filesystem::path& path);

/// The words for a volume in messages: its name; or for slices that are files the first and the last, and
/// their number.
std::string files_written(const std::filesystem::path& path, Range slices);

/// Whether a writer completes what a killed run left. It does so only if that run had the same identity.
struct Continuation {
  bool wanted = false;
  bool later = false;  ///< whether finished slices stay for a later run if this one ends early
  Identity identity = {};
  Comm ranks = {};  ///< ranks that write the volume together, each some of its slices
};

/// Writes a volume (z, y, x) slab by slab. Nothing has the final name until `finish`. A writer that is
/// destroyed before `finish` removes what it wrote.
class VolumeWriter {
 public:
  virtual ~VolumeWriter() = default;
  /// Sets the range of integers, if the format says that it follows. @throws FileError unless min < max
  virtual void set_range(float /*min*/, float /*max*/) {}
  /// The clipped voxels of the slices that came so far.
  virtual Clipped clipped() const { return {}; }
  /// Writes some slices. Slabs may come in any order, and several threads may call this at once. Each slice
  /// is encoded and written on a thread of the pool. @throws FileError, also for a slice that came before, or
  /// if the disk is full; GeometryError for a voxel that float16 cannot hold
  virtual void write(Range slices, const float* data) = 0;
  /// The format of the file, if numbers may also come as they are stored there; else null. It is final when
  /// the range has been set.
  virtual const VolumeFormat* takes_stored() const { return nullptr; }
  /// Writes numbers that are rounded and scaled already. `clipped`: the voxels that integers could not hold.
  /// @pre halves are finite
  virtual void write_stored(Range /*slices*/, const std::byte* /*numbers*/, Clipped /*clipped*/) {}
  /// Memory where the stored numbers of these slices may be put before `write` or `write_stored`, which then
  /// gets this pointer and copies nothing. Null if the writer has no such memory.
  virtual std::byte* room(Range /*slices*/) { return nullptr; }
  /// The slices that a killed run left, in order. They need not come again; if they do, they are ignored.
  virtual std::vector<Range> done() const { return {}; }
  /// Reads one of these slices as VolumeReader will read it. @throws FileError
  virtual void read_done(Index, float*) {}
  /// Collective, if several ranks write the volume. It tells the first rank what all wrote, and that rank
  /// finishes the volume.
  virtual void collect() {}
  /// Marks the volume complete and gives it its name. @throws FileError unless every slice came
  virtual void finish(const std::string& report_json) = 0;
};

/// Makes a writer of the kind that the ending of the name tells (`volume_kind`), for example for HDF5, or for
/// one TIFF file per slice (NAME_00000.tif). Slices are counted in the full grid. `recipe_json` is written
/// under /process/tandem.
///
/// A TIFF volume replaces an older one with the same slices or fewer. Slices with other numbers stay if they
/// are of the same grid. If only a part of an older volume would be left, all of it is removed, provided that
/// `replace` is any.
///
/// A volume in the making has a journal of the slices that are safely on the disk. If `continuation` wants
/// it, the writer goes on with what a killed run left, and else clears it. A writer that goes on, or that a
/// later run may go on from, leaves a journal too if it is destroyed before `finish`. If several ranks write
/// a volume, each makes such a writer at the same time. @throws FileError if the folder does not exist or
/// cannot be written, if another run writes there, or if a file may not be replaced
std::unique_ptr<VolumeWriter> create_volume(const std::filesystem::path& path, Shape shape,
                                            const VolumeFormat& format, const std::string& recipe_json,
                                            Replace replace = Replace::own,
                                            const Continuation& continuation = {});

/// Every so many-th voxel of a part of a volume: the first of each range, and every `step`-th from there.
struct VolumeBox {
  std::array<Range, 3> part;  ///< z, y, x
  Shape step{1, 1, 1};
  Shape shape() const;  ///< how many voxels are read along each axis
};

/// A volume on disk. It may be an HDF5 file of tandem or tomocupy, `/exchange/data` (z, y, x); TIFF slices of
/// tandem, by the name of any slice or by NAME.tif; a BigTIFF of tandem; or NRRD, MetaImage or Zarr. Slices
/// of several runs are one volume if they are of one grid.
class VolumeReader {
 public:
  /// With `any_external`, raw files that an HDF5 file names as its data may lie outside its folder. @throws
  /// FileError
  explicit VolumeReader(const std::filesystem::path& path, bool any_external = false);
  /// A volume in memory, which stays where it is as long as the reader lives.
  VolumeReader(const float* voxels, Shape shape, std::optional<VolumePlace> place);
  ~VolumeReader();
  const VolumeKind& kind() const;  ///< the kind of the file
  std::string_view title() const;  ///< title of the kind: "HDF5", or "an array" for a volume in memory
  Shape shape() const;
  std::optional<VolumePlace> place() const;  ///< the place, if the file tells it; else empty
  std::optional<double> pitch_mm() const;    ///< pitch along x, if known
  std::string unit() const;
  bool is_reconstruction() const;  ///< whether the file says that it is no scan
  bool complete() const;           ///< false if the file says so, or if slices are missing or do not fit
  std::string recipe() const;      ///< the `recipe_json` of its writer; empty if there is none
  std::string missing() const;     ///< why it is incomplete, and a remedy; empty if it is complete
  void require_complete() const;   ///< @throws FileError with the text of `missing`
  /// Reads slices; integers are scaled back to attenuation. @throws FileError, also for the first voxel that
  /// is not finite
  void read(Range slices, float* data);
  /// The shape of the volume, and those of smaller copies that the file has.
  std::vector<Shape> levels() const;
  /// Reads a box of a level, and not more of the file than lines with its voxels, or chunks that hold them.
  /// Numbers that are not finite stay what they are, and checksums are not compared, as they are those of
  /// whole slices. @throws FileError, also for a box that is not within the level
  void read_box(const VolumeBox& box, float* data, std::size_t level = 0);
  double bytes_for(const VolumeBox& box) const;  ///< that reading it holds beside its result

 private:
  void scale(float* data, Index count) const;

  std::unique_ptr<class VolumeSource> source_;
  const VolumeKind* kind_ = nullptr;
};

}  // namespace tandem::io
