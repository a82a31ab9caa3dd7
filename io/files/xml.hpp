#pragma once

#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::io {

/// The tree of an XML text. It has no comments and no DOCTYPE, whose entities stay as they are written.
/// `where` names the file. @throws FileError if the text is no XML
pugi::xml_document xml_in(std::string_view text, const std::string& where);

/// The elements that have no elements in them, in the order of the text.
std::vector<pugi::xml_node> innermost_elements(pugi::xml_document& tree);

/// The text of an element without blanks at its ends. Its parts before and after a comment are joined.
std::string text_of(const pugi::xml_node& element);

}  // namespace tandem::io
