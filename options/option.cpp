#include "option.hpp"

#include <algorithm>
#include <sstream>

#include "../core/similar.hpp"
#include "renamed.hpp"
#include "values.hpp"

namespace tandem::options {

namespace {

std::string not_empty(std::string& text) {
  return text.empty() ? "the value is empty; leave the option out, or give a value" : "";
}

/// A check that makes the text of a whole number plain, so that 010 is ten.
template <class Number>
std::string make_plain(std::string& text, const char* what) {
  if (text.empty()) return {};  // another check says it
  const auto value = number_of<Number>(text);
  if (!value) return "'" + text + "' is no " + what;
  text = std::to_string(*value);
  return {};
}

std::string_view bare(std::string_view name) {
  return name.starts_with("--") ? name.substr(2) : name.starts_with('-') ? name.substr(1) : name;
}

}  // namespace

Option& Option::check(Check one) { return checks.push_back(std::move(one)), *this; }
Option& Option::of_kind(std::string words) { return kind = std::move(words), *this; }
Option& Option::in(std::string its_unit) { return unit = std::move(its_unit), *this; }
Option& Option::briefly(std::string words) { return brief = std::move(words), *this; }
Option& Option::called(std::string its_title) { return title = std::move(its_title), *this; }
Option& Option::required() { return is_required = true, *this; }
Option& Option::without(const std::string& other) { return excludes.emplace_back(bare(other)), *this; }
Option& Option::only_with(const std::string& other) { return needs.emplace_back(bare(other)), *this; }
Option& Option::of_the_method() { return recorded_with = "reconstruction-algorithm", *this; }
Option& Option::default_text(std::string text) { return usual = std::move(text), *this; }

std::string Option::in_words() const {
  std::string words = title.empty() ? name : title;
  if (title.empty()) std::ranges::replace(words, '-', ' ');
  return words;
}

bool Option::names_a_file(const Values& values) const {
  if (names_file) return names_file(values);
  Values words = parts_of(kind, '|');
  const bool takes_files = std::erase_if(words, [](const auto& one) { return one.starts_with("FILE"); }) > 0;
  return takes_files && (words.empty() || !std::ranges::all_of(values, [&](const std::string& value) {
                           return std::ranges::find(words, in_lower_case(value)) != words.end();
                         }));
}

std::string default_of(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}
std::string default_of(Index value) { return std::to_string(value); }

Option& Table::add_row(std::string_view names, On on, std::string help) {
  Option row;
  const std::size_t comma = names.find(',');
  if (comma != std::string_view::npos) row.letter = names[1];
  const std::string_view name = comma == std::string_view::npos ? names : names.substr(comma + 1);
  row.is_argument = !name.starts_with('-');
  row.name = bare(name);
  row.group = group_;
  row.help = std::move(help);
  row.on = on;
  row.kind = row.is_argument ? "" : "NAME";
  return rows_.emplace_back(std::move(row));
}

Option& Table::add_parsed(std::string_view names, On on, std::function<void(const std::string&)> set,
                          std::string help) {
  Option& row = add_row(names, on, std::move(help));
  row.check(not_empty);
  row.set = [set = std::move(set)](const Values& values) { set(values.back()); };
  return row;
}

Option& Table::add_flag_with_details(std::string_view names, On on,
                                     std::function<void(const std::string&)> set, std::string details,
                                     std::string help) {
  Option& row = add_row(names, on, std::move(help));
  row.takes = Takes::details;
  row.kind = std::move(details);
  row.set = [set = std::move(set)](const Values& values) {
    set(values.back() == "true" ? "" : values.back());
  };
  return row;
}

void Table::bind(Option& row, bool& member) {
  row.takes = Takes::nothing;
  row.kind.clear();
  row.set = [&member](const Values&) { member = true; };
}
void Table::bind(Option& row, std::string& member) {
  row.check(not_empty);
  row.set = [&member](const Values& values) { member = values.back(); };
}
void Table::bind(Option& row, std::filesystem::path& member) {
  row.check(not_empty);
  row.set = [&member](const Values& values) { member = values.back(); };
}
void Table::bind(Option& row, std::vector<std::string>& member) {
  row.check(not_empty);
  row.takes = row.is_argument ? Takes::many : Takes::each;
  row.set = [&member](const Values& values) { member = values; };
}
void Table::bind(Option& row, std::vector<std::filesystem::path>& member) {
  row.check(not_empty);
  row.takes = Takes::each;
  row.set = [&member](const Values& values) { member.assign(values.begin(), values.end()); };
}

void Table::as_number(Option& row) {
  row.kind = "X";
  row.check(not_empty).check(
      [](std::string& text) { return number_in(text) ? std::string() : "'" + text + "' is no number"; });
}
void Table::as_whole(Option& row) {
  row.kind = "N";
  row.check(not_empty).check([](std::string& text) { return make_plain<Index>(text, "whole number"); });
}
void Table::as_natural(Option& row) {
  row.kind = "N";
  row.check(not_empty).check(
      [](std::string& text) { return make_plain<std::uint64_t>(text, "whole number from 0"); });
}
double Table::number(const Values& values) { return number_in(values.back()).value(); }
Index Table::whole(const Values& values) { return whole_in(values.back()).value(); }
std::uint64_t Table::natural(const Values& values) { return number_of<std::uint64_t>(values.back()).value(); }

void Table::common(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) at(name).is_common = true;
}

