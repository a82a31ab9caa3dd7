#include "step_options.hpp"

#include <sstream>

#include "../../core/names.hpp"
#include "../../counts/steps/step.hpp"

namespace tandem::apps {

namespace {

using pipeline::StepOption;
using pipeline::StepValues;

/// An option whose text, accepted by `check`, becomes a value by `parsed`.
template <class Parse>
CLI::Option* add_option(CLI::App& c, const StepOption& option, StepValues& values, const Parse& parsed) {
  const std::string name(option.name);
  const auto keep = [&values, name, parsed](const std::string& text) {
    values.insert_or_assign(name, parsed(text));
  };
  return c.add_option_function<std::string>(name, keep, std::string(option.help));
}

void add_option(CLI::App& c, const StepOption& option, pipeline::TrueOrFalse, StepValues& values) {
  add_option(c, option, values, [](const std::string& text) { return text == "true"; })
      ->transform(one_of({"true", "false"}))
      ->type_name("true|false");
}

/// The ranges in a text with one or two of them.
std::vector<Range> ranges_in(const std::string& text) {
  const std::size_t comma = text.find(',');
  std::vector<Range> ranges{parse_range(text.substr(0, comma))};
  if (comma != std::string::npos) ranges.push_back(parse_range(text.substr(comma + 1)));
  return ranges;
}

void add_option(CLI::App& c, const StepOption& option, pipeline::Columns, StepValues& values) {
  add_option(c, option, values, ranges_in)->type_name("A:B[,C:D]");
}

void add_option(CLI::App& c, const StepOption& option, pipeline::FileName, StepValues& values) {
  add_option(c, option, values, [](const std::string& text) { return text; })->type_name("FILE");
}

void add_option(CLI::App& c, const StepOption& option, pipeline::PositiveNumber limit, StepValues& values) {
  add_option(c, option, values, [](const std::string& text) { return number_in(text).value(); })
      ->check(positive(limit.highest))
      ->type_name("X");
}

void add_option(CLI::App& c, const StepOption& option, pipeline::WholeNumber limits, StepValues& values) {
  add_option(c, option, values, [](const std::string& text) { return whole_in(text).value(); })
      ->check(count(limits.lowest, limits.highest))
      ->type_name("N");
}

void add_option(CLI::App& c, const StepOption& option, pipeline::Number limits, StepValues& values) {
  add_option(c, option, values, [](const std::string& text) { return number_in(text).value(); })
      ->check(within(limits.lowest, limits.highest))
      ->type_name("X");
}

/// The numbers in a text X,X,...; empty if the text is something else.
std::vector<double> numbers_in(const std::string& text) {
  std::vector<double> numbers;
  std::stringstream parts(text + ",");
  for (std::string part; std::getline(parts, part, ',');) {
    const std::optional<double> number = number_in(part);
    if (!number) return {};
    numbers.push_back(*number);
  }
  return numbers;
}

void add_option(CLI::App& c, const StepOption& option, pipeline::Numbers, StepValues& values) {
  add_option(c, option, values, numbers_in)
      ->check([](const std::string& text) {
        return numbers_in(text).empty() ? "'" + text + "' is not numbers, X,X,..." : std::string();
      })
      ->type_name("X,X,...");
}

/// Adds an option with a choice of words. If there are many, they stand in the help text, where they are
/// wrapped.
void add_option(CLI::App& c, const StepOption& option, const pipeline::OneOf& choice, StepValues& values) {
  constexpr std::size_t many = 6;
  CLI::Option* added = add_option(c, option, values, [](const std::string& text) { return text; });
  added->transform(one_of(choice.words));
  added->type_name(choice.words.size() < many ? joined(choice.words, "|") : "NAME");
  if (choice.words.size() >= many)
    added->description(std::string(option.help) + ": " + joined(choice.words, ", "));
}

void add_option(CLI::App& c, const StepOption& option, const pipeline::ShortFor& full, StepValues& values) {
  const auto give = [&values, full] {
    values.insert_or_assign(std::string(full.option), std::string(full.word));
  };
  c.add_flag_callback(std::string(option.name), give, std::string(option.help))
      ->excludes(c.get_option(std::string(full.option)));
}

}  // namespace

void add_step_options(CLI::App& c, StepValues& values) {
  for (const pipeline::Step& step : pipeline::steps())
    for (const StepOption& option : step.options)
      std::visit([&](const auto& takes) { add_option(c, option, takes, values); }, option.takes);
}

NamedFiles files_of(const StepValues& values) {
  NamedFiles files;
  for (const pipeline::Step& step : pipeline::steps())
    for (const StepOption& option : step.options)
      if (std::holds_alternative<pipeline::FileName>(option.takes))
        if (const auto file = pipeline::value_of<std::string>(values, option.name))
          files.push_back({std::string(option.name), *file});
  return files;
}

void require_together(const StepValues& values) {
  for (const pipeline::Step& step : pipeline::steps())
    if (const std::string fault = step.conflict ? step.conflict(values) : ""; !fault.empty())
      throw UsageError(fault);
}

std::string words_of_steps() {
  std::string text = "Steps from counts to line integrals, in this order:";
  for (const pipeline::Step& step : pipeline::steps())
    text += "\n  " + std::string(step.name) + ": " + std::string(step.help);
  return text;
}

}  // namespace tandem::apps
