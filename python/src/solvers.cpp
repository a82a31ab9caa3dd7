#include <cstring>
#include <thread>
#include <tuple>
#include <variant>

#include "../../core/error.hpp"
#include "../../core/names.hpp"
#include "../../operators/random.hpp"
#include "../../operators/vector.hpp"
#include "../../solvers/run.hpp"
#include "../../solvers/solver_kind.hpp"
#include "bindings.hpp"
#include "equations.hpp"

namespace tandem::python {

namespace {

/// What a caller asks of a solver beside its vectors.
struct Asked {
  std::vector<std::pair<std::string, float>> numbers;
  Bounds bounds;
  std::optional<Regulariser> regulariser;
  std::vector<float> weights;
  float tikhonov_weight;
  bool gcv;  ///< whether it takes a follower along, which tells what noise does to it
};

/// A solver with a follower, which makes the same steps from signs.
AnySolver with_follower(const SolverKind& kind, SolverInput input) {
  const LinearOperator A = std::get<LinearOperator>(input.A);
  Stream& stream = default_stream(A.domain().device());
  Array signs(A.range(), stream);
  fill_with_signs(signs, 1, stream);
  SolverInput of_signs{A, signs.clone(stream), zeros(A.domain(), stream)};
  of_signs.numbers = input.numbers;
  std::tie(input.sums, of_signs.sums) = Sums::leader_and_follower();
  AnySolver solver = kind.solver(std::move(input));
  solver.lead(kind.solver(std::move(of_signs)), std::move(signs));
  return solver;
}

using Equation = std::variant<LinearOperator, Subsets>;

Space domain_of(const Equation& A) {
  return std::visit([](const auto& some) { return some.domain(); }, A);
}

/// A solver with its stream, which is the stream of the caller when the solver was made.
class Solver {
 public:
  Solver(const SolverKind& kind, const Equation& A, const Space& range, const Given& given,
         const Asked& asked)
      : stream_(stream_of_caller(range.device(), given.native, given.keeper)), on_device_(range.device()) {
    const Space domain = domain_of(A);
    const Released released;
    const OnStream on(stream_);
    const EndedBySignals signals(on_device_, domain.size() + range.size());
    SolverInput input{A, copied("b", range, given.b, stream_),
                      given.x0 ? copied("x0", domain, given.x0, stream_) : zeros(domain, stream_)};
    if (given.data_weights) input.data_weights = copied("data_weights", range, given.data_weights, stream_);
    if (given.blank) input.blank = copied("blank", range, given.blank, stream_);
    input.bounds = with_given(asked.bounds, domain, given, stream_);
    for (const auto& [name, value] : asked.numbers) input.numbers[name] = value;
    input.regulariser = asked.regulariser;
    input.weights = asked.weights;
    input = weighed(kind, std::move(input), asked.tikhonov_weight);
    solver_ = std::make_shared<AnySolver>(asked.gcv ? with_follower(kind, std::move(input))
                                                    : kind.solver(std::move(input)));
  }

  ~Solver() {
    const OnDevice on(on_device_);
    solver_.reset();
  }
  Solver(Solver&&) = delete;

  /// Calls work(solver, stream) on the solver's stream, in the order of the caller's one.
  template <class Work>
  auto on_its_stream(Address native, const Work& work) {
    require<DeviceError>(std::this_thread::get_id() == thread_,
                         "solver: it was made by another thread; make and use a solver in one thread");
    const Released released;
    const Stream callers = stream_of_caller(on_device_, native);
    const OnStream on(stream_);
    const bool two = callers.native() != stream_.native();
    if (two) let_wait(stream_, callers);
    if constexpr (std::is_void_v<decltype(work(*solver_, stream_))>) {
      work(*solver_, stream_);
      if (two) let_wait(callers, stream_);
    } else {
      auto result = work(*solver_, stream_);
      if (two) let_wait(callers, stream_);
      return result;
    }
  }

