#include "look_calibrate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>
#include <sstream>
#include <utility>

#include "../../core/error.hpp"
#include "../../counts/steps/step.hpp"
#include "../runs/calibrate.hpp"
#include "look_command.hpp"

namespace tandem::apps {

namespace {

using nlohmann::json;

/// A number of the report, and the option of `recon` that takes it; empty if none does.
struct FoundNumber {
  const char *name, *option;
};
constexpr std::array found_numbers{FoundNumber{"axis_bin", "rotation-axis"},
                                   FoundNumber{"roll_deg", "detector-roll"},
                                   FoundNumber{"tilt_deg", "axis-tilt"}, FoundNumber{"elevation_deg", ""},
                                   FoundNumber{"midplane_row", "midplane-row"}};

/// With two digits of its uncertainty or three.
std::string text_of_number(double value, double uncertainty) {
  constexpr double most = 6;
  const double digits = uncertainty > 0 ? std::ceil(-std::log10(uncertainty)) + 1 : most;
  std::ostringstream text;
  text << std::fixed << std::setprecision(static_cast<int>(std::clamp(digits, 0.0, most))) << value;
  const bool is_nothing = text.str().find_first_of("123456789") == std::string::npos;
  return is_nothing && value < 0 ? text.str().substr(1) : text.str();
}

/// Takes options away that no frame is made with by itself. @returns the names of those that were given
json leave_out_steps(json& options) {
  json gone = json::array();
  const auto leave_out = [&](std::string_view name) {
    if (options.erase(std::string(name)) > 0 && name.find(':') == name.npos) gone.push_back(name);
  };
  for (const auto* searched : {&pipeline::option::detector_roll, &pipeline::option::axis_tilt})
    leave_out(searched->name);
  for (const pipeline::Step& step : pipeline::steps())
    if (step.needs_all_views)
      for (const pipeline::StepOption& one : step.options) {
        leave_out(one.name);
        for (const pipeline::StepOption& behind : one.behind) leave_out(behind.name);
      }
  return gone;
}

/// Why a volume cannot be made with this value; empty if it can.
std::string hindrance(LookScan& scan, json options, const char* option, const std::string& text) {
  options[option] = text;
  try {
    scan.recipe({{"options", options}});
    return "";
  } catch (const Error& fault) {
    return fault.what();
  } catch (const UsageError& fault) {
    return fault.what();
  }
}

/// The numbers that were told, with the options that take them.
json numbers_of(LookScan& scan, const json& options, const Calibrated& found, bool on_circle) {
  json all = json::array();
  for (const auto& [name, option] : found_numbers) {
    const json& told = found.report.value(name, json());
    if (told.is_null()) continue;
    const double value = told["value"], uncertainty = told["uncertainty"];
    json row = {{"what", name}, {"value", value}, {"uncertainty", uncertainty}, {"told_by", told["told_by"]}};
    row["text"] = text_of_number(value, uncertainty);
    const std::string why = on_circle && *option ? hindrance(scan, options, option, row["text"])
                                                 : "views that have places of their own take it by a file";
    row["option"] = why.empty() ? json(option) : json(nullptr);
    row["why_not"] = why;
    all.push_back(row);
  }
  if (found.report.value("rotation", "") == "against the angles")
    all.push_back({{"what", "rotation"},
                   {"value", nullptr},
                   {"told_by", "opposite rays"},
                   {"option", "rotation-direction"},
                   {"text", options.value("rotation-direction", json("+1")) == "-1" ? "+1" : "-1"}});
  return all;
}

/// Root mean squares in the place of the shifts of all views.
json shifts_of(json& report) {
  json all = json::array();
  for (const char* name : {"bin_shifts", "row_shifts"}) {
    const json told = std::exchange(report[name], nullptr);
    if (told.is_null()) continue;
    const double value = rms_of(told["value"]), uncertainty = rms_of(told["uncertainty"]);
    all.push_back({{"what", name},
                   {"value", value},
                   {"uncertainty", uncertainty},
                   {"told_by", report["method"]},
                   {"text", text_of_number(value, uncertainty)},
                   {"option", nullptr},
                   {"why_not", "the file has those of each view"}});
  }
  return all;
}

/// All pictures as one, one below the other, and what there is to say of them in the head.
Pictured stacked(const Calibrated& found, Index side) {
  Pictured all{{}, found.report};
  json captions = json::array();
  for (const io::Picture& one : found.pictures) {
    io::Picture small = pipeline::shrunk(one.grey, one.width, one.height, side);
    all.picture.width = small.width, all.picture.height += small.height;
    all.picture.grey.insert(all.picture.grey.end(), small.grey.begin(), small.grey.end());
    captions.push_back(one.captions.front());
  }
  all.head["captions"] = captions;
  all.head["window"] = {found.sheet.black, found.sheet.white};
  return all;
}

}  // namespace

Pictured sheet_of_calibration(LookScan& scan, const json& asked, const LookScan::GoOn& go_on,
                              const ToldStage& tell) {
  const json given = options_in(asked);
  json options = scan.options_of_frames(given);
  const json left_out = leave_out_steps(options);
  const Index side = whole_of(asked, "side", 512, {32, 1025});
  const bool each_view = asked.value("each_view", false);
  Calibrated found = scan.calibrated(
      options, each_view,
      {.stage =
           [&](const std::string& stage, double done, double total, const std::string&, const std::string&) {
             go_on();
             tell(stage, total > 0 ? done / total : 0);
           },
       .note = [](const std::string&) {},
       .report = {}});
  const json numbers =
      each_view ? shifts_of(found.report) : numbers_of(scan, given, found, found.report.contains("rotation"));
  Pictured all = stacked(found, side);
  all.head["numbers"] = numbers;
  all.head["left_out"] = left_out;
  all.head["commands"] = scan.calibration_commands(options, each_view, given);
  return all;
}

}  // namespace tandem::apps
