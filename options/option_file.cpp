#include "option_file.hpp"

#include <algorithm>

#include "../core/error.hpp"
#include "../core/names.hpp"
#include "../io/files/text_file.hpp"
#include "recipe.hpp"
#include "renamed.hpp"
#include "toml.hpp"
#include "values.hpp"

namespace tandem::options {

namespace {

constexpr Index most_bytes = 1 << 22;  // the size of a file of options

std::optional<bool> flag_in(const Values& values) {
  const std::string word = values.size() == 1 ? in_lower_case(values.front()) : "";
  for (const char* yes : {"true", "yes", "on", "1"})
    if (word == yes) return true;
  for (const char* no : {"false", "no", "off", "0"})
    if (word == no) return false;
  return std::nullopt;
}

/// A source of options beside the command line.
class Source {
 public:
  /// `name` is for messages: "--config run.toml".
  Source(Table& table, const TableOf& table_of, std::string name, bool is_volume)
      : table_(table), table_of_(table_of), name_(std::move(name)), is_volume_(is_volume) {}

  void take(const std::string& text) {
    settings_ = settings_in(text, name_);
    std::vector<Setting> some = settings_;
    std::erase_if(some, [&](const Setting& one) { return !is_taken(one); });
    const auto place = [&](const Setting& one) {  // rows come before those that ask for them
      return std::ranges::find(table_.rows(), one.name, &Option::name) - table_.rows().begin();
    };
    std::ranges::stable_sort(some, {}, place);
    for (const Setting& one : some) take(one);
    if (left_out_.empty()) return;
    table_.notes.push_back("note: " + name_ + ": left out, as " +
                           (left_out_.size() == 1 ? "it does" : "they do") +
                           " not apply here, or not beside what is typed: " + joined(left_out_, ", "));
  }

 private:
  /// Whether a setting is taken if it applies; it is not if it says nothing, or if it is settled already.
  bool is_taken(const Setting& one) {
    const Option* row = table_.find("--" + one.name);
    if (one.name == recipe_version) return false;
    if (!row) return leave_out_or_refuse(one), false;
    if (row->is_flag() && flag_in(one.values) == false) return false;
    refuse_output(*row, one);
    if (table_.settled_by(*row)) return false;
    if (row->takes == Takes::nothing && !flag_in(one.values))
      refuse(line_of(one) + one.name + " is a flag; true or false is needed");
    if (one.values.empty()) return false;
    refuse_forbidden(*row, one);
    return true;
  }

  static Values values_of(const Option& row, const Setting& one) {
    if (!row.is_flag()) return one.values;
    return {flag_in(one.values) ? "true" : joined(one.values, ",")};
  }

  void take(const Setting& one) {
    Option& row = table_.at("--" + one.name);
    if (const Option* other = table_.settled_by(row)) {
      if (other == &row || std::ranges::find(taken_, other->name) == taken_.end()) return;
      refuse(line_of(one) + row.spelled() + " and " + other->spelled() + " do not go together");
    }
    const Values values = values_of(row, one);
    if ((table_.applies && !table_.applies(row)) || is_of_another(row) || breaks_what_is_given(row, values))
      return leave_out(row, one);
    row.from_file = true;
    try {
      table_.take(row, values);
    } catch (const UsageError& fault) {
      refuse(line_of(one) + fault.what());
    }
    taken_.push_back(row.name);
  }

  /// Whether the file records it with an option that has another value now: iterations of cgls, if tv is
  /// typed.
  bool is_of_another(const Option& row) const {
    const auto recorded = std::ranges::find(settings_, row.recorded_with, &Setting::name);
    return recorded != settings_.end() && table_.at("--" + row.recorded_with).given != recorded->values;
  }

  /// Whether what is given goes together without it, and no longer with it. It is tried on a table of its
  /// own.
  bool breaks_what_is_given(const Option& row, const Values& values) const {
    const auto goes_together = [&](bool with) {
      const std::shared_ptr<Table> trial = table_of_(table_.command);
      for (const Option& given : table_.rows())
        if (given.is_given()) trial->take(trial->at(given.name), given.given);
      try {
        if (with) trial->take(trial->at(row.name), values);
      } catch (const UsageError&) {
        return true;  // a wrong value is refused where it is taken
      }
      try {
        trial->complete();
      } catch (const UsageError&) {
        return false;
      }
      return !trial->applies || std::ranges::all_of(trial->rows(), [&](const Option& one) {
        return !one.is_given() || trial->applies(one);
      });
    };
    return goes_together(false) && !goes_together(true);
  }

  /// Recipes have defaults too, which nobody misses.
  void leave_out(const Option& row, const Setting& one) {
    const bool is_default =
        one.values == Values{row.usual} || (row.is_flag() && flag_in(one.values) == false);
    if (!is_default) left_out_.push_back("--" + one.name);
  }

  /// An unknown name is shown only as far as it resembles a known one, since the file may have been named by
  /// mistake.
  void leave_out_or_refuse(const Setting& one) {
    const auto recon = table_of_("recon");
    if (const Option* row = recon->find("--" + one.name)) return leave_out(*row, one);
    if (const std::string successor = successor_of_option(one.name); !successor.empty())
      refuse(line_of(one) + "option " + one.name + " is not known" + successor);
    std::vector<std::string> names;
    for (const Table* table : {&table_, recon.get()})
      for (const Option& row : table->rows()) names.push_back(row.name);
    const std::string similar = did_you_mean(one.name, names);
    refuse(line_of(one) + (similar.empty() ? "names no option of tandem " + table_.command
                                           : "option " + one.name + " is not known" + similar));
  }

  /// Anybody may have written a file, so it may decide what the volume becomes, and not what is written,
  /// replaced or served. A volume may not name files to be read either.
  void refuse_forbidden(const Option& row, const Setting& one) const {
    if (is_volume_ && (row.on != On::result || row.is_argument))
      refuse("its recipe has --" + row.name +
             ", which decides nothing of a volume; tandem wrote no such recipe");
    if (is_volume_ && row.names_a_file(one.values))
      refuse("was made with --" + row.name + " FILE, and no file is read because a volume names it; give --" +
             row.name + " too");
  }

  void refuse_output(const Option& row, const Setting& one) const {
    if (!is_volume_ && (row.on == On::files || row.is_argument || row.name == "config"))
      refuse(line_of(one) + row.spelled() +
             " is not taken from a file, which may be anybody's; give it on the command line");
  }

  static std::string line_of(const Setting& one) { return "line " + std::to_string(one.line) + ": "; }

  [[noreturn]] void refuse(const std::string& what) const {
    if (is_volume_) throw FileError(name_ + ": " + what);
    throw UsageError(name_ + ": " + what);
  }

  Table& table_;
  const TableOf& table_of_;
  std::string name_;
  bool is_volume_;
  std::vector<Setting> settings_;                ///< all of the file
  std::vector<std::string> taken_, left_out_{};  ///< names of options
};

}  // namespace

void take_files(Table& table, const TableOf& table_of) {
  if (table.given("--config")) {
    const std::string file = table.at("--config").given.back();
    Source(table, table_of, "--config " + file, false)
        .take(io::text_of_file(file, "a file of options", most_bytes));
  }
  const Option* like = table.find("--like");
  if (!like || !like->is_given() || table.command == "project") return;  // where it names a scan
  const std::string volume = like->given.back();
  try {
    Source(table, table_of, "--like " + volume, true).take(config_in(volume));
  } catch (const UsageError& fault) {  // the recipe is damaged, or no TOML
    throw FileError(fault.what());
  }
}

}  // namespace tandem::options
