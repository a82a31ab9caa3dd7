#pragma once

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "../pipeline/outcome.hpp"
#include "../pipeline/plan.hpp"
#include "forecast.hpp"

namespace tandem::apps {

/// What `recon` is going to do, for its report, and for people.
nlohmann::json plan_json(const pipeline::Plan& plan, const io::ScanInfo& info);
void print_plan(std::ostream& to, const pipeline::Plan& plan, const io::ScanInfo& info);

/// The report of a reconstruction: what was planned, and what became of it.
nlohmann::json report_of(const nlohmann::json& planned, const pipeline::Plan& plan,
                         const pipeline::Outcome& out);

/// The same for people, on standard output. `output`: the name of the volume
void print_outcome(const pipeline::Plan& plan, const io::ScanInfo& info, const pipeline::Outcome& out,
                   const std::string& output, const RunForecast& ahead);

}  // namespace tandem::apps
