#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "../core/device.hpp"
#include "../geometry/scan.hpp"
#include "sharpness.hpp"

namespace tandem::calibration {

/// A number with the unit that its name says: "axis_bin", "roll_deg".
struct Quantity {
  std::string name;
  std::vector<double> value{};        ///< one, or one of each view; empty: nothing tells it
  std::vector<double> uncertainty{};  ///< one standard deviation each; empty: values are as they were given
  std::string_view told_by{};         ///< empty: the method of all
  std::string_view of_views{};        ///< the unit of numbers of views; empty: there is one number
};

/// Why something is not told.
struct NotTold {
  std::string what, why;
};

/// A search in slices: by how much a number differs from what the scan says.
struct Searched {
  std::string what;
  Verdict verdict;
  double change, uncertainty;  ///< if it is resolved
};

/// What else is known of the search, for a report. No value: it is not known.
struct Fact {
  std::string name;
  std::variant<std::monostate, double, Index, std::string> value;
};

/// The sense in which views go round.
struct Sense {
  bool reversed;                         ///< against their angles
  std::optional<double> other_is_worse;  ///< by this factor the other sense fits worse
};

struct FoundBall {
  Vector3 place;                       ///< mm
  std::optional<Vector3> uncertainty;  ///< none for a rigid body
  std::optional<Index> known_as;       ///< its number among the known places
};

/// Where a shadow fell, bin and row, and by how much the scanner misses it.
struct Miss {
  std::array<double, 2> cell, off;
};

/// A slice that is shown.
struct ShownSlice {
  Index width, height;
  std::vector<float> grey;
  std::string caption;
};

/// What stages took, one after the other.
class Laps {
 public:
  void end(const char* name) {
    const auto now = std::chrono::steady_clock::now();
    seconds_.emplace_back(name, std::chrono::duration<double>(now - since_).count());
    since_ = now;
  }
  const std::vector<std::pair<std::string, double>>& seconds() const { return seconds_; }

 private:
  std::vector<std::pair<std::string, double>> seconds_{};
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

/// What a calibration finds, in whichever way.
struct Found {
  std::string_view method;
  Scan scan;  ///< all views of the file, where they were found
  std::vector<Quantity> numbers{};
  std::vector<NotTold> not_told{};
  std::vector<std::string> warnings{};
  std::vector<Fact> facts{};
  std::optional<Sense> sense{};
  std::optional<std::vector<Searched>> searches{};
  std::vector<FoundBall> balls{};
  std::array<std::vector<Miss>, 2> misses{};  ///< balls: with the scan as it was given, and as found
  std::vector<ShownSlice> slices{};           ///< each before and after
  Laps laps{};
};

/// How a search is made.
struct How {
  Device device = Device::cpu();  ///< where slices and volumes are made
  bool slices = false;            ///< whether slices are shown, before and after
  /// Told what is done, how far it is, and in which unit. It may throw to end the search.
  std::function<void(const char* stage, double done, double total, const char* unit)> watch =
      [](const char*, double, double, const char*) {};
};

/// Warns if views may go round the other way, which fits less than `clearly` worse, or if they do. `what`:
/// what fits.
void warn_of_sense(Found& found, double clearly, const std::string& what);

/// The root mean square of both coordinates.
double rms_of(const std::vector<Miss>& misses);

}  // namespace tandem::calibration
