#pragma once

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "../../pipeline/plan/plan.hpp"
#include "../../pipeline/watch/outcome.hpp"
#include "forecast.hpp"

namespace tandem::apps {

/// What `recon` is going to do, for its report and for people.
nlohmann::json plan_json(const pipeline::Plan& plan, const io::ScanInfo& info);
void print_plan(std::ostream& to, const pipeline::Plan& plan, const io::ScanInfo& info);

/// The report of a reconstruction: what was planned, and what was done.
nlohmann::json report_of(const nlohmann::json& planned, const pipeline::Plan& plan,
                         const pipeline::Outcome& out);

/// Prints the outcome for people, on standard output. `seconds`: from the first file of the run to its last.
void print_outcome(const pipeline::Plan& plan, const io::ScanInfo& info, const pipeline::Outcome& out,
                   const RunForecast& ahead, double seconds);

/// How voxels are stored: their type, and for integers the range of attenuation that they stand for, whether
/// it was found, and how many voxels were outside.
nlohmann::json numbers_json(const io::VolumeFormat& format, const pipeline::Outcome& out,
                            const io::Clipped& clipped);
/// A warning if more than a hundredth of all voxels were outside; else empty.
std::string warning_of_clipped(const nlohmann::json& numbers, const pipeline::Plan& plan);
/// Prints for people what was written: type, range, and names of files.
void print_written(const pipeline::Plan& plan, const std::string& output, const nlohmann::json& numbers);

}  // namespace tandem::apps
