#include "steps.hpp"

#include <algorithm>
#include <sstream>

#include "../core/names.hpp"
#include "../core/spelled.hpp"
#include "../counts/steps/step.hpp"
#include "values.hpp"

namespace tandem::options {

namespace {

using pipeline::StepOption;
using pipeline::StepValue;
using pipeline::StepValues;

/// Whether the words of a choice would make the line of its option too long.
bool has_many_words(const pipeline::OneOf& choice) { return choice.words.size() >= 6; }

/// How an option takes its text.
struct Form {
  Check check;                                              ///< also puts words into lower case
  std::function<StepValue(const std::string& text)> value;  ///< what a checked text becomes
  std::string type_name;
};

/// The ranges in a text.
std::vector<Range> ranges_in(const std::string& text) {
  std::vector<Range> ranges;
  for (const std::string& part : parts_of(text, ',')) ranges.push_back(range_in(part).value());
  return ranges;
}

/// So many ranges or fewer.
Check are_ranges(std::size_t most) {
  return [most](std::string& text) {
    const std::vector<std::string> parts = parts_of(text, ',');
    if (parts.size() > most) return "'" + text + "' has more than " + std::to_string(most) + " ranges";
    const auto wrong = std::ranges::find_if(parts, [](const auto& part) { return !range_in(part); });
    return wrong == parts.end() ? "" : no_range(*wrong);
  };
}

/// The numbers in a text X,X,...; empty if the text is something else.
std::vector<double> numbers_in(const std::string& text) {
  std::vector<double> numbers;
  for (const std::string& part : parts_of(text, ',')) {
    const std::optional<double> number = number_in(part);
    if (!number) return {};
    numbers.push_back(*number);
  }
  return numbers;
}

/// Numbers, or one of the words, which has no numbers.
Check are_numbers_or(const std::vector<std::string>& words) {
  return [words](std::string& text) {
    if (!numbers_in(text).empty()) return std::string();
    const std::string typed = std::exchange(text, in_lower_case(text));
    return std::ranges::find(words, text) != words.end()
               ? ""
               : "'" + typed + "' is neither numbers, X,X,..., nor " + joined(words, " or ");
  };
}

StepValue as_text(const std::string& text) { return text; }
StepValue as_number(const std::string& text) { return number_in(text).value(); }
StepValue as_whole(const std::string& text) { return whole_in(text).value(); }

Form form_of(pipeline::TrueOrFalse) {
  return {one_of({"true", "false"}), [](const std::string& text) { return text == "true"; }, "true|false"};
}
Form form_of(pipeline::Columns limit) {
  return {are_ranges(limit.most), ranges_in, limit.most > 2 ? "A:B[,C:D,...]" : "A:B[,C:D]"};
}
Form form_of(pipeline::FileName) { return {anything(), as_text, "FILE"}; }
Form form_of(pipeline::PositiveNumber limit) { return {positive(limit.highest), as_number, "X"}; }
Form form_of(pipeline::Number limits) {
  return {within(limits.lowest, limits.highest, limits.unit), as_number, "X"};
}
Form form_of(pipeline::WholeNumber limits) { return {count(limits.lowest, limits.highest), as_whole, "N"}; }
Form form_of(const pipeline::NumbersOr& choice) {
  const auto value = [](const std::string& text) -> StepValue {
    const std::vector<double> numbers = numbers_in(text);
    return numbers.empty() ? StepValue(text) : StepValue(numbers);
  };
  return {are_numbers_or(choice.words), value, "X,X,...|" + joined(choice.words, "|")};
}
Form form_of(const pipeline::OneOf& choice) {
  return {one_of(choice.words), as_text, has_many_words(choice) ? "NAME" : joined(choice.words, "|")};
}
Form form_of(const StepOption& option) {
  return std::visit([](const auto& takes) { return form_of(takes); }, option.takes);
}

/// A value and the options behind it: "vo-large:size=21,snr=3".
struct ValueWithDetails {
  std::string value;
  std::vector<std::pair<std::string, std::string>> behind;

