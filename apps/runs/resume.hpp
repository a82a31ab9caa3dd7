#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "../../io/volumes/volume_file.hpp"
#include "../command.hpp"
#include "../options/files.hpp"

namespace tandem::apps {

/// What must be the same if `--resume` is to give the bits of one run: the version, the inputs with name,
/// size and time of all their files, the options that matter, and what was planned from them. `config`: the
/// options, see `config_text`
io::Identity identity_of(const Common& common, const NamedFiles& inputs, const std::string& config,
                         const nlohmann::json& planned);

/// What all parts of a volume have in common, see `io::VolumeFormat::made_by`: the inputs, whenever and
/// wherever they were written, and the options as they were given. `config`: those, but for the part that is
/// made
std::string made_by(const Common& common, const NamedFiles& inputs, const std::string& config);

/// How many slices, and which, in words: "3 slices (0:2, 7:8)".
std::string words_of(const std::vector<Range>& slices);

}  // namespace tandem::apps
