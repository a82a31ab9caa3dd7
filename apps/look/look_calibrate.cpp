#include "look_calibrate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>
#include <sstream>
#include <utility>

#include "../../core/error.hpp"
#include "../../counts/steps/step.hpp"
#include "../reports/calibration_report.hpp"
#include "look_command.hpp"

namespace tandem::apps {

namespace {

using nlohmann::json;

using calibration::Found, calibration::Quantity;

/// The option of `recon` that takes a number; empty if none does.
std::string option_of(const Quantity& number) {
  constexpr std::array options{std::pair{"axis_bin", "rotation-axis"}, std::pair{"roll_deg", "detector-roll"},
                               std::pair{"tilt_deg", "axis-tilt"}, std::pair{"midplane_row", "midplane-row"}};
  for (const auto& [name, option] : options)
    if (number.name == name) return option;
  return "";
}

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
std::string hindrance(LookScan& scan, json options, const std::string& option, const std::string& text) {
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

/// The numbers that were told, with the options that take them. Numbers of all views are root mean squares.
json numbers_of(LookScan& scan, const json& options, const Found& found) {
  json all = json::array();
  for (const Quantity& number : found.numbers) {
    if (number.value.empty()) continue;
    const double value = number.of_views.empty() ? number.value.front() : rms_of(number.value),
                 uncertainty =
                     number.of_views.empty() ? number.uncertainty.front() : rms_of(number.uncertainty);
    const std::string text = text_of_number(value, uncertainty), option = option_of(number);
    const std::string why = !number.of_views.empty() ? "the file has those of each view"
                            : found.sense && !option.empty()
                                ? hindrance(scan, options, option, text)
                                : "views that have places of their own take it by a file";
    all.push_back({{"what", number.name},
                   {"value", value},
                   {"uncertainty", uncertainty},
                   {"told_by", number.told_by.empty() ? found.method : number.told_by},
                   {"text", text},
                   {"option", why.empty() ? json(option) : json(nullptr)},
                   {"why_not", why}});
  }
  if (found.sense && found.sense->reversed)
    all.push_back({{"what", "rotation"},
                   {"value", nullptr},
                   {"told_by", "opposite rays"},
                   {"option", "rotation-direction"},
                   {"text", options.value("rotation-direction", json("+1")) == "-1" ? "+1" : "-1"}});
  return all;
}

/// The report of `tandem calibrate`, without numbers of all views.
json head_of(const Found& found) {
  json report = calibration_report(found);
  for (const Quantity& number : found.numbers)
    if (!number.of_views.empty()) report[number.name] = nullptr;
  report["warnings"] = found.warnings;
  return report;
}

/// All pictures as one, one below the other, and what there is to say of them in the head.
Pictured stacked(const Found& found, Index side) {
  const auto [pictures, sheet] = calibration_pictures(found, {});
  Pictured all{{}, head_of(found)};
  json captions = json::array();
  for (const io::Picture& one : pictures) {
    io::Picture small = pipeline::shrunk(one.grey, one.width, one.height, side);
    all.picture.width = small.width, all.picture.height += small.height;
    all.picture.grey.insert(all.picture.grey.end(), small.grey.begin(), small.grey.end());
    captions.push_back(one.captions.front());
  }
  all.head["captions"] = captions;
  all.head["window"] = {sheet.black, sheet.white};
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
  const Found found = scan.calibrated(
      options, each_view,
      {.stage =
           [&](const std::string& stage, double done, double total, const std::string&, const std::string&) {
             go_on();
             tell(stage, total > 0 ? done / total : 0);
           },
       .note = [](const std::string&) {},
       .report = {}});
  Pictured all = stacked(found, side);
  all.head["numbers"] = numbers_of(scan, given, found);
  all.head["left_out"] = left_out;
  all.head["commands"] = scan.calibration_commands(options, each_view, given);
  return all;
}

}  // namespace tandem::apps
