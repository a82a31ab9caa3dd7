#include "run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "../core/error.hpp"
#include "../operators/periodogram.hpp"

namespace tandem {

StopRule operator||(StopRule a, StopRule b) {
  a.others.push_back(std::move(b));
  return a;
}

StopRule max_iterations(int count) {
  return {"max_iterations", [count](const Progress& now, std::size_t) { return now.iteration >= count; }};
}

StopRule relative_residual(double epsilon) {
  return {"relative_residual", [epsilon](const Progress& now, std::size_t block) {
            return now.residuals[block] <= epsilon * now.first[block];
          }};
}

StopRule discrepancy(std::vector<double> noise_norms, double factor) {
  return {"discrepancy", [noise = std::move(noise_norms), factor](const Progress& now, std::size_t block) {
            require<SpaceError>(block < noise.size(), "discrepancy: ", noise.size(), " noise norms for ",
                                now.residuals.size(), " blocks; give one per block");
            return now.residuals[block] <= factor * noise[block];
          }};
}

StopRule stagnation(std::vector<double> traces, std::vector<Index> data) {
  constexpr double of_noise = 1.5;
  require<SpaceError>(traces.size() == data.size(), "stagnation: ", traces.size(), " traces and ",
                      data.size(), " counts of data; give one of each per block");
  const auto holds = [traces = std::move(traces), data = std::move(data)](const Progress& now,
                                                                          std::size_t block) {
    require<SpaceError>(block < traces.size() && traces.size() == now.falls.size(),
                        "stagnation: ", traces.size(), " traces for ", now.falls.size(),
                        " blocks of a solver that tells its reach; give one per block");
    const double variance = now.residuals[block] * now.residuals[block] / static_cast<double>(data[block]);
    return now.iteration > 0 && now.falls[block] <= of_noise * traces[block] * variance;
  };
  return {"stagnation", holds};
}

StopRule white_residual() {
  struct State {
    int iteration = -1;
    std::vector<double> now, before;  // distances from white noise, one a block
  };
  const auto holds = [state = std::make_shared<State>()](const Progress& now, std::size_t block) {
    require<SpaceError>(now.residual, "white_residual: the solver does not show its residual");
    if (now.iteration != state->iteration) {
      state->iteration = now.iteration;
      state->before = std::move(state->now);
      state->now = distance_from_white(*now.residual, default_stream(now.residual->space().device()));
    }
    return !state->before.empty() && state->now[block] > state->before[block];
  };
  return {"ncp", holds};
}

StopRule duality_gap(std::function<std::vector<double>()> gaps, double epsilon) {
  struct State {
    int iteration = -1;
    std::vector<double> gaps;
  };
  constexpr int every = 10;
  const auto holds = [gaps = std::move(gaps), epsilon, state = std::make_shared<State>()](const Progress& now,
                                                                                          std::size_t block) {
    if (now.iteration % every != 0) return false;
    if (now.iteration != state->iteration) *state = {now.iteration, gaps()};
    return state->gaps[block] <= epsilon;
  };
  return {"gap", holds};
}

StopRule time_limit(double seconds) {
  return {"time_limit", [seconds](const Progress& now, std::size_t) { return now.seconds >= seconds; }};
}

StopRule divergence(std::vector<double> data_norms) {
  const auto holds = [norms = std::move(data_norms)](const Progress& now, std::size_t block) {
    require<SpaceError>(block < norms.size(), "divergence: ", norms.size(), " norms of data for ",
                        now.residuals.size(), " blocks; give one per block");
    return !(now.residuals[block] <= 10 * std::max(now.first[block], norms[block]));
  };
  return {"divergence", holds};
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string held(const StopRule& stop, const Progress& now, std::size_t block) {
  if (stop.holds(now, block)) return stop.name;
  for (const StopRule& other : stop.others)
    if (std::string name = held(other, now, block); !name.empty()) return name;
  return {};
}

double joint_norm(std::span<const double> norms) {
  double sum = 0;
  for (double n : norms) sum += n * n;
  return std::sqrt(sum);
}

}  // namespace tandem
