#pragma once

// Folders of images with text files beside them.

#include <cmath>
#include <numbers>

#include "../io_checks.hpp"

namespace tandem::test {

constexpr double degree = std::numbers::pi / 180;

/// A folder of images of 3 rows and 5 bins, which count from `first`.
class Scanned {
 public:
  explicit Scanned(const std::string& start = "scan_", int first = 0, int count = 4, int step = 1,
                   const std::string& ending = ".tif") {
    for (int k = 0; k < count; ++k)
      add(start + number(first + k * step) + ending, static_cast<std::size_t>(k));
  }
  void add(const std::string& name, std::size_t content) const {
    if (name.ends_with(".edf"))
      write_edf(folder_ / name, {frames(content, 1)});
    else
      write_tiff_pages(folder_ / name, {frames(content, 1)});
  }
  static std::string number(int k) {
    const std::string digits = std::to_string(k);
    return std::string(4 - std::min<std::size_t>(4, digits.size()), '0') + digits;
  }
  void text(const std::string& name, const std::vector<std::string>& lines) const {
    write_lines(folder_ / name, lines);
  }
  fs::path operator/(const std::string& name) const { return folder_ / name; }
  const fs::path& path() const { return folder_.path(); }
  std::unique_ptr<io::ScanReader> open(const std::string& name = "",
                                       const io::OpenOptions& options = {}) const {
    return io::open_scan(name.empty() ? path() : folder_ / name, options);
  }
  std::string notes(const std::string& name = "") const {
    std::string all;
    const auto reader = open(name);
    for (const std::string& note : reader->info().notes) all += note + "\n";
    return all;
  }
  template <class Fault = FileError>
  std::string refused(const std::string& name = "") const {
    return refusal<Fault>([&] { io::open_scan(name.empty() ? path() : folder_ / name); });
  }

 private:
  TemporaryFolder folder_;
};

inline void expect_degrees(const io::ScanInfo& info, const std::vector<double>& expected) {
  const std::vector<double>& angles = angles_of(info.scan);
  ASSERT_EQ(angles.size(), expected.size());
  for (std::size_t k = 0; k < angles.size(); ++k) EXPECT_NEAR(angles[k] / degree, expected[k], 1e-9) << k;
}

inline const std::vector<std::string> flexray{"SDD : 528.0", "SOD : 423.5", "HC : 2.5", "VC : 1.25",
                                              "Binned pixel size : 0.0748"};
inline const std::vector<std::string> xre{"[CT-parameters IN]",     "number projections = \"9\"",
                                          "Start angle = \"10.0\"", "Last angle = \"370.0\"",
                                          "COR = \"1.75\"",         "Direction = \"1.000000\""};
inline const std::vector<std::string> nikon{"[XTekCT]",           "Name=cup",
                                            "InputSeparator=_",   "InputFolderName=",
                                            "SrcToObject=120",    "SrcToDetector=600",
                                            "DetectorPixelsX=5",  "DetectorPixelSizeX=0.2",
                                            "DetectorPixelsY=3",  "DetectorPixelSizeY=0.4",
                                            "ObjectOffsetX=0.01", "WhiteLevel=60000.5",
                                            "Projections=4",      "InitialAngle=30",
                                            "AngularStep=90"};
inline const std::vector<std::string> skyscan{"[System]",
                                              "Scanner=SkyScan1275",
                                              "[Acquisition]",
                                              "Filename Prefix=bone_",
                                              "Number Of Files=  4",
                                              "Number Of Rows=  3",
                                              "Number Of Columns=   5",
                                              "Optical Axis (line)=  0",
                                              "Object to Source (mm)=50.0",
                                              "Camera to Source (mm)=200.0",
                                              "Image Pixel Size (um)=10",
                                              "Reference Intensity=58000",
                                              "Rotation Step (deg)=0.600",
                                              "Flat Field Correction=ON",
                                              "Rotation Direction=CC"};
inline const std::vector<std::string> esrf{"Energy= 19.5", "Distance= 50",  "Prefix= bone_", "ScanRange= 180",
                                           "TOMO_N= 4",    "REF_ON= 4",     "DARK_N= 10",    "Dim_1= 5",
                                           "Dim_2= 3",     "PixelSize= 7.5"};

/// The lines with another one in the place of those that begin so.
inline std::vector<std::string> with(std::vector<std::string> lines, const std::string& start,
                                     const std::string& line) {
  for (std::string& each : lines)
    if (each.starts_with(start)) each = line;
  return lines;
}

inline std::vector<std::string> and_line(std::vector<std::string> lines, const std::string& line) {
  lines.push_back(line);
  return lines;
}

}  // namespace tandem::test
