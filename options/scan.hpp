#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "../counts/steps/options.hpp"
#include "../io/scans/given_scan.hpp"
#include "../io/scans/scan_reader.hpp"
#include "values.hpp"

namespace tandem::options {

/// How a scan is opened, and which part of it is used.
struct ScanOptions {
  std::string path;                              ///< "-": `given`, if it is there
  std::shared_ptr<const io::GivenScan> given{};  ///< scan of a program that runs the command itself; or null
  bool all_times = false;                        ///< whether each scan of a file is asked for
  std::vector<std::string> beside{};             ///< scans that are joined to it
  std::string stitch{};                          ///< how they are joined: "z", "x=MM,MM"; empty: none is
  std::string like;                              ///< volume whose recipe gives options
  io::OpenOptions how;
  pipeline::StepValues steps;
  AxisPart detector_rows, columns, views;
};

constexpr const char* what_a_scan_is =
    "file of HDF5, MATLAB, Zeiss, TIFF, EDF, MRC or NumPy, FILE:/NAME for a data set in it, folder of "
    "images, or "
    "settings beside images";

/// The kind of beam with this name, in upper or lower case; "fan" is a cone beam of one row. Empty for
/// another word.
std::string_view kind_called(const std::string& word);

void add_scan(Table& table, ScanOptions& options);  ///< adds the scan, for commands that take one
void add_scan_options(Table& table, ScanOptions& options);
void add_selection(Table& table, ScanOptions& options);  ///< --detector-rows, --columns, --views
void add_angles(Table& table, io::OpenOptions& how);     ///< --angles and --angles-unit
Option& add_raw(Table& table, io::OpenOptions& how);     ///< --raw
/// Adds --allow-external-files, an option of every command that reads HDF5.
void add_external_files(Table& table, bool& allowed);

}  // namespace tandem::options
