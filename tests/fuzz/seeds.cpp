#include "seeds.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <utility>

#include "../../geometry/free_views.hpp"
#include "../../io/scans/geometries/geometry_file.hpp"
#include "../../io/scans/scan_writer.hpp"
#include "../../io/volumes/volume_file.hpp"
#include "../io/one_directory.hpp"
#include "../io/packed_chunks.hpp"
#include "../io/sample_files.hpp"
#include "../support/compound_file.hpp"
#include "../support/ct_pd.hpp"

namespace tandem::test {

namespace {

void write_volume(const fs::path& path, io::VoxelType type = io::VoxelType::uint16,
                  io::Compression compression = io::Compression::none, int zarr = 2) {
  const std::vector<float> data(3 * 4 * 5, 0.5f);
  const auto writer = io::create_volume(path, {3, 4, 5},
                                        {.type = type,
                                         .compression = compression,
                                         .place = io::whole_place({{5, 4, 3}, {0.1, 0.1, 0.1}, {}}, true),
                                         .zarr = zarr,
                                         .shard_bytes = 160},
                                        "{}");
  writer->write({0, 3}, data.data());
  writer->finish("{}");
}

/// Soft, hard and external links, one of which leads in a circle; strings of variable length.
void write_linked(const fs::path& path) {
  write_nxtomo(path, "/real");
  Hdf5Maker(path, true)
      .hard_link("/real/circle", "/real")
      .hard_link("/real/data/data", "/real/instrument/detector/data")
      .soft_link("/entry", "/real")
      .soft_link("/lost", "/nowhere")
      .external_link("/real/sample/rotation", "part.hdf", "/angles")
      .text("/real/title", "a scan of nothing", true)
      .text("/real/instrument/detector/field_of_view", "Full", true)
      .flag("/real/instrument/detector/x_flipped", true)
      .numbers("/real/instrument/detector/transformations/rz", "f64", {}, {180})
      .attribute("/real/sample/rotation_angle", "units", "degree", true)
      .attribute("/real/instrument/detector/x_pixel_size", "units", "m", true);
}

void write_virtual(const fs::path& path) {
  Hdf5Maker(path)
      .numbers("/raw", "u16", {2, rows, bins}, frames(0, 2))
      .stitched("/exchange/data", "u16", {views, rows, bins}, 2, {{".", "/raw"}, {"part.hdf", "/d"}})
      .endless("/exchange/data_white", "u16", {2, rows, bins}, {"part.hdf", "/d"})
      .external_link("/exchange/theta", "part.hdf", "/angles")
      .numbers("/exchange/data_shift_x", "f64", {views}, {0, 1, -1, 0.5})
      .attribute("/exchange/data_shift_x", "units", "pixels", true)
      .numbers("/exchange/data_shift_y", "f32", {views}, {0, 0.5, -1, 1})
      .text("/measurement/instrument/tandem/kind", "parallel", true)
      .attribute("/exchange/data", "axes", "theta:y:x", true);
}

void write_matlab(const fs::path& path) {
  const std::string in = "/Ct/parameters/";
  Hdf5Maker(path)
      .numbers("/Ct/sinogram", "f64", {bins, 3}, frames(0, 1))
      .numbers(in + "angles", "f64", {3, 1}, {0, 1, 2})
      .numbers(in + "distanceSourceOrigin", "f64", {1, 1}, {400})
      .numbers(in + "distanceSourceDetector", "f64", {1, 1}, {500})
      .numbers(in + "pixelSize", "f64", {1, 1}, {0.2});
}

/// Scans whose chunks each of the filters packed that tandem undoes itself.
void write_filtered(const fs::path& folder) {
  const std::vector<Filter> filters{
      {32004, {40}}, {32008, {0, 4, 2, 16, 2}}, {32015, {3}}, {32001, {2, 2, 2, 0, 5, 2, 1}}};
  for (const Filter& filter : filters) {
    const fs::path path = folder / ("filter" + std::to_string(filter.number) + ".h5");
    write_chunked(path, {.shape = {views, rows, bins}, .chunk = {1, rows, bins}, .filters = {filter}},
                  frames(0, views));
    Hdf5Maker(path, true)
        .hard_link("/exchange/data", "/d")
        .numbers("/exchange/theta", "f64", {views}, {0, 45, 90, 135});
  }
}

/// A scan with an axis of times.
void write_times(const fs::path& path) {
  std::vector<double> twice = frames(0, views);
  twice.insert(twice.end(), twice.begin(), twice.end());
  Hdf5Maker(path)
      .numbers("/exchange/data", "u16", {2, views, rows, bins}, twice)
      .numbers("/exchange/theta", "f64", {views}, {0, 45, 90, 135})
      .attribute("/exchange/data", "axes", "time:theta:y:x", true);
}

bool is_wanted(const std::string& name, const std::vector<std::string>& words) {
  return words.empty() || std::any_of(words.begin(), words.end(),
                                      [&](const std::string& word) { return name.find(word) != name.npos; });
}

/// A variable `sinogram` of 3 x 5 numbers; once more, packed by zlib without compression.
void write_mat5(const fs::path& path) {
  const auto word = [](std::uint32_t value) { return std::string(reinterpret_cast<const char*>(&value), 4); };
  const auto element = [&](std::uint32_t type, const std::string& data) {
    return word(type) + word(static_cast<std::uint32_t>(data.size())) + data +
           std::string((8 - data.size() % 8) % 8, '\0');
  };
  const std::vector<double> pixels = frames(0, 1);
  const std::string data(reinterpret_cast<const char*>(pixels.data()), pixels.size() * sizeof(double));
  const std::string array = element(14, element(6, word(6) + word(0)) + element(5, word(3) + word(5)) +
                                            element(1, "sinogram") + element(9, data));
  std::uint32_t low = 1, high = 0;  // Adler-32
  for (const char c : array) low = (low + static_cast<unsigned char>(c)) % 65521, high = (high + low) % 65521;
  const auto size = static_cast<std::uint32_t>(array.size());
  std::string packed = "\x78\x01\x01" + word(size | (~size << 16)) + array;
  for (const std::uint32_t byte : {high >> 8, high, low >> 8, low}) packed += static_cast<char>(byte & 0xff);
  std::string head = "MATLAB 5.0 MAT-file";
  head.resize(124, ' ');
  save(path, head + std::string("\0\1IM", 4) + array + word(15) +
                 word(static_cast<std::uint32_t>(packed.size())) + packed);
}

void write_cil(const fs::path& path) {
  const std::string data = "/entry1/tomo_entry/data/data", config = "/entry1/tomo_entry/config/";
  Hdf5Maker(path)
      .numbers(data, "f32", {views, rows, bins}, frames(0, views))
      .attribute(data, "data_type", "AcquisitionData", true)
      .attribute(data, "dim0", "angle", true)
      .attribute(data, "dim1", "vertical", true)
      .attribute(data, "dim2", "horizontal", true)
      .number_attribute(data, "pixel_size_h", 0.5)
      .numbers(config + "source/position", "f32", {3}, {0, -100, 0})
      .numbers(config + "detector/position", "f32", {3}, {0, 300, 0})
      .numbers(config + "detector/direction_x", "f32", {3}, {1, 0, 0})
      .numbers(config + "rotation_axis/position", "f32", {3}, {0, 0, 0})
      .numbers(config + "angles", "f32", {views}, {0, 30, 60, 90});
}

/// The fields of NXtomo that not every file has.
void write_fields(const fs::path& path) {
  write_nxtomo(path, "/entry");
  const std::string detector = "/entry/instrument/detector/", sample = "/entry/sample/";
  Hdf5Maker(path, true)
      .number_attribute("/entry", "version", 2.1)
      .numbers(detector + "count_time", "f64", {9}, {1, 0.5, 2, 2, 0.5, 2, 4, 2, 2})
      .numbers(detector + "sequence_number", "u32", {9}, {0, 1, 2, 3, 4, 5, 6, 7, 8})
      .flag(detector + "half_acquisition", true)
      .numbers(detector + "transformations/ry", "f64", {}, {180})
      .numbers(detector + "tomo_n", "i32", {}, {5})
      .numbers("/entry/control/data", "f64", {9}, {7, 10, 20, 30, 40, 7, 50, 60, 7})
      .numbers(sample + "x_translation", "f64", {9}, {0, 0, 3e-6, 1e-6, 0, 0, 3e-6, 7e-6, 0})
      .attribute(sample + "x_translation", "units", "m")
      .numbers(sample + "z_translation", "f64", {views}, {0, 1e-3, 2e-3, 3e-3})
      .numbers(sample + "x_pixel_size", "f64", {}, {2e-7});
}

void write_als(const fs::path& path) {
  Hdf5Maker file(path);
  file.group("/s");
  for (const auto& [key, value] : {std::pair{"nangles", "4"},
                                   {"arange", "180.0"},
                                   {"nrays", "5"},
                                   {"nslices", "3"},
                                   {"pxsize", "0.001303"},
                                   {"senergy", "25000.0"},
                                   {"i0cycle", "2"},
                                   {"pgeometry", "PARALLEL"},
                                   {"xbin", "2"}})
    file.attribute("/s", key, value);
  std::size_t view = 0;
  for (const char* name : {"s_0000_0000", "s_0000_0001", "s_0000_0002", "s_0000_0003"}) {
    const std::string image = std::string("/s/") + name + ".tif";
    file.numbers(image, "u16", {1, rows, bins}, frames(view, 1), {1, rows, bins}, view % 2 == 0);
    file.number_attribute(image, "rot_angle", 60.0 * static_cast<double>(view++));
  }
  for (const char* name : {"bak_0000_0000", "bak_0000_0002", "bak_0000_0003", "drk_0000_0003"})
    file.numbers(std::string("/s/s") + name + ".tif", "u16", {1, rows, bins}, frames(4, 1));
}

void write_bliss(const fs::path& path) {
  Hdf5Maker(path)
      .text("/1.1/title", "tomo:halfturn", true)
      .text("/1.1/technique/tomoconfig/rotation", "['srot', 'alias']")
      .texts("/1.1/technique/tomoconfig/translation_y", {"ty"})
      .text("/1.1/technique/tomoconfig/detector", "pco")
      .flag("/1.1/technique/tomoconfig/rotation_is_clockwise", true)
      .numbers("/1.1/technique/detector/flipping", "u8", {2}, {1, 0})
      .numbers("/1.1/technique/optic/sample_pixel_size", "f64", {2}, {2, 3})
      .numbers("/3.1/measurement/ty", "f64", {views}, {0, 0.01, 0.02, 0.03})
      .numbers("/3.1/instrument/pco/acq_parameters/acq_expo_time", "f64", {}, {0.1})
      .numbers("/1.1/technique/scan/energy", "f64", {}, {35})
      .text("/2.1/title", "dark images", true)
      .numbers("/2.1/measurement/pco", "u16", {1, rows, bins}, frames(1, 1))
      .text("/3.1/title", "projections", true)
      .numbers("/3.1/measurement/pco", "u16", {views, rows, bins}, frames(0, views))
      .numbers("/3.1/measurement/srot", "f64", {views}, {0, 30, 60, 90});
}

/// A scan of Zeiss, with short streams and long ones; a file of 3 views of which one is long.
void write_txrm(const fs::path& path, bool scattered) {
  const auto one = [](std::int32_t value) { return stream_of(std::vector<std::int32_t>{value}); };
  const auto some = [](float value) { return stream_of(std::vector<float>(4, value)); };
  Streams all{{"ImageInfo/ImageWidth", one(bins)},
              {"ImageInfo/ImageHeight", one(rows)},
              {"ImageInfo/NoOfImages", one(views)},
              {"ImageInfo/ImagesTaken", one(views)},
              {"ImageInfo/DataType", one(5)},
              {"ImageInfo/XrayGeometry", one(1)},
              {"ImageInfo/PixelSize", some(20)},
              {"ImageInfo/StoRADistance", some(-50)},
              {"ImageInfo/DtoRADistance", some(150)},
              {"ImageInfo/ExpTimes", some(2)},
              {"ReferenceData/ExpTime", some(1)},
              {"ReferenceData/DataType", one(5)},
              {"ReferenceData/Image", std::string(6000, 'r')},
              {"ImageInfo/Angles", stream_of(std::vector<float>{0, 0.5f, 1, 1.5f})}};
  if (scattered) all["Alignment/X-Shifts"] = stream_of(std::vector<float>{0, 1, -1, 2});
  for (std::size_t k = 1; k <= views; ++k)
    all["ImageData1/Image" + std::to_string(k)] = std::string(k == 2 ? 9000 : 30, static_cast<char>('a' + k));
  write_compound_file(path.string(), all, 9, scattered);
}

/// Files of settings, each in a folder of its own.
const std::vector<std::pair<std::string, std::vector<std::string>>>& settings_files() {
  static const std::vector<std::pair<std::string, std::vector<std::string>>> all{
      {"flexray/scan settings.txt", {"SDD : 528.0", "SOD : 423.5", "HC : 2.5", "Binned pixel size : 0.07"}},
      {"flexray/data settings XRE.txt",
       {"number projections = \"9\"", "Start angle = \"10.0\"", "Last angle = \"370.0\"", "COR = \"1.75\""}},
      {"nikon/s.xtekct",
       {"DetectorOffsetX=0.1", "DetectorOffsetY=-0.2", "ObjectRoll=0.3", "ObjectTilt=0.5",
        "AngleFile_Use=True", "Name=s", "InputSeparator=_", "SrcToObject=120", "SrcToDetector=600",
        "DetectorPixelsX=5", "DetectorPixelSizeX=0.2", "DetectorPixelsY=3", "DetectorPixelSizeY=0.4",
        "ObjectOffsetX=0.01", "WhiteLevel=60000", "Projections=4", "InitialAngle=30", "AngularStep=90"}},
      {"skyscan/s.log",
       {"[Acquisition]", "Filename Prefix=s_", "Number Of Files= 4", "Number Of Rows= 3",
        "Number Of Columns= 5", "Optical Axis (line)= 1", "Object to Source (mm)=50",
        "Camera to Source (mm)=200", "Image Pixel Size (um)=10", "Reference Intensity=58000",
        "Rotation Step (deg)=0.6", "Flat Field Correction=ON"}},
      {"tomcat/s.log",
       {"File Prefix : s_", "Number of projections : 2", "Number of darks : 1", "Number of flats : 1",
        "Rot Y min position  [deg] : 0", "Rot Y max position  [deg] : 180", "Actual pixel size [um] : 0.3"}},
      {"esrf/s.info", {"Energy= 19.5", "ScanRange= 180", "TOMO_N= 3", "DARK_N= 10", "PixelSize= 7.5"}},
      {"xml/s.xml", {"<a><tomo_N>4</tomo_N><scanRange>180</scanRange><pixelSize>0.6</pixelSize></a>"}},
      {"phoenix/s.pca",
       {"[Geometry]", "FDD=800", "FOD=200", "VoxelSizeX=0.05", "VoxelSizeY=0.1", "CalibValue=-1.2", "[CT]",
        "NumberImages=4", "RotationSector=360", "[Image]", "DimX=5", "DimY=3", "FreeRay=3401", "[Detector]",
        "PixelsizeX=0.2"}},
      {"northstar/s.nsipro",
       {"<Object Radiograph>",
        "<pitch>0.5 0.5",
        "<number>4",
        "<angleStep>90",
        "</Object Radiograph>",
        "<Detector>",
        "<width pixels>5",
        "<height pixels>3",
        "</Detector>",
        "<Correction>",
        "<rotate>90",
        "<flipH>True",
        "</Correction>",
        "<clockwise>True",
        "<Result>",
        "<source>0 0.2 400",
        "<reference>-0.9 0.6 -200",
        "<axis>0.01 1 0",
        "<normal>0 0 -1",
        "<horizontal>1 0 0",
        "</Result>"}},
      {"northstar/Geometry Report.rtf", {"{\\rtf1 Image center (-1.15, 0.35) [mm] / (1, 2) [in]}"}},
      {"diondo/s.xml",
       {"<a><HelixMode>false</HelixMode><SourceDetectorDist>800</SourceDetectorDist>",
        "<SourceObjectDist>200</SourceObjectDist><ProjectionCount>4</ProjectionCount>",
        "<ProjectionDimX>5</ProjectionDimX><ProjectionDimY>3</ProjectionDimY>",
        "<ProjectionPixelSizeX>0.2</ProjectionPixelSizeX></a>"}},
      {"yxlon/s.xml",
       {"<a><ConeBeamScanParameter><PixelSize><Width>0.2</Width></PixelSize><ScanTrajectory "
        "type=\"CircleTrajectory\">",
        "<PixelPitch>0.2</PixelPitch><Fdd>4000</Fdd><Fod>1000</Fod><NumberOfProjections>4</"
        "NumberOfProjections>",
        "<StartAngle>30</StartAngle><Rotation>360</Rotation></ScanTrajectory>",
        "<HorizontalDetectorOffset>0.5</HorizontalDetectorOffset></ConeBeamScanParameter></a>"}},
      {"astra/s.geom",
       {"0 -66 0 0 133 0 .15 0 0 0 0 .15", "66 0 0 -133 0 0 0 .15 0 0 0 .15",
        "0 66 0 0 -133 0 -.15 0 0 0 0 .15", "-66 0 0 133 0 0 0 -.15 0 0 0 .15"}},
      {"rolled/s.geom",
       {"0 -66 0 0 133 0 .15 0 .005 -.005 0 .15", "66 0 0 -133 0 0 0 .15 .005 0 -.005 .15",
        "0 66 0 0 -133 0 -.15 0 .005 .005 0 .15", "-66 0 0 133 0 0 0 -.15 .005 0 .005 .15"}}};
  return all;
}

void write_settings(const fs::path& path, const std::vector<std::string>& lines) {
  fs::create_directories(path.parent_path());
  write_lines(path, lines);
  for (std::size_t k = 0; k < 4; ++k)
    write_edf(path.parent_path() / ("s_" + std::to_string(k) + ".edf"), {frames(k, 1)});
  if (path.extension() == ".info") write_edf(path.parent_path() / "darkend0000.edf", {frames(1, 1)});
}

}  // namespace

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream all;
  all << file.rdbuf();
  return all.str();
}