  explicit ValueWithDetails(const std::string& text) : value(text.substr(0, text.find(':'))) {
    if (value.size() == text.size()) return;
    behind = details_in(text.substr(value.size() + 1));
  }
  std::string text() const {
    return value + (behind.empty() ? "" : ":") +
           joined(behind, ",", [](const auto& one) { return one.first + "=" + one.second; });
  }
};

/// The options that may stand behind this value, which may be typed in any case.
std::vector<const StepOption*> options_behind(const StepOption& option, const std::string& value) {
  const std::string word = in_lower_case(value);
  std::vector<const StepOption*> all;
  for (const StepOption& one : option.behind)
    if (one.goes_with() == word || one.goes_with() == option.bare_name()) all.push_back(&one);
  return all;
}

const StepOption* option_behind(const StepOption& option, const std::string& value, const std::string& name) {
  for (const StepOption* one : options_behind(option, value))
    if (one->bare_name() == name) return one;
  return nullptr;
}

/// What is wrong with an option behind a value; empty if nothing is. Puts words of the text into lower case.
std::string fault_behind(const StepOption& option, const std::string& value, const std::string& name,
                         std::string& text) {
  if (const StepOption* one = option_behind(option, value, name)) {
    const std::string fault = form_of(*one).check(text);
    return fault.empty() ? "" : name + ": " + fault;
  }
  std::vector<std::string> known;
  for (const StepOption* one : options_behind(option, value)) known.emplace_back(one->bare_name());
  if (known.empty()) return value + " takes nothing behind a colon";
  return "'" + name + "' is not known" + did_you_mean(name, known) + "; " + value + " takes " +
         joined(known, ", ", [](const std::string& word) { return word + "="; });
}

/// The same for the whole text.
std::string fault_in(const StepOption& option, std::string& text) {
  ValueWithDetails whole(text);
  std::string fault = form_of(option).check(whole.value);
  std::vector<std::string> met;
  for (auto& [name, given] : whole.behind) {
    if (fault.empty()) fault = fault_behind(option, whole.value, name, given);
    if (fault.empty() && std::ranges::find(met, name) != met.end()) fault = name + " is given twice";
    met.push_back(name);
  }
  text = whole.text();
  return fault;
}

void keep(const StepOption& option, const std::string& text, StepValues& values) {
  const ValueWithDetails whole(option.behind.empty() ? std::string() : text);
  const std::string& value = option.behind.empty() ? text : whole.value;
  values.insert_or_assign(std::string(option.name), form_of(option).value(value));
  for (const auto& [name, given] : whole.behind) {
    const StepOption& one = *option_behind(option, value, name);
    values.insert_or_assign(std::string(one.name), form_of(one).value(given));
  }
}

}  // namespace

void add_step_option(Table& c, const StepOption& option, StepValues& values) {
  const Form form = form_of(option);
  const bool alone = option.behind.empty();
  Option& row = c.add_parsed(
      "--" + std::string(option.name), On::result,
      [&option, &values](const std::string& text) { keep(option, text, values); }, with_spelled(option.help));
  row.check(alone ? form.check : [&option](std::string& text) { return fault_in(option, text); })
      .of_kind(form.type_name + (alone ? "" : "[:NAME=VALUE,...]"));
  row.in(std::string(option.unit())).called(std::string(option.title));
  row.names_file = [name = row.name](const Values& given) { return names_file_of_step(name, given); };
  if (const auto* choice = std::get_if<pipeline::OneOf>(&option.takes); choice && has_many_words(*choice))
    row.help += ": " + joined(choice->words, ", ");
}

void add_step_options(Table& c, StepValues& values) {
  for (const pipeline::Step& step : pipeline::steps())
    for (const StepOption& option : step.options) add_step_option(c, option, values);
}

std::string type_name_of(const StepOption& option) { return form_of(option).type_name; }

const StepOption* step_option(std::string_view name) {
  for (const pipeline::Step& step : pipeline::steps())
    for (const StepOption& option : step.options)
      if (option.bare_name() == name) return &option;
  return nullptr;
}

bool step_needs_all_views(std::string_view option) {
  return std::ranges::any_of(pipeline::steps(), [&](const pipeline::Step& step) {
    return step.needs_all_views &&
           std::ranges::find(step.options, option, &StepOption::bare_name) != step.options.end();
  });
}

const StepOption* option_before(std::string_view name) {
  for (const pipeline::Step& step : pipeline::steps())
    for (const StepOption& option : step.options)
      if (std::ranges::find(option.behind, name, &StepOption::name) != option.behind.end()) return &option;
  return nullptr;
}

std::vector<std::pair<std::string, std::string>> taken_apart(const StepOption& option,
                                                             const std::string& text) {
  const ValueWithDetails whole(text);
  std::vector<std::pair<std::string, std::string>> all;
  all.emplace_back(option.bare_name(), whole.value);
  for (const auto& [name, value] : whole.behind)
    if (const StepOption* one = option_behind(option, whole.value, name)) all.emplace_back(one->name, value);
  return all;
}

std::vector<std::pair<std::string, std::string>> files_of(const StepValues& values) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const pipeline::Step& step : pipeline::steps())
    for (const StepOption& option : step.options)
      for (const StepOption& one : option.behind)
        if (std::holds_alternative<pipeline::FileName>(one.takes) && one.is_given(values))
          files.emplace_back("--" + std::string(option.name),
                             std::get<std::string>(values.find(one.name)->second));
  return files;
}

