// tandem check: kappa, mu and entrywise agreement of every operator pair, on problems that make every kernel
// run.

#include <algorithm>
#include <cstdio>
#include <set>

#include "../../core/instruction_set.hpp"
#include "../../core/names.hpp"
#include "../../kernels/launches.hpp"
#include "../../operators/adjointness.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/projector.hpp"
#include "../check_pairs.hpp"
#include "../command.hpp"
#include "../options/device_options.hpp"
#include "../runs/files.hpp"
#include "../runs/progress.hpp"

namespace tandem::apps {

namespace {

using nlohmann::json;

struct CheckOptions {
  Common common;
  Index size = 64;
  std::string pair, device = "cpu";
};

/// Element i of a slice of a volume, or of a row of projections.
float& element(Array& x, Index block, Index i) {
  const auto [n0, n1, n2] = x.space().shape();
  if (x.space().blocks() == Blocks::slices) return x.data()[block * n1 * n2 + i];
  return x.data()[(i / n2 * n1 + block) * n2 + i % n2];
}

/// All columns of A, one after the other. `alike`: all slices have the same columns, and in one application
/// each slice makes another column.
std::vector<float> columns_of(const LinearOperator& A, bool alike) {
  const Device device = A.domain().device(), cpu = Device::cpu();
  const auto at = [&](Array& x, Index block, Index i) -> float& {
    return alike ? element(x, block, i) : x.data()[i];
  };
  Array x(A.domain().on(cpu));
  const Index blocks = alike ? x.space().block_count() : 1, count = x.size() / blocks,
              length = A.range().size() / blocks;
  std::vector<float> all;
  for (Index first = 0; first < count; first += blocks) {
    const Index here = std::min(blocks, count - first);
    for (Index k = 0; k < here; ++k) at(x, k, first + k) = 1;
    Array y = on_device(A * on_device(x, device), cpu);
    for (Index k = 0; k < here; ++k) {
      for (Index i = 0; i < length; ++i) all.push_back(at(y, k, i));
      at(x, k, first + k) = 0;
    }
  }
  return all;
}

/// max |A_ij - B_ji| / max |A_ij| over all entries.
double entry_error(const LinearOperator& A, bool alike) {
  const std::vector<float> forward = columns_of(A, alike), backward = columns_of(adjoint(A), alike);
  const std::size_t blocks = alike ? A.domain().block_count() : 1, columns = A.domain().size() / blocks,
                    rows = forward.size() / columns;
  double worst = 0, largest = 0;
  for (std::size_t j = 0; j < columns; ++j)
    for (std::size_t i = 0; i < rows; ++i) {
      const double a = forward[j * rows + i];
      worst = std::max(worst, std::abs(a - backward[i * columns + j]));
      largest = std::max(largest, std::abs(a));
    }
  return worst / largest;
}

/// One line of the report.
struct Line {
  const CheckedPair* pair;
  CheckShape shape;
  Execution how;
};

/// The lines of the report. Executions that resolve to the same execution share a line. A CPU does not divide
/// its work, so all divisions share a line there.
std::vector<Line> lines_for(const CheckOptions& o, Device device) {
  std::vector<Line> lines;
  for (const CheckedPair& pair : checked_pairs()) {
    if (pair.name.find(o.pair) == std::string::npos) continue;
    std::set<std::pair<Index, std::string>> there;
    for (CheckShape shape : pair.shapes) {
      if (!device.is_cuda()) shape.tuning = {};
      const CheckCase c = check_case(pair, shape, o.size, device);
      const std::string tuning = std::to_string(shape.tuning.rows_a_block);
      std::vector<Execution> hows{{"standard"}};
      if (pair.parallel) hows = executions(device, *pair.parallel);
      for (Execution how : hows) {
        if (pair.parallel) how = resolved(how, c.scan, c.grid, *pair.parallel, device);
        if (there.insert({shape.slices, name_of(how) + tuning}).second) lines.push_back({&pair, shape, how});
      }
    }
  }
  if (lines.empty()) throw UsageError("--pair '" + o.pair + "' names no pair; leave it out to see all names");
  return lines;
}

json check(const Line& line, Index size, Device device) {
  const CheckedPair& pair = *line.pair;
  CheckCase large = check_case(pair, line.shape, size, device), small = small_case(pair, line.shape, device);
  large.how = small.how = line.how;
  kernels::forget_launches();
  const Adjointness a = adjointness(pair.make(large));
  const double entries = entry_error(pair.make(small), pair.parallel.has_value());
  json row = {{"name", pair.name},
              {"slices", line.shape.slices},
              {"device", device.name()},
              {"variant", line.how.variant},
              {"precision", name_of(line.how.precision)},
              {"kernels", kernels::launched()},
              {"kappa", a.coupling},
              {"kappa_spread", a.coupling_spread},
              {"mu", a.mismatch},
              {"entry_error", entries},
              {"bound", nullptr},
              {"entry_bound", nullptr},
              {"ok", nullptr}};
  if (!pair.matched) return row;
  const kernels::Bounds bound = bounds_of(pair, line.how, device);
  row["bound"] = bound.mu;
  row["entry_bound"] = bound.entry;
  row["ok"] = a.mismatch <= bound.mu && std::abs(a.coupling - 1) <= bound.kappa && entries <= bound.entry;
  return row;
}

/// Kernels of the device that no line has reached.
json not_reached(const json& rows, Device device) {
  std::set<std::string> left;
  for (const std::string& name : kernel_names(device)) left.insert(name);
  for (const json& row : rows)
    for (const json& name : row["kernels"]) left.erase(name.get<std::string>());
  return left;
}

void print_pairs(Device device, const json& rows) {
  std::printf("%s: %s\n", device.name().c_str(), description(device).c_str());
  const auto bound = [](const json& value) {
    char text[16] = "none";
    if (!value.is_null()) std::snprintf(text, sizeof text, "%.0e", value.get<double>());
    return std::string(text);
  };
  std::printf("%-44s %6s %-7s %-17s %12s %9s %9s %9s %9s  %-20s %s\n", "pair", "slices", "device", "variant",
              "kappa", "mu", "bound", "entries", "bound", "", "kernels");
  for (const json& r : rows) {
    const std::string names =
        joined(r["kernels"], "; ", [](const json& name) { return name.get<std::string>(); });
    std::printf("%-44s %6ld %-7s %-8s %-8s %12.7f %9.1e %9s %9.1e %9s  %-20s %s\n",
                r["name"].get<std::string>().c_str(), r["slices"].get<long>(),
                r["device"].get<std::string>().c_str(), r["variant"].get<std::string>().c_str(),
                r["precision"].get<std::string>().c_str(), r["kappa"].get<double>(), r["mu"].get<double>(),
                bound(r["bound"]).c_str(), r["entry_error"].get<double>(), bound(r["entry_bound"]).c_str(),
                r["ok"].is_null() ? "unmatched on purpose"
                : r["ok"] == true ? "ok"
                                  : "FAILS",
                names.c_str());
  }
}

void run_check(CheckOptions& o) {
  const ThreadLimit limit(o.common.threads);
  const Device device = Device::named(o.device);
  ProgressLine progress(o.common);
  const std::vector<Line> lines = lines_for(o, device);
  json rows = json::array();
  bool all_hold = true;
  for (const Line& line : lines) {
    progress("check", rows.size(), lines.size(), "pairs");
    rows.push_back(check(line, o.size, device));
    if (rows.back()["ok"] == false) all_hold = false;
  }
  json report = {
      {"command", "check"}, {"instructions", instruction_set()}, {"pairs", rows}, {"ok", all_hold}};
  if (o.pair.empty()) report["kernels_not_reached"] = not_reached(rows, device);
  progress.clear();
  if (o.common.json != "-") print_pairs(device, rows);
  write_report(o.common, report);
  if (!all_hold) throw CheckFailed("check: at least one pair is above its bound; see the table");
}

void add_check(Table& c) {
  auto o = std::make_shared<CheckOptions>();
  c.heading("Pairs");
  c.add("--size", On::result, o->size, "voxels along x and y (default 64)").check(count(8, 4096));
  c.add("--pair", On::result, o->pair, "only pairs whose name contains this");
  c.add("--device", On::result, o->device, "cpu (default), cuda, cuda:N")
      .check(lower_case())
      .check(no_one_device);
  add_common(c, o->common);
  c.footer =
      "Examples:\n"
      "  tandem check\n"
      "  tandem check --pair cone --device cuda --json check.json";
  c.work = [o] {
    check_files(o->common, {}, {});
    run_check(*o);
  };
}

}  // namespace

extern const Command check_command{"check", "Do projector and back-projector match?", add_check, false};

}  // namespace tandem::apps
