#pragma once

#include <string>
#include <vector>

#include "option.hpp"

namespace tandem::options {

// Parts of what is written from rows: help, manual and completions.

constexpr std::size_t text_column = 34, text_width = 66;

/// Rows under one heading.
struct Group {
  std::string title;
  std::vector<const Option*> rows;
};
/// The arguments, then the other groups in the order of their first rows; without hidden rows.
std::vector<Group> groups_of(const Table& table);

/// The footer of a command: the lines of its examples without their indent, and what stands around them.
struct Footer {
  std::vector<std::string> examples;
  std::string rest;
};
Footer footer_of(const Table& table);
/// An example in lines that a shell reads as one: a line ends before an option. Width: of all but long words.
std::string in_lines(std::string example, std::size_t width);

/// "tandem recon [options] scan..."
std::string usage_of(const Table& table);
/// The kind of a value as it stands behind a name: " FILE ...", "[=views=N]"; empty for a plain flag.
std::string kind_behind(const Option& row);

/// The help of a row, with its unit and default where the help does not say them. A default of 0 is not
/// added, since it often means that nothing is given.
std::string words_of(const Option& row);
/// The first clauses of these words that fit so many lines of a help. Words that have no such clauses end
/// with " ...".
std::string summary_of(const Option& row, std::size_t lines);

/// Lines of whole words. A longer word is divided after a bar or a comma, if it has one.
std::vector<std::string> wrapped(const std::string& text, std::size_t width);

}  // namespace tandem::options