bool names_file_of_step(const std::string& name, const std::vector<std::string>& values) {
  const auto is_file = [](const StepOption& option, std::string_view of) {
    return std::ranges::any_of(option.behind, [&](const StepOption& one) {
      return one.name == of && std::holds_alternative<pipeline::FileName>(one.takes);
    });
  };
  if (const StepOption* before = option_before(name)) return is_file(*before, name);
  const StepOption* option = step_option(name);
  return option && std::ranges::any_of(values, [&](const std::string& text) {
           return std::ranges::any_of(taken_apart(*option, text),
                                      [&](const auto& part) { return is_file(*option, part.first); });
         });
}

bool ask_for_phases(const StepValues& values) {
  const auto found = values.find("retrieve-phase-method");
  return found != values.end() && std::get<std::string>(found->second) != "none";
}

void require_together(const StepValues& values) {
  for (const pipeline::Step& step : pipeline::steps())
    if (const std::string fault = step.conflict ? step.conflict(values) : ""; !fault.empty())
      throw UsageError(fault);
}

namespace {

/// A paragraph of the help, whose first line stands out.
std::string paragraph(const std::string& text) {
  constexpr std::size_t width = 98;
  std::string all = "\n ";
  std::istringstream words(text);
  std::size_t used = 1;
  for (std::string word; words >> word; used += word.size() + 1) {
    if (used + 1 + word.size() > width) all += "\n     ", used = 5;
    all += ' ' + word;
  }
  return all;
}

/// Options behind values: "vo-large:snr=X: how far a column must stand out (default 3)".
std::string words_of_options_behind() {
  std::string text;
  for (const pipeline::Step& step : pipeline::steps())
    for (const StepOption& option : step.options) {
      if (option.behind.empty()) continue;
      text += "\n\nBehind the value of --" + std::string(option.name) + ", after a colon:";
      for (const StepOption& one : option.behind) {
        const bool of_any = one.goes_with() == option.bare_name();
        text += paragraph((of_any ? "" : std::string(one.goes_with()) + ':') + std::string(one.bare_name()) +
                          '=' + form_of(one).type_name + ": " + with_spelled(one.help));
      }
    }
  return text;
}

}  // namespace

std::string words_of_steps() {
  std::string text = "Steps from counts to line integrals, in this order:";
  for (const pipeline::Step& step : pipeline::steps())
    text += "\n  " + std::string(step.name) + ": " + with_spelled(step.help);
  return text + words_of_options_behind();
}

}  // namespace tandem::options
