#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "../../kernels/cone.hpp"
#include "../../kernels/fourier.hpp"
#include "../../kernels/hierarchical.hpp"
#include "../../kernels/parallel.hpp"
#include "../../kernels/ramp.hpp"
#include "../../kernels/variants.hpp"
#include "program.hpp"

namespace tandem::test {

using Names = std::set<std::string>;

/// The names of all kernels in the tables of operators of a device.
inline Names listed_kernels(Device device) {
  Names all;
  const auto add = [&](const std::vector<std::string>& names) { all.insert(names.begin(), names.end()); };
  for (const auto& row : kernels::parallel(device)) add(row.kernels(device));
  for (const auto& row : kernels::cone(device)) add(row.kernels(device));
  for (const auto& row : kernels::fourier(device)) add(row.kernels(device));
  for (const kernels::Backend& backend : kernels::backends())
    if (backend.name == (device.is_cuda() ? "cuda" : "cpu"))
      for (const auto& row : backend.flexible) add(row.kernels(device));
  for (const auto& row : kernels::hierarchical(device)) add(row.kernels(device));
  add(kernels::ramp(device).names());
  add({"slice metric"});
  return all;
}

/// The report of `tandem check` for a device, after it has found that all pairs hold.
inline nlohmann::json check_report(Device device) {
  Program run;
  const Ended check = run("check --size 24 --quiet --json check.json --device " + device.name());
  EXPECT_EQ(check.code, 0) << check.out << check.err;
  return run.json("check.json");
}

/// Each pair that is matched on purpose is within its bounds. Exactly the kernels of the tables have run.
inline void expect_every_kernel_reached(const nlohmann::json& report, Device device) {
  EXPECT_EQ(report["ok"], true);
  Names reached;
  for (const auto& pair : report["pairs"]) {
    const std::string name = pair["name"];
    const bool matched = name.find("unmatched") == std::string::npos;
    EXPECT_EQ(pair["ok"].is_null(), !matched) << name;
    EXPECT_EQ(pair["entry_bound"].is_null(), !matched) << name;
    EXPECT_TRUE(!matched || pair["entry_error"] <= pair["entry_bound"]) << name;
    EXPECT_FALSE(pair["kernels"].empty()) << name;
    for (const auto& kernel : pair["kernels"]) reached.insert(kernel.get<std::string>());
  }
  EXPECT_EQ(reached, listed_kernels(device));
  EXPECT_EQ(report["kernels_not_reached"], nlohmann::json::array());
}

}  // namespace tandem::test
