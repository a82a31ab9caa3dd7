// tandem check: kappa, mu and entrywise agreement of every operator pair.

#include <cstdio>
#include <iostream>
#include <numbers>

#include "../command.hpp"
#include "../command_line.hpp"
#include "../files.hpp"
#include "../progress.hpp"
#include "tandem/operators/adjointness.hpp"
#include "tandem/operators/algebra.hpp"
#include "tandem/operators/fbp.hpp"
#include "tandem/operators/projector.hpp"
#include "tandem/operators/ramp_filter.hpp"
#include "tandem_version.hpp"

namespace tandem::apps {

namespace {

using nlohmann::json;

// Matched pairs in float32, whose rounding unit is u = 6e-8. Forward and adjoint take their entries from the
// same numbers, so that only sums round differently.
// mu: n terms of random sign leave u sqrt(n) of a sum, and n stays below 1000 along a ray.
// kappa: terms of one sign, whose roundings may be so too: 160 u.
// entries: a projector's are the same bits both ways; a filter's come out of transforms of P points, each of
// which leaves u log2 P of the row: two of them and the response, 3 u log2 P, and P = 32 here.
struct Bounds {
  double mu = 2e-6, kappa = 1e-5, entry = 1e-6;
};

// tensor: the same weights both ways, whose sums are cut where others round.
// standard, texture, hybrid: a texture unit rounds the back-projection's weights to 1/256, the projection's
// are float32; bytes round the data as well. Joseph's hats are none that it draws: those are left to alu.
Bounds bounds_of(Execution how, Model model) {
  switch (how.variant) {
    case Variant::tensor:
      return {1e-5, 1e-5, 1e-6};
    case Variant::texture:
    case Variant::hybrid:
    case Variant::standard:
      if (model == Model::joseph) return {};
      return how.precision == Precision::uint8 ? Bounds{2e-2, 1e-2, 1e-2} : Bounds{5e-3, 1e-3, 5e-3};
    default:
      return {};
  }
}

// A cone beam's texture units cut two fractions to 1/256: 2^-8 / sqrt(3) of a step of sqrt(2) between signs,
// which the other fraction averages, of a root mean square of 2/3: mu is 5.5e-3 and scatters by 18 %; entries
// are off by up to 2^-8 twice.
const Bounds cone_by_texture{6.6e-3, 1e-3, 8e-3};
// FDK of it: of filtered data, which are of both signs, kappa may err like mu; a step between the ramp's
// neighbours is 1.4 of its largest number: 2^-9 of that and 2^-9 of a row.
const Bounds fdk_by_texture{6e-3, 5e-3, 7e-3};
// A footprint on a GPU has positions that are off by up to 2^-24 of a row, and as much for each of 32 voxels,
// each way; FDK filters as well.
const Bounds footprint_by_products{4e-6, 2e-6, 4e-6}, fdk_by_products{4e-6, 2e-5, 4e-6};

struct CheckOptions {
  Common common;
  Index size = 64;
  std::string pair, device = "cpu";
};

struct Pair {
  std::string name;
  bool matched;
  std::optional<Model> model;  ///< of the back-projector, which can be executed in more than one way
  std::function<LinearOperator(const ParallelBeam&, const VolumeGrid&, Device, Execution)> make;
  Bounds bounds_on_cuda{};  ///< where there is one way alone
};

/// Magnification 2 on cells twice as large, the principal point off the middle, a whole turn.
ConeBeam cone_like(const ParallelBeam& scan, const VolumeGrid& grid) {
  const double size = static_cast<double>(grid.size[0]) * grid.pitch[0];
  ConeBeam cone{scan.detector, scan.angles, 2 * size, 4 * size, 0.3};
  cone.detector.bin_pitch = cone.detector.row_pitch = 2;
  for (double& angle : cone.angles) angle *= 2;
  return cone;
}

const std::vector<Pair>& pairs() {
  static const std::vector<Pair> all{
      {"parallel/pixel_driven", true, Model::pixel_driven,
       [](const auto& s, const auto& g, Device d, Execution e) {
         return projector(s, g, Model::pixel_driven, d, e);
       }},
      {"parallel/joseph", true, Model::joseph,
       [](const auto& s, const auto& g, Device d, Execution e) {
         return projector(s, g, Model::joseph, d, e);
       }},
      {"parallel/ramp_filter", true, std::nullopt,
       [](const auto& s, const auto&, Device d, Execution) { return ramp_filter(s, {}, d); }},
      {"parallel/unmatched joseph with pixel_driven", false, Model::pixel_driven,
       [](const auto& s, const auto& g, Device d, Execution e) {
         return unmatched_pair(projector(s, g, Model::joseph, d, e),
                               adjoint(projector(s, g, Model::pixel_driven, d, e)));
       }},
      {"cone/separable_footprint", true, std::nullopt,
       [](const auto& s, const auto& g, Device d, Execution) {
         return projector(cone_like(s, g), g, Model::separable_footprint, d);
       },
       footprint_by_products},
      {"cone/joseph", true, std::nullopt,
       [](const auto& s, const auto& g, Device d, Execution) {
         return projector(cone_like(s, g), g, Model::joseph, d);
       },
       cone_by_texture},
      {"cone/pixel_driven", true, std::nullopt,
       [](const auto& s, const auto& g, Device d, Execution) {
         return projector(cone_like(s, g), g, Model::pixel_driven, d);
       },
       cone_by_texture},
      {"cone/unmatched joseph with pixel_driven", false, std::nullopt,
       [](const auto& s, const auto& g, Device d, Execution) {
         return unmatched_pair(projector(cone_like(s, g), g, Model::joseph, d),
                               adjoint(projector(cone_like(s, g), g, Model::pixel_driven, d)));
       }},
      {"cone/fdk", true, std::nullopt,
       [](const auto& s, const auto& g, Device d, Execution) {
         return adjoint(fdk(cone_like(s, g), g, {}, Model::separable_footprint, d));
       },
       fdk_by_products},
      {"cone/fdk pixel_driven", true, std::nullopt,
       [](const auto& s, const auto& g, Device d, Execution) {
         return adjoint(fdk(cone_like(s, g), g, {}, Model::pixel_driven, d));
       },
       fdk_by_texture}};
  return all;
}

/// 90 views, irregular on purpose for matched pairs; bins that cover the diagonal.
ParallelBeam scan_for(Index size, bool irregular) {
  ParallelBeam scan;
  scan.detector.bins = size + (size + 1) / 2 - 1;
  scan.detector.rows = 2;
  scan.detector.axis_bin = 0.5 * static_cast<double>(scan.detector.bins - 1) + (irregular ? 1.3 : 0);
  for (int v = 0; v < 90; ++v)
    scan.angles.push_back(std::numbers::pi * (v + (irregular ? 0.37 * ((v * 7) % 3) : 0)) / 90);
  return scan;
}

VolumeGrid grid_for(Index size, const ParallelBeam& scan) {
  return {{size, size, scan.detector.rows}, {1, 1, 1}, {}};
}

/// max |A_ij - B_ji| / max |A_ij| over all entries, on a grid small enough for that.
double entry_error(const Pair& pair, Device device, Execution how) {
  ParallelBeam scan = scan_for(9, true);
  scan.detector.rows = 1;
  for (std::size_t v = 0; v < 7; ++v) scan.angles[v] = scan.angles[13 * v];  // all around
  scan.angles.resize(7);
  const LinearOperator A = pair.make(scan, grid_for(9, scan), device, how);
  const auto through = [&](const LinearOperator& map, const Array& in) {
    return on_device(map * on_device(in, device), Device::cpu());
  };
  Array x(A.domain().on(Device::cpu())), y(A.range().on(Device::cpu()));
  std::vector<float> forward;
  for (Index j = 0; j < x.size(); ++j) {
    x.data()[j] = 1;
    const Array column = through(A, x);
    forward.insert(forward.end(), column.data(), column.data() + column.size());
    x.data()[j] = 0;
  }
  double worst = 0, largest = 0;
  for (Index i = 0; i < y.size(); ++i) {
    y.data()[i] = 1;
    const Array row = through(adjoint(A), y);
    y.data()[i] = 0;
    for (Index j = 0; j < x.size(); ++j) {
      const double a = forward[static_cast<std::size_t>(j * y.size() + i)];
      worst = std::max(worst, std::abs(a - static_cast<double>(row.data()[j])));
      largest = std::max(largest, std::abs(a));
    }
  }
  return worst / largest;
}

json check(const Pair& pair, Index size, Device device, Execution how) {
  const ParallelBeam scan = scan_for(size, pair.matched);
  const Adjointness a = adjointness(pair.make(scan, grid_for(size, scan), device, how));
  json row = {{"name", pair.name},
              {"device", device.name()},
              {"variant", name_of(how.variant)},
              {"precision", name_of(how.precision)},
              {"kappa", a.coupling},
              {"kappa_spread", a.coupling_spread},
              {"mu", a.mismatch},
              {"entry_error", entry_error(pair, device, how)},
              {"bound", nullptr},
              {"entry_bound", nullptr},
              {"ok", nullptr}};
  if (pair.matched) {
    const Bounds bound = !device.is_cuda() ? Bounds{}
                         : pair.model      ? bounds_of(how, *pair.model)
                                           : pair.bounds_on_cuda;
    row["bound"] = bound.mu;
    row["entry_bound"] = bound.entry;
    row["ok"] = a.mismatch <= bound.mu && std::abs(a.coupling - 1) <= bound.kappa &&
                row["entry_error"].get<double>() <= bound.entry;
  }
  return row;
}

void run_check(CheckOptions& o) {
  const ThreadLimit limit(o.common.threads);
  const Device device = Device::named(o.device);
  ProgressLine progress(o.common.quiet);
  json rows = json::array();
  bool all_hold = true, found = false;
  const std::vector<Execution> float32_only{{Variant::standard, Precision::float32}};
  for (const Pair& pair : pairs()) {
    if (!o.pair.empty() && pair.name.find(o.pair) == std::string::npos) continue;
    found = true;
    for (const Execution how : pair.model ? executions(device) : float32_only) {
      progress("check", static_cast<double>(rows.size()), 0, "pairs");
      rows.push_back(check(pair, o.size, device, how));
      if (rows.back()["ok"] == false) all_hold = false;
    }
  }
  if (!found) throw UsageError("--pair '" + o.pair + "' names no pair; leave it out to see all names");
  progress.clear();
  if (o.common.json != "-") {
    const auto bound = [](const json& value) {
      char text[16] = "none";
      if (!value.is_null()) std::snprintf(text, sizeof text, "%.0e", value.get<double>());
      return std::string(text);
    };
    std::printf("%-44s %-7s %-17s %12s %9s %9s %9s %9s\n", "pair", "device", "variant", "kappa", "mu",
                "bound", "entries", "bound");
    for (const json& r : rows)
      std::printf("%-44s %-7s %-8s %-8s %12.7f %9.1e %9s %9.1e %9s  %s\n",
                  r["name"].get<std::string>().c_str(), device.name().c_str(),
                  r["variant"].get<std::string>().c_str(), r["precision"].get<std::string>().c_str(),
                  r["kappa"].get<double>(), r["mu"].get<double>(), bound(r["bound"]).c_str(),
                  r["entry_error"].get<double>(), bound(r["entry_bound"]).c_str(),
                  r["ok"].is_null() ? "unmatched on purpose"
                  : r["ok"] == true ? "ok"
                                    : "FAILS");
  }
  write_report(o.common,
               {{"command", "check"}, {"version", TANDEM_VERSION}, {"pairs", rows}, {"ok", all_hold}});
  if (!all_hold) throw CheckFailed("check: at least one pair is above its bound; see the table");
}

}  // namespace

void add_check(CLI::App& program, Action& chosen) {
  auto o = std::make_shared<CheckOptions>();
  CLI::App& c = *program.add_subcommand("check", "Do projector and back-projector match?");
  heading(c, "Pairs");
  c.add_option("--size", o->size, "voxels along x and y (default 64)")->check(count(8, 4096));
  c.add_option("--pair", o->pair, "only pairs whose name holds this");
  c.add_option("--device", o->device, "cpu (default), cuda, cuda:N")->transform(lower_case());
  add_common(c, o->common);
  c.footer(
      "Examples:\n"
      "  tandem check\n"
      "  tandem check --pair cone --device cuda --json check.json");
  c.callback([o, &chosen] {
    chosen = [o] {
      check_files({}, {{"--json", o->common.json}});
      run_check(*o);
    };
  });
}

}  // namespace tandem::apps