const Option* Table::find(std::string_view name) const {
  const bool is_letter = name.size() == 2 && name[0] == '-' && name[1] != '-';
  const auto found = std::ranges::find_if(
      rows_, [&](const Option& row) { return is_letter ? row.letter == name[1] : row.name == bare(name); });
  return found == rows_.end() ? nullptr : &*found;
}
Option* Table::find(std::string_view name) { return const_cast<Option*>(std::as_const(*this).find(name)); }
Option& Table::at(std::string_view name) { return *find(name); }
bool Table::given(std::string_view name) const {
  const Option* row = find(name);
  return row && row->is_given();
}

const Option* Table::settled_by(const Option& row) const {
  const auto excludes = [](const Option& a, const Option& b) {
    return std::ranges::find(a.excludes, b.name) != a.excludes.end();
  };
  const auto found = std::ranges::find_if(rows_, [&](const Option& other) {
    return other.is_given() && (&other == &row || excludes(row, other) || excludes(other, row));
  });
  return found == rows_.end() ? nullptr : &*found;
}

namespace {

/// What to do about "10um".
std::string unit_after_number(const Option& row, const std::string& value) {
  const std::size_t end = value.find_first_not_of("+-.0123456789eE");
  if (row.unit.empty() || end == value.npos || !number_in(value.substr(0, end))) return {};
  return "; leave out the unit, which is " + row.unit;
}

}  // namespace

void Table::take(Option& row, Values values) {
  if (values.empty()) throw UsageError(row.spelled() + ": a value is missing");
  for (std::string& value : values)
    for (const Check& check : row.checks)
      if (const std::string fault = check(value); !fault.empty())
        throw UsageError(row.spelled() + ": " + fault + unit_after_number(row, value) +
                         successor_of_value(row.name, value));
  if (values.size() > 1 && row.takes != Takes::each && row.takes != Takes::many)
    throw UsageError(row.spelled() + " is given " + std::to_string(values.size()) + " times; give it once");
  row.set(values);
  row.given = std::move(values);
}

void Table::complete() {
  for (const Option& row : rows_) {
    if (row.is_required && !row.is_given()) throw UsageError(row.spelled() + " is required");
    if (!row.is_given()) continue;
    for (const std::string& other : row.excludes)
      if (given(other))
        throw UsageError(row.spelled() + " and " + at(other).spelled() + " do not go together");
    for (const std::string& other : row.needs)
      if (!given(other)) throw UsageError(row.spelled() + " requires " + at(other).spelled());
  }
  for (const auto& task : at_end_) task();
}

}  // namespace tandem::options
