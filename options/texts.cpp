#include "texts.hpp"

#include <algorithm>
#include <sstream>

namespace tandem::options {

namespace {

constexpr std::size_t shortest_clause = 24;  // shorter ones say too little: "cone: ...", "default true; ..."

/// Where clauses end, the last one first: before a semicolon; before a colon behind a clause without commas
/// (others end a list, as in "sirt, tv: ..."); before a parenthesis behind which nothing follows in its
/// clause; at the end of the text.
std::vector<std::size_t> ends_of_clauses(const std::string& text) {
  std::vector<std::size_t> ends;
  std::size_t first = 0, opened = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char sign = text[i], next = i + 1 < text.size() ? text[i + 1] : ' ';
    if (sign == '(' && depth++ == 0) opened = i;
    if (sign == ')' && depth > 0 && --depth == 0 && (i + 1 == text.size() || next == ';' || next == ':'))
      ends.push_back(opened);
    if (depth > 0 || next != ' ' || (sign != ';' && sign != ':')) continue;
    const bool is_long = i - first >= shortest_clause && text.find(',', first) > i;
    if (sign == ';' ? i >= shortest_clause : is_long) ends.push_back(i);
    first = i + 1;
  }
  ends.push_back(text.size());
  std::ranges::reverse(ends);
  return ends;
}

std::string one_text(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : " ") + line;
  return text;
}

}  // namespace

std::vector<Group> groups_of(const Table& table) {
  std::vector<Group> groups{{"Arguments", {}}};
  for (const Option& row : table.rows()) {
    if (row.is_hidden) continue;
    const std::string title = row.is_argument ? "Arguments" : row.group.empty() ? "Options" : row.group;
    auto group = std::ranges::find(groups, title, &Group::title);
    if (group == groups.end()) group = groups.insert(group, {title, {}});
    group->rows.push_back(&row);
  }
  std::erase_if(groups, [](const Group& group) { return group.rows.empty(); });
  return groups;
}

Footer footer_of(const Table& table) {
  Footer footer;
  std::istringstream text(table.footer);
  bool in_examples = false;
  for (std::string line; std::getline(text, line);) {
    if (line == "Examples:")
      in_examples = true;
    else if (in_examples = in_examples && line.starts_with("  "); in_examples)
      footer.examples.push_back(line.substr(2));
    else if (!line.empty() || !(footer.rest.empty() || footer.rest.ends_with("\n\n")))
      footer.rest += line + '\n';
  }
  if (footer.rest.ends_with("\n\n")) footer.rest.pop_back();
  return footer;
}

std::string in_lines(std::string example, std::size_t width) {
  const std::string indent(4, ' ');
  std::string lines;
  while (example.size() > width) {
    std::size_t end = example.rfind(" -", width - 2);
    if (end == std::string::npos || end < indent.size()) end = example.find(" -", indent.size());
    if (end == std::string::npos) break;
    lines += example.substr(0, end) + " \\\n";
    example = indent + example.substr(end + 1);
  }
  return lines + example;
}

std::string usage_of(const Table& table) {
  std::string text = "tandem " + table.command + " [options]";
  for (const Option& row : table.rows()) {
    if (!row.is_argument || row.is_hidden) continue;
    const std::string name = row.name + (row.takes == Takes::many ? "..." : "");
    text += row.is_required ? " " + name : " [" + name + "]";
  }
  return text;
}

std::string kind_behind(const Option& row) {
  if (row.is_flag()) return row.takes == Takes::details ? "[=" + row.kind + "]" : "";
  return (row.kind.empty() ? "" : " " + row.kind) + (row.takes == Takes::many ? " ..." : "");
}

std::string words_of(const Option& row) {
  std::string text = row.help;
  const auto words = wrapped(text, 0);  // one a line
  const bool has_unit = std::ranges::any_of(words, [&](const std::string& word) {
    return word.starts_with(row.unit) &&
           word.find_first_not_of(",;:.)", row.unit.size()) == std::string::npos;
  });
  if (!row.unit.empty() && !has_unit)
    text.insert(std::min(text.find(" (default"), text.size()), ", " + row.unit);
  const bool tells = !row.usual.empty() && row.usual != "0" && !row.is_flag() && !row.is_required;
  if (tells && text.find("default") == std::string::npos) text += " (default " + row.usual + ")";
  return text;
}

std::string summary_of(const Option& row, std::size_t lines) {
  if (!row.brief.empty()) return row.brief;
  const std::string text = one_text(wrapped(words_of(row), text_width));
  const std::vector<std::size_t> ends = ends_of_clauses(text);
  for (std::size_t most = 1; most <= lines; ++most)
    for (const std::size_t end : ends)
      if (const auto clauses = wrapped(text.substr(0, end), text_width); clauses.size() <= most)
        return one_text(clauses);
  auto first = wrapped(text, text_width - 4);
  first.resize(lines);
  std::string cut = one_text(first);
  if (const std::size_t comma = cut.rfind(','); comma != std::string::npos && comma > cut.size() / 2)
    cut.resize(comma);
  return cut + " ...";
}

std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!lines.empty() && lines.back().size() + 1 + word.size() <= width) {
      lines.back() += " " + word;
      continue;
    }
    while (width > 0 && word.size() > width) {
      const std::size_t end = word.find_last_of("|,", width - 1);
      if (end == std::string::npos) break;
      lines.push_back(word.substr(0, end + 1));
      word.erase(0, end + 1);
    }
    lines.push_back(word);
  }
  return lines;
}

}  // namespace tandem::options
