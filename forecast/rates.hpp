#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tandem::pipeline {

/// The rates of stations on this machine, by the kind of their work (`StationWork::kind`), in bytes or
/// updates per second. The latest few rates of each kind are kept.
class Rates {
 public:
  /// A trial is a short run that only measures. Rates of whole runs replace those of trials.
  enum class From { trial, run };
  struct Seen {
    From from = From::trial;
    std::vector<double> latest;  ///< the newest at the end
  };
  static constexpr std::size_t most = 5;

  /// The median of the latest rates; empty if none is known.
  std::optional<double> rate(const std::string& kind) const;
  /// Adds a rate, unless it is no positive finite number.
  void add(const std::string& kind, double rate, From from);
  void add(const Rates& newer);  ///< adds all rates, kind by kind
  const std::map<std::string, Seen>& all() const { return seen_; }

 private:
  std::map<std::string, Seen> seen_;
};

}  // namespace tandem::pipeline
