#pragma once

#include <map>
#include <string>
#include <string_view>

namespace tandem::apps {

/// What the stages and the stations of a run do, in words for the user, by their names.
const std::map<std::string, std::string>& stage_words();

/// The words for a stage, also after the name of a method ("tv, iterate"); the name, if there are none.
std::string words_of_stage(std::string_view name);

}  // namespace tandem::apps
