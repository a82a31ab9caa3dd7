#include "look_options.hpp"

#include <algorithm>

#include "../../core/names.hpp"
#include "../../core/spelled.hpp"
#include "../../counts/steps/step.hpp"
#include "../../io/files/shell_word.hpp"
#include "../../options/steps.hpp"
#include "../../options/texts.hpp"
#include "../../pipeline/methods/method.hpp"
#include "../options/command_line.hpp"

namespace tandem::apps {

namespace {

using nlohmann::json;

/// Options beside those that decide a voxel that a look takes over.
constexpr std::array taken_over{"threads", "memory", "device", "allow-external-files", "device-memory"};

/// The values of an option: none of a flag that is not set.
std::vector<std::string> values_of(const std::string& name, const json& value) {
  const auto refuse = [&name] {
    throw UsageError("option " + name + ": a text, a number, true or a list of these is needed");
  };
  const auto text = [&](const json& one) {
    if (one.is_string()) return one.get<std::string>();
    if (!one.is_number() && !one.is_boolean()) refuse();
    return one.dump();
  };
  std::vector<std::string> values;
  if (!value.is_array()) return {text(value)};
  for (const json& one : value) values.push_back(text(one));
  if (values.empty()) refuse();
  return values;
}

/// Options as they are typed behind a command.
std::string typed(const GivenOptions& options) {
  std::string text;
  for (const auto& [name, values] : options)
    for (const std::string& value : values)
      text += " --" + name + (value == "true" ? "" : ' ' + io::shell_word(value));
  return text;
}

/// The step that brings an option; empty if none does.
std::string step_of(const std::string& name) {
  for (const pipeline::Step& step : pipeline::steps())
    for (const pipeline::StepOption& one : step.options)
      if (one.name == name) return std::string(step.name);
  return "";
}

/// The options behind the value of an option, as the command line has them: ":size=21,snr=3".
std::string words_behind(const std::string& name, const json& asked) {
  std::string text;
  for (const auto& [other, value] : asked.items()) {
    const pipeline::StepOption* before = option_before(other);
    if (!before || before->bare_name() != name || value.is_null() || value == "") continue;
    text +=
        (text.empty() ? ":" : ",") + other.substr(other.find(':') + 1) + '=' + values_of(other, value).back();
  }
  return text;
}

/// Choices of an option: those of a step from its table, others between bars in its type.
json choices_of(const std::string& type, const pipeline::StepOption* of_step) {
  if (const auto* choice = of_step ? std::get_if<pipeline::OneOf>(&of_step->takes) : nullptr)
    return choice->words;
  if (type.find('|') != std::string::npos && in_lower_case(type) == type) return parts_of(type, '|');
  return nullptr;
}

/// Whether a kind of value is a number, perhaps with a word in its place or with details.
bool is_one_number(const std::string& kind) {
  const std::string first = kind.substr(0, kind.find_first_of("|["));
  return first == "X" || first == "N" || first == "DEG";
}

/// The row of an option that stands behind the value of another. Ways to remove stripes show their own alone.
json row_behind(const pipeline::StepOption& before, const pipeline::StepOption& one, const Option& option) {
  const bool of_any = one.goes_with() == before.bare_name();
  const std::string value(of_any ? "VALUE" : one.goes_with()), type = type_name_of(one);
  std::string words(one.title.empty() ? one.bare_name() : one.title);
  std::ranges::replace(words, '-', ' ');
  return {{"name", one.name},
          {"title", (of_any ? option.in_words() : value) + ": " + words},
          {"typed", option.spelled() + ' ' + value + ':' + std::string(one.bare_name()) + '=' + type},
          {"unit", one.unit()},
          {"swept", is_one_number(type)},
          {"group", option.group},
          {"step", step_of(std::string(before.bare_name()))},
          {"stripes", of_any ? "" : one.goes_with()},
          {"help", with_spelled(one.help)},
          {"type", type},
          {"choices", choices_of(type, &one)},
          {"default", ""}};
}

/// What a page knows of an option.
json row_of_option(const Option& option) {
  const pipeline::StepOption* of_step = step_option(option.name);
  return {{"name", option.name},
          {"title", option.in_words()},
          {"typed", option.spelled() + kind_behind(option)},
          {"unit", option.unit},
          {"swept", is_one_number(option.kind)},
          {"group", option.group},
          {"step", step_of(option.name)},
          {"stripes", ""},
          {"help", words_of(option)},
          {"type", option.is_flag() ? "flag" : option.kind},
          {"choices", choices_of(of_step ? type_name_of(*of_step) : option.kind, of_step)},
          {"default", option.usual}};
}

/// Whether a value says that it is to be found, which is done once, at the start.
bool is_found(const std::string& name, const Values& values) {
  return (name == "rotation-axis" || name == "beam-hardening") && values.size() == 1 &&
         in_lower_case(values[0]) == "auto";
}

}  // namespace

std::vector<std::string> numbers_of_volume() {
  const GivenRecon recon;
  std::vector<std::string> names;
  for (const Option& row : recon.table.rows()) {
    if (row.on != On::result || row.is_argument) continue;
    if (is_one_number(row.kind)) names.push_back(row.name);
    if (const pipeline::StepOption* of_step = step_option(row.name))
      for (const pipeline::StepOption& one : of_step->behind)
        if (is_one_number(type_name_of(one))) names.emplace_back(one.name);
  }
  return names;
}

bool look_takes(const Option& option) {
  if (option.name == "stitch") return false;  // since a page is about one scan
  for (const char* one : {"config", "like", "quiet", "follow", "port"})
    if (option.name == one) return true;
  return option.on == On::result || std::ranges::find(taken_over, option.name) != taken_over.end();
}

LookOptions::LookOptions(const ReconOptions& o)
    : quiet_(o.common.quiet), scan_(o.scan.path.empty() ? o.scans.front() : o.scan.path), scans_(o.scans) {
  if (scans_.empty()) scans_.push_back(scan_);
  for (const Option& row : o.command->rows()) {
    if (row.is_argument) continue;
    if (row.group == "Scan" || row.name == "views") opening_.push_back(row.name);
    if (!row.is_given() || is_found(row.name, row.given)) continue;
    const pipeline::StepOption* of_step = step_option(row.name);
    if (std::ranges::find(taken_over, row.name) != taken_over.end()) {
      rest_.emplace_back(row.name, row.given);
    } else if (of_step && !of_step->behind.empty()) {
      for (const auto& [one, text] : taken_apart(*of_step, row.given.back())) start_[one] = text;
    } else if (row.on == On::result) {
      start_[row.name] = row.is_flag()           ? json(true)
                         : row.given.size() == 1 ? json(row.given[0])
                                                 : json(row.given);
    }
  }
  if (o.recipe.follow) following_ = {o.planned_views, o.patience};
  if (o.scan.how.time) start_["time"] = std::to_string(*o.scan.how.time);
}

/// Whether a page may give it: it names no file but one that the start names as well.
bool LookOptions::may_give(const std::string& name, const Values& values) const {
  const Option* row = known_->table.find("--" + name);
  const bool decides =
      row ? row->on == On::result && look_takes(*row) && !row->is_argument : option_before(name) != nullptr;
  if (!decides || is_found(name, values)) return false;
  const bool names_a_file = row ? row->names_a_file(values) : names_file_of_step(name, values);
  return !names_a_file || (start_.contains(name) && values_of(name, start_[name]) == values);
}

GivenOptions LookOptions::given_by(const json& asked) const {
  if (!asked.is_object()) throw UsageError("options: an object {NAME: VALUE} is needed");
  GivenOptions all;
  for (const auto& [name, value] : asked.items()) {
    if (value.is_null() || value == false || value == "") continue;
    Values values = values_of(name, value);
    if (!may_give(name, values))
      throw UsageError("option " + name + " is not taken from a page; give it to tandem look, or to recon");
    const pipeline::StepOption* before = option_before(name);
    if (before && asked.value(before->bare_name(), json("")) == "")
      throw UsageError("option " + name + " goes with " + std::string(before->bare_name()));
    if (before) continue;  // its value stands behind that one's
    for (std::string& one : values) one += words_behind(name, asked);
    if (const Option& row = *known_->table.find("--" + name); row.is_flag() && value != true)
      throw UsageError("option " + name + ": true or false is needed");
    all.emplace_back(name, std::move(values));
  }
  return all;
}

void LookOptions::give(Table& recon, const json& asked, const GivenOptions& more,
                       const std::string& scan) const {
  recon.take(recon.at("scan"), {scan.empty() ? scan_ : scan});
  for (const auto& some : {given_by(asked), rest_, more})
    for (const auto& [name, values] : some) recon.take(recon.at("--" + name), values);
  recon.complete();
}

std::unique_ptr<GivenRecon> LookOptions::parsed(const json& asked, const GivenOptions& more) const {
  auto made = std::make_unique<GivenRecon>();
  give(made->table, asked, more);
  ReconOptions& o = made->options;
  o.scans = scans_;
  o.take_scan(scan_);
  o.common.quiet = quiet_;
  if (following_) o.planned_views = following_->planned_views, o.patience = following_->patience;
  finish_recipe(o);
  check_together(o);
  choose_devices(o);
  return made;
}

std::string LookOptions::command_line(const json& asked, const std::string& output) const {
  return "tandem recon " + io::shell_word(scan_) + " -o " + io::shell_word(output) + typed(given_by(asked)) +
         typed(rest_);
}

json LookOptions::of_frames(const json& asked) const {
  Table command("calibrate", "");
  ScanOptions unused;
  add_scan_options(command, unused);
  add_selection(command, unused);
  given_by(asked);  // refuses what no page may give
  json some = json::object();
  for (const auto& [name, value] : asked.items()) {
    const pipeline::StepOption* before = option_before(name);
    const std::string own(before ? before->bare_name() : std::string_view(name));
    if (command.find("--" + own)) some[name] = value;
  }
  return some;
}

json LookOptions::calibration_commands(const json& frames, bool each_view, const json& asked) const {
  json rest = asked;
  for (const char* told :
       {"geometry", "angles", "angles-unit", "arc", "sod", "sdd", "midplane-row", "curved-detector",
        "rotation-direction", "rotation-axis", "row-axes", "detector-roll", "axis-tilt"})
    rest.erase(told);
  const std::string scan = io::shell_word(scan_);
  return {"tandem calibrate " + scan + typed(given_by(frames)) + (each_view ? " --each-view" : "") +
              " -o views.npy",
          "tandem look " + scan + " --geometry views.npy" + typed(given_by(rest))};
}

std::string LookOptions::opening(const json& asked) const {
  json some = json::object();
  for (const std::string& name : opening_)
    if (asked.contains(name)) some[name] = asked[name];
  return text_of(some);
}

json LookOptions::by_solver(const json& options, const json& solver) const {
  if (solver.is_null()) return options;
  json all = solver;
  const auto its_own = parsed(solver);
  if (!options.is_object()) throw UsageError("options: an object {NAME: VALUE} is needed");
  for (const auto& [name, value] : options.items())
    if (!all.contains(name) && applies(its_own->options, "--" + name)) all[name] = value;
  return all;
}

json LookOptions::solvers() const {
  json methods = json::array(), rows = json::array();
  std::vector<std::string> named{"iterations", "initial", "stop"};
  const std::vector<std::string> of_all = named;
  for (const pipeline::Method& method : pipeline::methods()) {
    if (!method.iterates()) {
      methods.push_back({{"name", method.name},
                         {"help", with_spelled(method.help) + "; all slices, of wider voxels"},
                         {"options", json::array()}});
      continue;
    }
    json names = of_all;
    for (const std::string_view option : method.kind.options) {
      const std::string name(option);
      names.push_back(name);
      if (std::ranges::find(named, name) == named.end()) named.push_back(name);
    }
    methods.push_back({{"name", method.name},
                       {"help", with_spelled(method.help)},
                       {"options", names},
                       {"iterations", method.kind.iterations},
                       {"initial", method.initial == pipeline::Initial::fbp ? "fbp" : "zero"}});
  }
  for (const std::string& name : named) {
    rows.push_back(row_of_option(*known_->table.find("--" + name)));
    if (name == "initial") rows.back()["choices"] = {"zero", "fbp"};
  }
  return {{"methods", methods}, {"options", rows}};
}

json LookOptions::schema() const {
  json all = json::array();
  for (const Option& row : known_->table.rows()) {
    const std::string& name = row.name;
    const bool useless = name == "reconstruction-algorithm" || !applies(known_->options, "--" + name);
    if (!start_.contains(name) && (useless || !may_give(name, {}))) continue;
    all.push_back(row_of_option(row));
    if (const pipeline::StepOption* of_step = step_option(name))
      for (const pipeline::StepOption& one : of_step->behind) all.push_back(row_behind(*of_step, one, row));
  }
  return all;
}

}  // namespace tandem::apps
