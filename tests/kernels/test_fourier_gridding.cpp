// Samples along rays from cells of frequencies and back, against sums in double.

#include "../../kernels/cpu/fourier_gridding.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <random>
#include <vector>

#include "../../kernels/cpu/scratch.hpp"
#include "../support/instruction_sets.hpp"
#include "../support/tolerances.hpp"

namespace tandem::kernels::cpu {
namespace {

using Complex = std::complex<double>;

std::shared_ptr<const FourierPlan> small_plan(double accuracy, double axis = 9.3, Index width = 17) {
  const ParallelBeam scan{.detector = {.bins = 21, .rows = 3, .bin_pitch = 0.7, .axis_bin = axis},
                          .angles = {0.1, 0.9, 1.6, 2.4, 3.0}};
  return fourier_plan(scan, {.size = {width, 13, 3}, .pitch = {0.7, 0.7, 0.7}}, accuracy);
}

Complex in_lane(const float* cell, Index lane) { return {cell[lane], cell[lanes + lane]}; }

void fill_random(float* numbers, Index count) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::generate_n(numbers, count, [&] { return uniform(random); });
}

/// The window of a sample along one axis: its first cell, and the weights of the cells.
struct Window {
  Window(const FourierPlan& plan, double at) : first(std::ceil(at - 0.5 * plan.taps - window_shift)) {
    for (int tap = 0; tap < plan.taps; ++tap) {
      const double d = (first + tap - at) / plan.taps, v = 8 * d * d - 1;
      double sum = 0;
      for (std::size_t i = plan.window.size(); i-- > 0;) sum = sum * v + static_cast<double>(plan.window[i]);
      weights.push_back(sum);
    }
  }
  double first;
  std::vector<double> weights;
};

/// Cell (x, y) of the full plane, which repeats itself, from the half plane.
Complex cell_at(const FourierPlan& plan, const float* grid, Index x, Index y, Index lane) {
  const Index column = (x + plan.cells_x) % plan.cells_x;
  const bool mirrored = column > plan.cells_x / 2;
  const Index row = ((mirrored ? -y : y) + 2 * plan.cells_y) % plan.cells_y;
  const Index kept = mirrored ? plan.cells_x - column : column;
  const Complex value = in_lane(grid + (kept * plan.cells_y + row) * floats_a_cell, lane);
  return mirrored ? std::conj(value) : value;
}

Complex sample_of(const FourierPlan& plan, const float* grid, const Ray& ray, Index k, Index lane) {
  const Window across(plan, ray.step_x * static_cast<double>(k)),
      down(plan, ray.step_y * static_cast<double>(k));
  Complex sum = 0;
  for (std::size_t i = 0; i < across.weights.size(); ++i)
    for (std::size_t j = 0; j < down.weights.size(); ++j)
      sum += across.weights[i] * down.weights[j] *
             cell_at(plan, grid, static_cast<Index>(across.first) + static_cast<Index>(i),
                     static_cast<Index>(down.first) + static_cast<Index>(j), lane);
  return sum;
}

TEST(FourierGridding, SamplesTheCellsOfTheirWindows) {
  with_each_instruction_set([] {
    for (const double accuracy : {1e-3, 1e-4, 1e-5}) {
      const auto plan = small_plan(accuracy);
      const Index cells = plan->columns() * plan->cells_y * floats_a_cell;
      Lines grid(cells), samples(plan->samples() * floats_a_cell);
      fill_random(grid.data(), cells);
      for (std::size_t v = 0; v < plan->rays.size(); ++v) {
        sample_ray(*plan, static_cast<Index>(v), grid.data(), samples.data());
        for (Index k = 0; k < plan->samples(); ++k)
          for (Index lane = 0; lane < lanes; ++lane) {
            const Complex due = sample_of(*plan, grid.data(), plan->rays[v], k, lane);
            ASSERT_LE(std::abs(in_lane(samples.data() + k * floats_a_cell, lane) - due), tolerance::gridded)
                << v << ' ' << k << ' ' << lane;
          }
      }
    }
  });
}

/// The weight of a sample that lies at `at`, or at the mirror image of its place, in a cell.
double weight_in(const FourierPlan& plan, double step, int k, int sign, int shift, int cell) {
  const Window window(plan, step * k);
  const double tap = sign * (cell - shift) - window.first;
  return tap < 0 || tap >= plan.taps ? 0 : window.weights[static_cast<std::size_t>(tap)];
}

/// The value of a cell from the runs of its tile.
Complex cell_of(const FourierPlan& plan, const FrequencyTile& tile, const float* polar, int x, int y,
                Index lane) {
  Complex sum = 0;
  for (std::size_t r = tile.first_run; r < tile.last_run; ++r) {
    const Run& run = plan.runs[r];
    const Ray& ray = plan.rays[static_cast<std::size_t>(run.view)];
    for (int k = run.first; k < run.last; ++k) {
      const Complex sample = in_lane(polar + (run.view * plan.samples() + k) * floats_a_cell, lane);
      sum += weight_in(plan, ray.step_x, k, run.sign, run.shift_x, x) *
             weight_in(plan, ray.step_y, k, run.sign, run.shift_y, y) *
             (run.sign < 0 ? std::conj(sample) : sample);
    }
  }
  return sum;
}

TEST(FourierGridding, GathersTheSamplesWhoseWindowsMeetACell) {
  with_each_instruction_set([] {
    for (const double accuracy : {1e-3, 1e-5}) {
      const auto plan = small_plan(accuracy);
      const Index numbers = static_cast<Index>(plan->rays.size()) * plan->samples() * floats_a_cell;
      Lines polar(numbers), cells(frequency_tile * frequency_tile * floats_a_cell);
      fill_random(polar.data(), numbers);
      for (const FrequencyTile& tile : plan->tiles) {
        gather_tile(*plan, tile, polar.data(), cells.data());
        for (int x = 0; x < frequency_tile; x += 3)
          for (int y = 0; y < frequency_tile; y += 5) {
            const Index lane = (x + y) % lanes;
            const Complex found = in_lane(cells.data() + (x * frequency_tile + y) * floats_a_cell, lane);
            ASSERT_LE(std::abs(found - cell_of(*plan, tile, polar.data(), tile.x + x, tile.y + y, lane)),
                      tolerance::gridded)
                << tile.x + x << ' ' << tile.y + y << ' ' << lane;
          }
      }
    }
  });
}

/// About another axis samples lie where they lay. Once a plan is forgotten, it is made from the beginning.
TEST(FourierPlans, AreTheSameAboutAnyAxis) {
  const auto numbers = [](const FourierPlan& plan) {
    std::vector<double> all(plan.gain_x.begin(), plan.gain_x.end());
    for (const Ray& ray : plan.rays) all.insert(all.end(), {ray.step_x, ray.step_y});
    for (const FrequencyTile& tile : plan.tiles)
      for (std::size_t k = tile.first_run; k < tile.last_run; ++k)
        for (const int number : {tile.x, tile.y, plan.runs[k].view, plan.runs[k].first, plan.runs[k].last,
                                 plan.runs[k].sign, plan.runs[k].shift_x, plan.runs[k].shift_y})
          all.push_back(number);
    return all;
  };
  const auto moved = small_plan(1e-4, 9.3);
  EXPECT_EQ(moved, small_plan(1e-4, 10.1));
  for (const Index width : {18, 19, 20}) small_plan(1e-4, 10.1, width);  // no more plans than these are kept
  const auto anew = small_plan(1e-4, 10.1);
  ASSERT_NE(moved, anew);
  EXPECT_EQ(numbers(*moved), numbers(*anew));
}

}  // namespace
}  // namespace tandem::kernels::cpu