void save(const fs::path& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

void write_companion(const fs::path& folder) {
  Hdf5Maker(folder / "part.hdf")
      .numbers("/d", "u16", {2, rows, bins}, frames(2, 2), {1, rows, bins}, true)
      .numbers("/angles", "f64", {views}, {0, 45, 90, 135})
      .text("/definition", "NXtomo", true);
}

/// Views of any geometry: by each format, by matrices alone, and in a scan that tandem wrote.
void write_views(const fs::path& folder) {
  const auto count = [](unsigned long long n) { return static_cast<Index>(n); };
  const Detector detector{
      .bins = count(bins), .rows = count(rows), .bin_pitch = 0.2, .row_pitch = 0.2, .axis_bin = 2.2};
  const FlexibleBeam scan =
      as_free_views(ConeBeam{detector, {0, 1, 2, 3}, 60, 180, 1.1}, {.roll = 0.1, .tilt = 0.05});
  for (const char* name : {"views.npy", "views.geom", "views.cfg", "views.xml"})
    save(folder / name, io::geometry_text(name, scan));
  std::istringstream lines(io::geometry_text("views.xml", scan));
  std::string matrices;
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("    <") || line.find("Matrix") != std::string::npos) matrices += line + '\n';
  save(folder / "views_by_matrices.xml", matrices);
  io::ScanWriter writer({folder / "flexible.h5", io::Content::scan}, scan, 0.2, io::PixelType::uint16, 0, 0);
  io::Frames zeros{io::PixelType::uint16, {count(views), count(rows), count(bins)}, {}};
  zeros.bytes.resize(2 * views * rows * bins);
  writer.write(io::FrameKind::projection, {0, count(rows)}, zeros);
  writer.finish("{}");
}

