#include "flat_use.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "../core/error.hpp"
#include "../core/spelled.hpp"

namespace tandem::pipeline {

namespace {

using Sets = std::vector<std::vector<Index>>;

double at(const std::vector<double>& values, Index k) { return values[k]; }

double mean_time(const std::vector<double>& times, const std::vector<Index>& set) {
  double sum = 0;
  for (const Index flat : set) sum += at(times, flat);
  return sum / set.size();
}

/// @pre `times` of the sets rise
FlatMix nearest(const std::vector<double>& times, double view) {
  Index best = 0;
  for (Index s = 1; s < std::ssize(times); ++s)
    if (std::abs(at(times, s) - view) <= std::abs(at(times, best) - view)) best = s;
  return {.first = best, .second = best};
}

/// Interpolates between two sets. Before the first set and after the last one, it takes that set alone.
FlatMix linear(const std::vector<double>& times, double view) {
  const auto after = std::ranges::upper_bound(times, view);
  if (after == times.begin()) return {};
  const auto before = (after - times.begin()) - 1;
  if (after == times.end()) return {.first = before, .second = before};
  const double w = (view - at(times, before)) / (*after - at(times, before));
  return {before, before + 1, static_cast<float>(1 - w), static_cast<float>(w)};
}

std::vector<FlatMix> mixes_of(const io::ScanInfo& info, const Sets& sets, bool interpolates) {
  std::vector<double> times;
  for (const auto& set : sets) times.push_back(mean_time(info.times.flats, set));
  std::vector<FlatMix> mixes;
  for (const double view : info.times.views)
    mixes.push_back(interpolates ? linear(times, view) : nearest(times, view));
  return mixes;
}

void require_positive(const std::vector<double>& monitor, const char* kind) {
  for (std::size_t k = 0; k < monitor.size(); ++k)
    require<FileError>(std::isfinite(monitor[k]) && monitor[k] > 0,
                       spelled("normalize-monitor") + ": the monitor of ", kind, ' ', k, " is ", monitor[k],
                       "; a positive number is needed");
}

/// A view of k times the mean beam of the flats is divided by k times their flat.
void divide_by(std::string_view what, const io::PerFrame& beam, FlatUse& use) {
  const auto& [views, flats] = beam;
  use.divided_by = what;
  const double mean = std::accumulate(flats.begin(), flats.end(), 0.0) / flats.size();
  for (const double m : flats) use.scale.push_back(mean / m);
  use.views.resize(views.size());
  for (std::size_t k = 0; k < views.size(); ++k) {
    const auto share = static_cast<float>(views[k] / mean);
    use.views[k].of_first *= share;
    use.views[k].of_second *= share;
  }
}

void use_monitor(const io::ScanInfo& info, FlatUse& use) {
  const auto& [views, flats] = info.monitor;
  require<FileError>(!views.empty() && !flats.empty(),
                     spelled("normalize-monitor") +
                         ": the scan has no monitor counts or ring current for each view and flat (NXtomo: "
                         "control/data); leave the option out");
  require_positive(views, "view");
  require_positive(flats, "flat");
  divide_by("the monitor", info.monitor, use);
}

/// The k-th flat is that of the k-th view of the file.
void use_each(const io::ScanInfo& info, FlatUse& use) {
  require<FileError>(info.flats == info.views_stored, spelled("flat-sets") + " each: the scan has ",
                     info.flats, " flats for ", info.views_stored, " views; one per view is needed");
  const Index views = views_of(info.scan);
  use.between = "each";
  use.sets.clear();
  for (Index view = 0; view < views; ++view) {
    use.sets.push_back({info.first_view + view * info.view_step});
    use.views.push_back({.first = view, .second = view});
  }
}

}  // namespace

bool flats_are_of_views(const StepValues& values) { return option::flat_sets.of(values) == "each"; }

Sets flat_sets(const io::ScanInfo& info) {
  std::vector<Index> order(info.flats);
  std::iota(order.begin(), order.end(), Index{0});
  if (order.empty() || info.times.flats.empty()) return {order};
  const std::vector<double>& times = info.times.flats;
  std::ranges::stable_sort(order, {}, [&](Index k) { return at(times, k); });
  std::vector<double> views = info.times.views;
  std::ranges::sort(views);
  Sets sets{{order.front()}};
  for (std::size_t k = 1; k < order.size(); ++k) {
    const double before = at(times, order[k - 1]), now = at(times, order[k]);
    const auto view = std::ranges::lower_bound(views, before);
    if (before < now && view != views.end() && *view <= now) sets.emplace_back();
    sets.back().push_back(order[k]);
  }
  return sets;
}

FlatUse flat_use_of(const io::ScanInfo& info, const StepValues& values) {
  const auto word = [&](const Option<OneOf>& of) { return of.of(values).value_or(""); };
  FlatUse use{.flat_method = combining_named(word(option::flat_method)),
              .dark_method = combining_named(word(option::dark_method)),
              .sets = flat_sets(info)};
  const std::string asked = word(option::flat_sets);
  require<FileError>(
      (asked != "linear" && asked != "nearest") || info.flats == 0 || !info.times.flats.empty(),
      spelled("flat-sets") + " ", asked,
      ": the scan does not tell when its flats were taken; give " + spelled("flat-loc") +
          " VIEW,VIEW,... or " + spelled("flat-sets") + " together");
  if (asked == "each") {
    use_each(info, use);
  } else if (asked == "together" || use.sets.size() == 1) {
    use.sets.resize(1);
    use.sets[0].resize(info.flats);
    std::iota(use.sets[0].begin(), use.sets[0].end(), Index{0});
  } else {
    use.between = asked == "nearest" ? "nearest" : "linear";
    use.views = mixes_of(info, use.sets, use.between == "linear");
  }
  if (option::normalize_monitor.of(values).value_or(false))
    use_monitor(info, use);
  else if (!info.exposures.flats.empty())
    divide_by("times of exposure", info.exposures, use);
  return use;
}

}  // namespace tandem::pipeline
