#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "../../io/volumes/volume_file.hpp"
#include "../command.hpp"
#include "files.hpp"

namespace tandem::apps {

/// All that must be the same for `--resume` to give the bits of one run: the version, the inputs with name,
/// size and time of all their files, the options that matter, and the plan. `config`: the options, see
/// `config_text`.
io::Identity identity_of(const Common& common, const NamedFiles& inputs, const std::string& config,
                         const nlohmann::json& planned);

/// The common text of all parts of a volume, see `io::VolumeFormat::made_by`: the inputs, without their time
/// and place, and the options as they were given. `config`: these options, without the one that says which
/// part is made.
std::string made_by(const Common& common, const NamedFiles& inputs, const std::string& config);

/// Slices in words: "3 slices (0:2, 7:8)".
std::string words_of(const std::vector<Range>& slices);

}  // namespace tandem::apps