/// Arrays of NumPy, and a series of MRC with an extended head; a list of its angles.
void write_arrays(const fs::path& folder) {
  for (const bool big : {false, true}) {
    std::string head = std::string("{'descr': '") + (big ? ">f4" : "<u2") +
                       "', 'fortran_order': False, 'shape': (4, 3, 5), }";
    head.resize(117, ' ');
    save(folder / (big ? "big.npy" : "stack.npy"),
         std::string("\x93NUMPY\x01\x00\x76\x00", 10) + head + '\n' +
             std::string(views * rows * bins * (big ? 4 : 2), '\x3'));
  }
  const auto word = [](std::uint32_t value) { return std::string(reinterpret_cast<const char*>(&value), 4); };
  std::string mrc;
  for (const std::uint32_t value : {5, 3, 4, 6, 0, 0, 0, 5, 3, 4}) mrc += word(value);
  const float cell = 20;
  for (int axis = 0; axis < 3; ++axis) mrc.append(reinterpret_cast<const char*>(&cell), 4);
  mrc.resize(1024);
  mrc.replace(92, 4, word(64)), mrc.replace(208, 8, std::string("MAP DD\0\0", 8));
  save(folder / "series.mrc", mrc + std::string(64, 'e') + std::string(2 * views * rows * bins, '\x3'));
  save(folder / "series.tlt", "-60\n-20\n20\n60\n");
}