  const std::vector<double>& residual_norms() const { return solver_->residual_norms(); }
  std::weak_ptr<AnySolver> watched() const { return solver_; }
  int steps = 0;  ///< that it has made

 private:
  static void let_wait(const Stream& stream, const Stream& other) {
    Event passed(stream.device());
    passed.record(other);
    stream.wait(passed);
  }

  Stream stream_;
  Device on_device_;
  std::thread::id thread_ = std::this_thread::get_id();
  std::shared_ptr<AnySolver> solver_;
};

/// A rule asks its solver, which may be gone.
std::shared_ptr<AnySolver> still_there(const std::weak_ptr<AnySolver>& solver) {
  const std::shared_ptr<AnySolver> there = solver.lock();
  require<SpaceError>(there != nullptr, "stop rule: the solver that it was made for is gone; make it anew");
  return there;
}

/// Kinds, and how a class of Python makes a solver of its kind.
void add_kinds(nb::module_& m) {
  nb::class_<SolverKind>(m, "SolverKind")
      .def_prop_ro("name", [](const SolverKind& kind) { return std::string(kind.name); })
      .def_prop_ro("class_name", [](const SolverKind& kind) { return std::string(kind.class_name); })
      .def_prop_ro("help", [](const SolverKind& kind) { return std::string(kind.help); })
      .def_prop_ro("docs", [](const SolverKind& kind) { return std::string(kind.docs); })
      .def_prop_ro("options",
                   [](const SolverKind& kind) {
                     return std::vector<std::string>(kind.options.begin(), kind.options.end());
                   })
      .def_prop_ro("numbers",
                   [](const SolverKind& kind) {
                     return std::vector<std::pair<std::string, float>>(kind.numbers.begin(),
                                                                       kind.numbers.end());
                   })
      .def_ro("bounds", &SolverKind::bounds)
      .def_ro("takes_blank", &SolverKind::takes_blank)
      .def_ro("iterations", &SolverKind::iterations)
      .def_ro("updates", &SolverKind::updates)
      .def_prop_ro("by_subsets", [](const SolverKind& kind) { return kind.subsets != nullptr; })
      .def_prop_ro("needs_matched", [](const SolverKind& kind) { return kind.pair == NeededPair::matched; })
      .def_prop_ro("leads", [](const SolverKind& kind) { return kind.leads(); })
      .def_prop_ro("tells_objective", [](const SolverKind& kind) { return kind.tells.objective; })
      .def_prop_ro("tells_gap", [](const SolverKind& kind) { return kind.tells.gap; });
  m.def(
      "solver_kinds",
      [] {
        std::vector<const SolverKind*> all;
        for (const SolverKind& kind : solver_kinds()) all.push_back(&kind);
        return all;
      },
      nb::rv_policy::reference);
  nb::class_<Asked>(m, "Asked")
      .def(nb::new_([](std::vector<std::pair<std::string, float>> numbers, const Bounds& bounds,
                       std::optional<Regulariser> regulariser, std::vector<float> weights,
                       float tikhonov_weight, bool gcv) {
             return Asked{std::move(numbers), bounds,          std::move(regulariser),
                          std::move(weights), tikhonov_weight, gcv};
           }),
           "numbers"_a, "bounds"_a, "regulariser"_a.none(), "weights"_a, "tikhonov_weight"_a, "gcv"_a);
}

/// Iteration, |b - Ax| of each block now and at the start, and seconds.
using Seen = std::tuple<int, std::vector<double>, std::vector<double>, double>;

Seen seen(const Progress& now) {
  return {now.iteration,
          {now.residuals.begin(), now.residuals.end()},
          {now.first.begin(), now.first.end()},
          now.seconds};
}

Report run_solver(Solver& solver, const StopRule& stop, const std::function<void(Seen)>& observe,
                  Address native) {
  const int before = solver.steps;
  return solver.on_its_stream(native, [&](AnySolver& s, Stream&) {
    return run(s, stop, [&](const Progress& now) {
      solver.steps = before + now.iteration;
      raise_if_signalled();
      if (observe) observe(seen(now));
    });
  });
}

StopRule rule_of(const std::string& name, std::function<bool(Seen, std::size_t)> holds) {
  return {name, [holds = std::move(holds)](const Progress& now, std::size_t block) {
            return holds(seen(now), block);
          }};
}

Report report_of(int iterations, std::vector<int> block_iterations, std::vector<std::string> stopped_by,
                 std::vector<double> residuals) {
  return {iterations, std::move(block_iterations), std::move(stopped_by), std::move(residuals)};
}

/// The bytes of a part on the host. A vector lies on the CPU.
std::span<std::byte> bytes_of(const StatePart& part) {
  if (const auto* bytes = std::get_if<std::span<std::byte>>(&part.value)) return *bytes;
  const auto& vector = std::get<VectorView>(part.value);
  return std::as_writable_bytes(std::span(vector.data, vector.space.size()));
}

/// What steps have changed, by names, and how many there were.
std::pair<int, std::vector<std::pair<std::string, nb::bytes>>> state_of(Solver& solver) {
  const SolverState state = solver.on_its_stream(0, [](AnySolver& s, Stream&) { return s.state().value(); });
  std::vector<std::pair<std::string, nb::bytes>> parts;
  for (const StatePart& part : state) {
    const std::span<std::byte> bytes = bytes_of(part);
    parts.emplace_back(part.name, nb::bytes(bytes.data(), bytes.size()));
  }
  return {solver.steps, std::move(parts)};
}

/// Goes on from the state of the same solver after so many steps.
void set_state(Solver& solver, int steps, const std::vector<std::pair<std::string, nb::bytes>>& parts) {
  const SolverState state = solver.on_its_stream(0, [&](AnySolver& s, Stream&) {
    s.make_room(steps);
    return s.state().value();
  });
  bool fits = state.size() == parts.size();
  for (std::size_t k = 0; fits && k < parts.size(); ++k)
    fits = state[k].name == parts[k].first && bytes_of(state[k]).size() == parts[k].second.size();
  require<SpaceError>(fits, "solver: the stored state is of another solver or problem");
  for (std::size_t k = 0; k < parts.size(); ++k)
    std::memcpy(bytes_of(state[k]).data(), parts[k].second.data(), parts[k].second.size());
  solver.steps = steps;
}

void add_rules(nb::module_& m) {
  nb::class_<StopRule>(
      m, "StopRule", nb::dynamic_attr(),
      "A named predicate on one block of a solver's problem. Rules are joined with |, and the report "
      "says which one held.")
      .def_ro("name", &StopRule::name, "As `Report.stopped_by` has it.")
      .def(
          "__or__", [](const StopRule& a, const StopRule& b) { return a || b; }, nb::is_operator())
      .def("__bool__", [](const StopRule& rule) -> bool {
        throw nb::type_error(("stop rule " + rule.name +
                              ": `or` would keep one of two rules; join them with |, as in rule | other")
                                 .c_str());
      });
  m.def("max_iterations", &max_iterations, "count"_a, "Stops after so many steps.");
  m.def("relative_residual", &relative_residual, "epsilon"_a, "|b - Ax| <= epsilon |b - A x0|.");
  m.def("discrepancy", &discrepancy, "noise_norms"_a, "factor"_a = 1.0,
        "The rule of Morozov, |b - Ax| <= factor * noise, with one noise norm for each block.");
  m.def("time_limit", &time_limit, "seconds"_a, "Stops after the step during which so much time is over.");
  m.def("divergence", &divergence, "data_norms"_a, "|b - Ax| has grown tenfold, or is not finite.");
  m.def("white_residual", &white_residual,
        "Stops when the residual looks the most like white noise. For one run.");
  m.def("rule_of", &rule_of);
  m.def("stagnation", [](Solver& solver, const std::vector<Index>& data, Address native) {
    return solver.on_its_stream(native, [&](AnySolver& s, Stream&) {
      require<GeometryError>(
          s.tells_its_reach(), "stagnation: this solver does not tell what noise does to it; take one of ",
          joined(solver_kinds(), ", ",
                 [](const SolverKind& kind) { return kind.tells.reach ? kind.class_name : ""; }));
      return stagnation(s.traces(), data);
    });
  });
  m.def("gcv", [](const Solver& solver, const std::vector<Index>& data, double factor) {
    const auto freedom = [solver = solver.watched()] { return still_there(solver)->degrees_of_freedom(); };
    return cross_validation(freedom, data, factor);
  });
  m.def("duality_gap", [](const Solver& solver, double epsilon) {
    return duality_gap([solver = solver.watched()] { return still_there(solver)->gaps(); }, epsilon);
  });
  m.def("settled", [](const Solver& solver, double epsilon) {
    return settled([solver = solver.watched()] { return still_there(solver)->distances(); }, epsilon);
  });
  m.def("report_of", &report_of);
  nb::class_<Report>(m, "Report", "How a run went.")
      .def_ro("iterations", &Report::iterations, "Of the block that took the most.")
      .def_ro("block_iterations", &Report::block_iterations,
              "Steps of each block (slice of a parallel beam).")
      .def_ro("stopped_by", &Report::stopped_by, "The name of the rule, one per block.")
      .def_ro("residuals", &Report::residuals, "|b - Ax| over all blocks, before each step and at the end.");
}

}  // namespace

void add_solvers(nb::module_& m) {
  nb::class_<Given>(m, "Given")
      .def(nb::new_([](Address b, Address x0, Address data_weights, Address blank, Address other,
                       Address lowest, Address highest, Address native, nb::object keeper) {
             return Given{b, x0, data_weights, blank, other, lowest, highest, native, std::move(keeper)};
           }),
           "b"_a, "x0"_a, "data_weights"_a, "blank"_a, "other"_a, "lowest"_a, "highest"_a, "native"_a,
           "keeper"_a.none());
  nb::class_<Subsets>(m, "Subsets", "An operator in parts, each of which takes some of the views.")
      .def(nb::init<std::vector<LinearOperator>, std::vector<std::vector<Index>>>())
      .def_prop_ro("count", &Subsets::count)
      .def_prop_ro("domain", &Subsets::domain);
  add_kinds(m);
  nb::class_<Solver>(m, "Solver")
      .def(nb::new_([](const SolverKind& kind, const Equation& A, const Space& range, const Given& given,
                       const Asked& asked) { return new Solver(kind, A, range, given, asked); }),
           "kind"_a, "A"_a, "range"_a, "given"_a, "asked"_a)
      .def("step",
           [](Solver& solver, const std::vector<bool>& active, Address native) {
             solver.on_its_stream(native, [&](AnySolver& s, Stream&) { s.step(active); });
             ++solver.steps;
           })
      .def("state", &state_of)
      .def("set_state", &set_state)
      .def("gap",
           [](Solver& solver, Address native) {
             return solver.on_its_stream(native, [](AnySolver& s, Stream&) { return s.gaps(); });
           })
      .def("objective",
           [](Solver& solver, Address native) {
             return solver.on_its_stream(native, [](AnySolver& s, Stream&) { return s.objective(); });
           })
      .def("residual_norms", &Solver::residual_norms)
      .def("copy_solution", [](Solver& solver, Address to, Address native) {
        solver.on_its_stream(native, [&](AnySolver& s, Stream& stream) {
          copy(s.solution(), lent(to, s.solution().space()), stream);
        });
      });
  add_rules(m);
  m.def("run", &run_solver, "solver"_a, "stop"_a, "observe"_a.none(), "native"_a);
}

}  // namespace tandem::python
