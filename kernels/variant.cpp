#include "variant.hpp"

#include <algorithm>

#include "../core/error.hpp"
#include "../core/names.hpp"
#include "../geometry/flexible_views.hpp"
#include "../geometry/views.hpp"
#include "fourier.hpp"
#include "hierarchical.hpp"

namespace tandem::kernels {

namespace {

/// A table and the problem that it is asked for.
template <class Views>
struct Resolver {
  Table<Views> table;
  const Views& views;
  Shape projections;
  Device device;

  /// The execution that runs in the place of a row: the row itself if it fits, else the one that takes over,
  /// or none.
  std::optional<Execution> fitted(const Variant<Views>& row, const Execution& wanted) const {
    if (!misfit(row, wanted)) return wanted;
    if (row.instead.empty()) return std::nullopt;
    const Variant<Views>& other = *find(table, row.instead);
    return Execution{std::string(other.name), other.grades.front().precision, wanted.tuning};
  }
  const char* misfit(const Variant<Views>& row, const Execution& wanted) const {
    return row.misfit ? row.misfit(views, wanted.precision, projections, device) : nullptr;
  }

  /// The fastest variant for all slices, among matched ones or any. Among variants that pay for this many
  /// slices it is the one with the highest threshold. If none pays, it is the one with the lowest threshold.
  std::optional<Execution> fastest(const Execution& wanted, bool matched) const {
    std::optional<Execution> best;
    Index best_from = 0;
    const Index slices = projections[1];
    for (const Variant<Views>& row : table) {
      const Execution own{std::string(row.name), wanted.precision, wanted.tuning};
      const Index from =
          row.fastest_from && grade_of(table, own) ? row.fastest_from(own.precision, views) : 0;
      if (from == 0) continue;
      const std::optional<Execution> how = fitted(row, own);
      if (!how || (matched && !grade_of(table, *how)->matched)) continue;
      const bool pays = from <= slices, best_pays = best_from <= slices;
      if (!best || (pays && (!best_pays || from > best_from)) || (!best_pays && from < best_from))
        best = how, best_from = from;
    }
    return best;
  }
};

}  // namespace

template <class Views>
const Variant<Views>* find(Table<Views> table, std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(), [&](auto& row) { return row.name == name; });
  return found == table.end() ? nullptr : &*found;
}

template <class Views>
const Grade* grade_of(Table<Views> table, const Execution& how) {
  const Variant<Views>* row = find(table, how.variant);
  if (!row) return nullptr;
  const auto found = std::find_if(row->grades.begin(), row->grades.end(),
                                  [&](const Grade& grade) { return grade.precision == how.precision; });
  return found == row->grades.end() ? nullptr : &*found;
}

template <class Views>
std::vector<Execution> executions(Table<Views> table) {
  std::vector<Execution> all;
  for (const Variant<Views>& row : table)
    for (const Grade& grade : row.grades) all.push_back({std::string(row.name), grade.precision});
  return all;
}

template <class Views>
Execution resolve(Table<Views> table, const Execution& wanted, Pairing pairing, const Views& views,
                  Shape projections, Device device) {
  const Resolver<Views> resolver{table, views, projections, device};
  Execution named = wanted;
  if (wanted.variant == "automatic") {
    if (pairing == Pairing::matched)
      if (const auto best = resolver.fastest(wanted, true)) return *best;
    if (const auto best = resolver.fastest(wanted, false)) return *best;
    named.variant = table.front().name;
  }
  const auto words = [](const Execution& e) { return name_of(e); };
  require<DeviceError>(grade_of(table, named), "device ", device.name(), ": no ", name_of(named), "; it has ",
                       joined(executions(table), ", ", words));
  const Variant<Views>& row = *find(table, named.variant);
  const std::optional<Execution> how = resolver.fitted(row, named);
  require<GeometryError>(how.has_value(), "variant ", row.name, ": ", how ? "" : resolver.misfit(row, named));
  return *how;
}

#define TANDEM_FOR(Views)                                              \
  template const Variant<Views>* find(Table<Views>, std::string_view); \
  template const Grade* grade_of(Table<Views>, const Execution&);      \
  template std::vector<Execution> executions(Table<Views>);            \
  template Execution resolve(Table<Views>, const Execution&, Pairing, const Views&, Shape, Device);
TANDEM_FOR(ParallelViews)
TANDEM_FOR(ConeViews)
TANDEM_FOR(FourierViews)
TANDEM_FOR(FlexibleViews)
TANDEM_FOR(HierarchicalViews)
#undef TANDEM_FOR

}  // namespace tandem::kernels