/// Raw frames of 16 bits, and a table with a column of angles.
void write_lists(const fs::path& folder) {
  save(folder / "frames.raw", std::string(2 * views * rows * bins, '\x3'));
  save(folder / "angles.csv", "view;angle_deg\n0;0\n1;45\n2;90\n3;135\n");
}

fs::path volume_of(const std::string& name) {
  const fs::path place = *fs::path(name).begin();
  return place == "slices"              ? place / "v.tif"
         : place == "series"            ? place / "v.dcm"
         : place.extension() == ".zarr" ? place
                                        : fs::path();
}

void write_beside(const fs::path& folder, const std::string& name) {
  const std::string place = name.substr(0, name.find('/'));
  fs::remove_all(folder / place);
  if (place == "slices" || place == "series" || place == "projections")
    fs::create_directories(folder / place);
  if (const fs::path volume = volume_of(name); !volume.empty())
    write_volume(folder / volume, place == "series" ? io::VoxelType::uint16 : io::VoxelType::float32,
                 place.starts_with("packed") ? io::Compression::blosc : io::Compression::none,
                 place.ends_with("3.zarr") ? 3 : 2);
  if (place == "projections") write_projections(folder / place, 2);
  for (const auto& [file, lines] : settings_files())
    if (file.starts_with(place + '/')) write_settings(folder / file, lines);
}

