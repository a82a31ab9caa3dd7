#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "../options/recon_options.hpp"

namespace tandem::apps {

/// The options of `recon`, with what is given of them.
struct GivenRecon {
  Table table{"recon", ""};
  ReconOptions options;

  GivenRecon() { add_recon_options(table, options); }
};

/// Options by their names, in an order, with their values.
using GivenOptions = std::vector<std::pair<std::string, Values>>;

/// The options of the volume that take one number, also behind a value of another: "vo-large:snr".
std::vector<std::string> numbers_of_volume();

/// Whether `tandem look` takes this option of `recon` on its command line.
bool look_takes(const Option& option);

/// What a page asks for: options of `recon` that decide the volume, as {"rotation-axis": "511.5"}; true for a
/// flag, a list for an option that is repeated.
class LookOptions {
 public:
  /// `start`: of `tandem look`, parsed. Its command is one that `add_recon_options` has filled.
  explicit LookOptions(const ReconOptions& start);

  /// The options that the page begins with.
  const nlohmann::json& start() const { return start_; }
  void begin_with(const std::string& name, const std::string& value) { start_[name] = value; }
  void forget(const std::string& name) { start_.erase(name); }
  /// The options of the scan with these in the place of those of the start, each checked as on the command
  /// line. Names of files are those of the start alone. @throws UsageError
  std::unique_ptr<GivenRecon> parsed(const nlohmann::json& asked,
                                     const GivenOptions& more = {{"dry-run", {"true"}}}) const;
  /// Gives a table of `recon` these options, perhaps of another scan.
  void give(Table& recon, const nlohmann::json& asked, const GivenOptions& more,
            const std::string& scan = "") const;
  /// The options of a recipe by a solver: its own ({reconstruction-algorithm: NAME, ...}), and of the others
  /// those that have a meaning with it; `options` as they are if `solver` is null. @throws UsageError
  nlohmann::json by_solver(const nlohmann::json& options, const nlohmann::json& solver) const;
  /// The command that makes the volume, to be typed into a shell. @throws UsageError
  std::string command_line(const nlohmann::json& asked, const std::string& output) const;
  /// The options that say what is in frames: those of the scan, of its selection and of its steps.
  nlohmann::json of_frames(const nlohmann::json& asked) const;
  /// The commands that write the geometry of a scan into a file, and look at the scan with it, to be typed
  /// into a shell; `frames`: the options of the first. @throws UsageError
  nlohmann::json calibration_commands(const nlohmann::json& frames, bool each_view,
                                      const nlohmann::json& asked) const;
  /// What opens the scan: options with other values need another reader.
  std::string opening(const nlohmann::json& asked) const;
  /// Whether the scan is still written (`--follow`).
  bool follows() const { return following_.has_value(); }
  /// All options that a page may give, in groups, with title, unit, help, kind of value and default.
  nlohmann::json schema() const;
  /// {methods: all, with the names of the options of those that iterate; options: these, as in `schema`}
  nlohmann::json solvers() const;
  /// The scan that is looked at, and those that the command line has named beside it.
  const std::vector<std::string>& scans() const { return scans_; }

 private:
  GivenOptions given_by(const nlohmann::json& asked) const;
  bool may_give(const std::string& name, const Values& values) const;

  struct Following {
    std::optional<Index> planned_views;
    double patience;
  };
  std::optional<Following> following_;
  bool quiet_;
  std::string scan_;
  std::vector<std::string> scans_;
  std::shared_ptr<const GivenRecon> known_ = std::make_shared<GivenRecon>();  ///< all options, none given
  nlohmann::json start_ = nlohmann::json::object();
  std::vector<std::string> opening_;  ///< options that say how a scan is opened
  GivenOptions rest_;                 ///< options of the start that decide no voxel: threads, memory, device
};

}  // namespace tandem::apps
