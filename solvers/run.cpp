#include "run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "../core/error.hpp"
#include "../operators/periodogram.hpp"

namespace tandem {

namespace {

template <class Work>
void for_each_rule(const StopRule& stop, const Work& work) {
  work(stop);
  for (const StopRule& other : stop.others) for_each_rule(other, work);
}

/// A rule that holds one step after the first minimum of a measure, which has one number per block. The start
/// is no candidate, since it need not be near any solution. It keeps the last iteration and its numbers.
StopRule past_the_least(std::string name, std::function<std::vector<double>(const Progress&)> measure) {
  const auto kept = std::make_shared<std::vector<double>>();
  const auto holds = [measure = std::move(measure), kept, before = std::make_shared<std::vector<double>>()](
                         const Progress& now, std::size_t block) {
    if (now.iteration == 0) return false;
    if (kept->empty() || kept->front() != now.iteration) {
      std::vector<double> numbers = measure(now);
      numbers.insert(numbers.begin(), now.iteration);
      *before = std::exchange(*kept, std::move(numbers));
    }
    return !before->empty() && (*kept)[block + 1] > (*before)[block + 1];
  };
  return {std::move(name), holds, {}, kept};
}

void require_from_zero(const char* rule, const char* name, double value) {
  require<GeometryError>(value >= 0, rule, ": ", name, " ", value, "; a number from 0 on is needed");
}

void require_from_zero(const char* rule, const char* name, const std::vector<double>& values) {
  for (const double value : values) require_from_zero(rule, name, value);
}

void require_data(const char* rule, const std::vector<Index>& data) {
  for (const Index count : data)
    require<GeometryError>(count > 0, rule, ": data ", count, "; a count of data above 0 is needed");
}

/// Holds when a number of the block is at most a limit. The numbers are asked for at every so many steps.
StopRule at_most(std::string name, int every, std::function<std::vector<double>()> numbers, double limit) {
  struct State {
    int iteration = -1;
    std::vector<double> numbers;
  };
  const auto holds = [numbers = std::move(numbers), every, limit, state = std::make_shared<State>()](
                         const Progress& now, std::size_t block) {
    if (now.iteration % every != 0) return false;
    if (now.iteration != state->iteration) *state = {now.iteration, numbers()};
    return state->numbers[block] <= limit;
  };
  return {std::move(name), holds};
}

}  // namespace

StopRule operator||(StopRule a, StopRule b) {
  a.others.push_back(std::move(b));
  return a;
}

StopRule max_iterations(int count) {
  require_from_zero("max_iterations", "count", count);
  return {"max_iterations", [count](const Progress& now, std::size_t) { return now.iteration >= count; }};
}

StopRule relative_residual(double epsilon) {
  require_from_zero("relative_residual", "epsilon", epsilon);
  return {"relative_residual", [epsilon](const Progress& now, std::size_t block) {
            return now.residuals[block] <= epsilon * now.first[block];
          }};
}

StopRule discrepancy(std::vector<double> noise_norms, double factor) {
  require_from_zero("discrepancy", "noise_norms", noise_norms);
  require_from_zero("discrepancy", "factor", factor);
  return {"discrepancy", [noise = std::move(noise_norms), factor](const Progress& now, std::size_t block) {
            require<SpaceError>(block < noise.size(), "discrepancy: ", noise.size(), " noise norms for ",
                                now.residuals.size(), " blocks; give one per block");
            return now.residuals[block] <= factor * noise[block];
          }};
}

StopRule stagnation(std::vector<double> traces, std::vector<Index> data) {
  constexpr double of_noise = 1.5;
  require_data("stagnation", data);
  require<SpaceError>(traces.size() == data.size(), "stagnation: ", traces.size(), " traces and ",
                      data.size(), " counts of data; give one of each per block");
  const auto holds = [traces = std::move(traces), data = std::move(data)](const Progress& now,
                                                                          std::size_t block) {
    require<SpaceError>(block < traces.size() && traces.size() == now.falls.size(),
                        "stagnation: ", traces.size(), " traces for ", now.falls.size(),
                        " blocks of a solver that tells its reach; give one per block");
    const double variance = now.residuals[block] * now.residuals[block] / data[block];
    return now.iteration > 0 && now.falls[block] <= of_noise * traces[block] * variance;
  };
  return {"stagnation", holds};
}

StopRule cross_validation(std::function<std::vector<double>()> freedom, std::vector<Index> data,
                          double factor) {
  require_data("cross_validation", data);
  require_from_zero("cross_validation", "factor", factor);
  return past_the_least("gcv", [freedom = std::move(freedom), data = std::move(data),
                                factor](const Progress& now) {
    std::vector<double> measure = freedom();
    require<SpaceError>(measure.size() == data.size() && data.size() == now.residuals.size(),
                        "cross_validation: ", measure.size(), " degrees of freedom and ", data.size(),
                        " counts of data for ", now.residuals.size(), " blocks; give one of each per block");
    for (std::size_t k = 0; k < data.size(); ++k) {
      const double rest = data[k] - factor * measure[k];
      measure[k] = rest > 0 ? std::pow(now.residuals[k] / rest, 2) : INFINITY;
    }
    return measure;
  });
}

StopRule white_residual() {
  return past_the_least("ncp", [](const Progress& now) {
    require<SpaceError>(now.residual, "white_residual: the solver does not show its residual");
    return distance_from_white(*now.residual, default_stream(now.residual->space().device()));
  });
}

StopRule watched(const StopRule& rule) {
  const auto first = std::make_shared<std::vector<double>>();
  const auto never = [](const Progress&, std::size_t) { return false; };
  const auto look = [first, rule](const Progress& now, std::size_t block) {
    if (first->size() <= block) first->resize(block + 1, -1);
    if ((*first)[block] < 0 && !held(rule, now, block).empty()) (*first)[block] = now.iteration;
    return false;
  };
  StopRule watch{"watched", look, {}, first};
  for_each_rule(rule, [&](const StopRule& one) {  // what it keeps goes into check-points too
    if (one.kept) watch.others.push_back({one.name, never, {}, one.kept});
  });
  return watch;
}

StopRule duality_gap(std::function<std::vector<double>()> gaps, double epsilon) {
  require_from_zero("duality_gap", "epsilon", epsilon);
  return at_most("gap", 10, std::move(gaps), epsilon);
}

StopRule settled(std::function<std::vector<double>()> distances, double epsilon) {
  require_from_zero("settled", "epsilon", epsilon);
  return at_most("settled", 5, std::move(distances), epsilon);
}

StopRule time_limit(double seconds) {
  require_from_zero("time_limit", "seconds", seconds);
  return {"time_limit", [seconds](const Progress& now, std::size_t) { return now.seconds >= seconds; }};
}

StopRule divergence(std::vector<double> data_norms) {
  require_from_zero("divergence", "data_norms", data_norms);
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

std::vector<std::vector<double>> kept_by(const StopRule& stop) {
  std::vector<std::vector<double>> all;
  for_each_rule(stop, [&](const StopRule& rule) {
    if (rule.kept) all.push_back(*rule.kept);
  });
  return all;
}

void keep(const StopRule& stop, const std::vector<std::vector<double>>& of_rules) {
  std::size_t next = 0;
  for_each_rule(stop, [&](const StopRule& rule) {
    if (rule.kept) *rule.kept = next < of_rules.size() ? of_rules[next++] : std::vector<double>{};
  });
}

double joint_norm(std::span<const double> norms) {
  double sum = 0;
  for (double n : norms) sum += n * n;
  return std::sqrt(sum);
}

}  // namespace tandem