std::vector<Seed> make_seeds(const fs::path& folder, const std::vector<std::string>& words) {
  const std::vector<std::vector<double>> pages{frames(0, 1), frames(1, 1), frames(2, 1)},
      four_pages{frames(0, 1), frames(1, 1), frames(2, 1), frames(3, 1)};
  write_data_exchange(folder / "plain.h5");
  write_data_exchange(folder / "packed.h5", "f32", true);
  write_nxtomo(folder / "scan.nxs");
  write_filtered(folder);
  write_times(folder / "times.h5");
  write_volume(folder / "volume.h5");
  write_volume(folder / "half.h5", io::VoxelType::float16, io::Compression::zstd);
  write_volume(folder / "blosc.h5", io::VoxelType::float32, io::Compression::blosc);
  write_volume(folder / "volume.btf", io::VoxelType::uint8);
  write_companion(folder);
  write_linked(folder / "linked.nxs");
  write_virtual(folder / "virtual.h5");
  write_tiff_pages(folder / "plain.tif", pages, {.mode = "wb"});
  write_tiff_pages(folder / "packed.tif", pages, {.bits = 32, .format = 3, .compression = 8});
  write_tiff_pages(folder / "tiles.tif", pages, {.mode = "w8", .compression = 5, .tile = 16});
  write_tiff_pages(folder / "big.tif", pages, {.mode = "wb8", .bits = 32, .rows_per_strip = 1});
  write_tiff_pages(folder / "doubles.tif", pages, {.mode = "wb", .bits = 64, .format = 3, .tile = 16});
  write_tiff_pages(folder / "times.tif", four_pages,
                   {.description = "ImageJ=1.53\nimages=4\nslices=2\nframes=2\nhyperstack=true\n"});
  write_one_directory(folder / "imagej.tif", "ImageJ=1.53\nimages=4\nslices=4\nc0=0.0\nc1=2.0\n", 4);
  write_one_directory(folder / "tifffile.tif", "{\"shape\": [4, 3, 5], \"truncated\": true}", 4);
  write_tiff_pages(folder / "sinogram.tif", {frames(0, 1)}, {.bits = 8});
  write_edf(folder / "several.edf", pages, {.type = "FloatValue", .high_byte_first = true});
  write_edf(folder / "one.edf", {frames(0, 1)}, {.header_bytes = 1024});
  write_edf(folder / "padded.edf", pages, {.more = "EDF_HeaderSize = 512 ;\nEDF_BinarySize = 30 ;\n"});
  std::ofstream(folder / "one_header.edf", std::ios::binary)
      << "{\nByteOrder = LowByteFirst ;\nDataType = UnsignedShort ;\nDim_1 = 5 ;\nDim_2 = 3 ;\nSize = 90 ;\n"
      << "EDF_HeaderSize = 120 ;\n}\n  " << std::string(90, 'a');
  write_matlab(folder / "new.mat");
  write_mat5(folder / "old.mat");
  write_fields(folder / "fields.nxs");
  write_cil(folder / "cil.nxs");
  write_bliss(folder / "bliss.h5");
  write_als(folder / "als.h5");
  write_views(folder);
  write_txrm(folder / "scan.txrm", false);
  write_txrm(folder / "scattered.txrm", true);
  write_lists(folder);
  write_arrays(folder);
  for (const auto& [name, lines] : settings_files()) write_settings(folder / name, lines);
  for (const char* name : {"slices/v.tif", "series/v.dcm", "projections/p_1.dcm", "v2.zarr", "v3.zarr",
                           "packed2.zarr", "packed3.zarr"})
    write_beside(folder, name);
  std::vector<Seed> seeds;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (const std::string name = entry.path().lexically_relative(folder).string();
        entry.is_regular_file() && is_wanted(name, words))
      seeds.push_back({name, content(entry.path())});
  std::sort(seeds.begin(), seeds.end(), [](const Seed& a, const Seed& b) { return a.name < b.name; });
  return seeds;
}

}  // namespace tandem::test
