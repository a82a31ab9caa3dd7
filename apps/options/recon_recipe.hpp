#pragma once

#include "../../pipeline/watch/value_range.hpp"
#include "recon_options.hpp"

namespace tandem::apps {

/// The options of a run, for --config and --like, with the method that was taken and with all that was found
/// or chosen for it: the axis, how a solver begins and ends, the range of integers.
std::string config_of(const ReconOptions& o, const pipeline::Job& job,
                      const std::optional<pipeline::ValueRange>& range = {});

/// Options that --physics and --limited-angle stand for, and that the scan could not have: recipes do not
/// record them.
std::map<std::string, std::string> left_out_of(const ReconOptions& o);

/// The coefficients of --beam-hardening, as one types them; empty if there are none.
std::string text_of_hardening(const pipeline::StepValues& steps);

}  // namespace tandem::apps
