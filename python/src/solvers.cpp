#include <cstring>
#include <thread>

#include "../../core/error.hpp"
#include "../../operators/random.hpp"
#include "../../operators/vector.hpp"
#include "../../pipeline/methods/any_solver.hpp"
#include "../../solvers/ba_gmres.hpp"
#include "../../solvers/cgls.hpp"
#include "../../solvers/fista.hpp"
#include "../../solvers/landweber.hpp"
#include "../../solvers/lsmr.hpp"
#include "../../solvers/lsqr.hpp"
#include "../../solvers/mlem.hpp"
#include "../../solvers/mltr.hpp"
#include "../../solvers/os_sirt.hpp"
#include "../../solvers/osem.hpp"
#include "../../solvers/pdhg.hpp"
#include "../../solvers/sirt.hpp"
#include "bindings.hpp"
#include "equations.hpp"

namespace tandem::python {

namespace {

/// A solver with its stream, which is the stream of the caller when the solver was made.
class Solver {
 public:
  /// `make(b, x0, beside)` makes the solver from copies of what is given.
  template <class Make>
  Solver(const Space& domain, const Space& range, const Given& given, const Make& make)
      : stream_(stream_of_caller(domain.device(), given.native, given.keeper)), on_device_(domain.device()) {
    const Released released;
    const OnStream on(stream_);
    const EndedBySignals signals(on_device_, domain.size() + range.size());
    Array b = copied("b", range, given.b, stream_),
          x0 = given.x0 ? copied("x0", domain, given.x0, stream_) : zeros(domain, stream_);
    std::optional<Array> beside;
    if (given.beside) beside = copied(given.beside_name, range, given.beside, stream_);
    solver_ = std::make_shared<pipeline::AnySolver>(make(std::move(b), std::move(x0), std::move(beside)));
  }

  ~Solver() {
    const OnDevice on(on_device_);
    solver_.reset();
  }
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

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
  std::weak_ptr<pipeline::AnySolver> watched() const { return solver_; }
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
  std::shared_ptr<pipeline::AnySolver> solver_;
};

/// A rule asks its solver, which may be gone.
std::shared_ptr<pipeline::AnySolver> still_there(const std::weak_ptr<pipeline::AnySolver>& solver) {
  const std::shared_ptr<pipeline::AnySolver> there = solver.lock();
  require<SpaceError>(there != nullptr, "stop rule: the solver that it was made for is gone; make it anew");
  return there;
}

/// A solver that needs A, b and x0 alone, and perhaps data weights.
template <class S, class... Options>
Solver* plain(const LinearOperator& A, const Given& given, Rows rows, Options... options) {
  return new Solver(A.domain(), A.range(), given, [&](Array b, Array x0, std::optional<Array> weights) {
    Stream& stream = default_stream(A.domain().device());
    auto equations = weighed(A, std::move(b), std::move(weights), rows, 0, stream);
    return S(std::move(equations.A), std::move(equations.b), std::move(x0), options...);
  });
}

/// A solver that may be damped, and that may take a follower along, which tells what noise does to it: it
/// makes the same steps from signs.
template <class S>
Solver* in_krylov_space(const LinearOperator& A, const Given& given, float tikhonov_weight, bool gcv) {
  return new Solver(A.domain(), A.range(), given, [&](Array b, Array x0, std::optional<Array> weights) {
    Stream& stream = default_stream(A.domain().device());
    auto equations = weighed(A, std::move(b), std::move(weights), Rows::by_roots, tikhonov_weight, stream);
    if (!gcv) return pipeline::AnySolver(S(std::move(equations.A), std::move(equations.b), std::move(x0)));
    auto [leads, follows] = Sums::leader_and_follower();
    pipeline::AnySolver solver(S(equations.A, std::move(equations.b), std::move(x0), std::move(leads)));
    Array signs(equations.A.range(), stream);
    fill_with_signs(signs, 1, stream);
    pipeline::AnySolver follower(
        S(equations.A, signs.clone(stream), zeros(A.domain(), stream), std::move(follows)));
    solver.lead(std::move(follower), std::move(signs));
    return solver;
  });
}

/// A solver that goes through subsets of the views.
template <class S, class... Options>
Solver* by_subsets(const Subsets& A, const Space& range, const Given& given, Options... options) {
  return new Solver(A.domain(), range, given, [&](Array b, Array x0, std::optional<Array> weights) {
    auto equations = weighed(A, std::move(b), std::move(weights), default_stream(range.device()));
    return S(std::move(equations.A), std::move(equations.b), std::move(x0), options...);
  });
}

/// A solver of data with weights and a regulariser.
template <class S, class Options>
Solver* regularised(const LinearOperator& A, const Given& given, const Regulariser& regulariser,
                    const std::vector<float>& weights, const Options& options) {
  return new Solver(A.domain(), A.range(), given, [&](Array b, Array x0, std::optional<Array> data_weights) {
    return S(A, std::move(b), std::move(x0), regulariser, weights, std::move(data_weights), options);
  });
}

void add_kinds(nb::module_& m) {
  m.def("Cgls", &in_krylov_space<Cgls>);
  m.def("Lsqr", &in_krylov_space<Lsqr>);
  m.def("Lsmr", &in_krylov_space<Lsmr>);
  m.def("BaGmres", &in_krylov_space<BaGmres>);
  m.def("Mlem",
        [](const LinearOperator& A, const Given& given) { return plain<Mlem>(A, given, Rows::by_weights); });
  m.def("Sirt", [](const LinearOperator& A, const Given& given, float relaxation, const Bounds& bounds) {
    return plain<Sirt>(A, given, Rows::by_weights, SirtOptions{relaxation, bounds});
  });
  m.def("Landweber", [](const LinearOperator& A, const Given& given, float relaxation, const Bounds& bounds) {
    return plain<Landweber>(A, given, Rows::by_roots, LandweberOptions{relaxation, bounds});
  });
  m.def("Mltr", [](const LinearOperator& A, const Given& given, const Bounds& bounds) {
    return new Solver(A.domain(), A.range(), given, [&](Array b, Array x0, std::optional<Array> blank) {
      return Mltr(A, std::move(b), std::move(blank.value()), std::move(x0), {bounds});
    });
  });
  m.def("Osem", [](const Subsets& A, const Space& range, const Given& given) {
    return by_subsets<Osem>(A, range, given);
  });
  m.def("OsSirt",
        [](const Subsets& A, const Space& range, const Given& given, float relaxation, const Bounds& bounds) {
          return by_subsets<OsSirt>(A, range, given, SirtOptions{relaxation, bounds});
        });
  m.def("Pdhg", [](const LinearOperator& A, const Given& given, const Regulariser& regulariser,
                   const std::vector<float>& weights, const Bounds& bounds, float relaxation, float balance) {
    return regularised<Pdhg>(A, given, regulariser, weights, PdhgOptions{bounds, relaxation, balance});
  });
  m.def("Fista", [](const LinearOperator& A, const Given& given, const Regulariser& regulariser,
                    const std::vector<float>& weights, const Bounds& bounds, int inner_steps) {
    return regularised<Fista>(A, given, regulariser, weights, FistaOptions{bounds, inner_steps});
  });
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
  return solver.on_its_stream(native, [&](pipeline::AnySolver& s, Stream&) {
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

/// The bytes of a part on the host. A vector lies on the CPU.
std::span<std::byte> bytes_of(const StatePart& part) {
  if (const auto* bytes = std::get_if<std::span<std::byte>>(&part.value)) return *bytes;
  const auto& vector = std::get<VectorView>(part.value);
  return std::as_writable_bytes(std::span(vector.data, static_cast<std::size_t>(vector.space.size())));
}

/// What steps have changed, by names, and how many there were.
std::pair<int, std::vector<std::pair<std::string, nb::bytes>>> state_of(Solver& solver) {
  const SolverState state =
      solver.on_its_stream(0, [](pipeline::AnySolver& s, Stream&) { return s.state().value(); });
  std::vector<std::pair<std::string, nb::bytes>> parts;
  for (const StatePart& part : state) {
    const std::span<std::byte> bytes = bytes_of(part);
    parts.emplace_back(part.name, nb::bytes(bytes.data(), bytes.size()));
  }
  return {solver.steps, std::move(parts)};
}

/// Goes on from the state of the same solver after so many steps.
void set_state(Solver& solver, int steps, const std::vector<std::pair<std::string, nb::bytes>>& parts) {
  const SolverState state = solver.on_its_stream(0, [&](pipeline::AnySolver& s, Stream&) {
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
      m, "StopRule",
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
    return solver.on_its_stream(native, [&](pipeline::AnySolver& s, Stream&) {
      require<GeometryError>(s.tells_its_reach(),
                             "stagnation: this solver does not tell what noise does to it; "
                             "take Cgls, Lsqr, Lsmr, BaGmres, Sirt or Landweber");
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
      .def(nb::new_([](Address b, Address x0, Address beside, Address native, std::string beside_name,
                       nb::object keeper) {
             return Given{b, x0, beside, native, std::move(beside_name), std::move(keeper)};
           }),
           "b"_a, "x0"_a, "beside"_a, "native"_a, "beside_name"_a, "keeper"_a.none());
  nb::class_<Subsets>(m, "Subsets", "An operator in parts, each of which takes some of the views.")
      .def(nb::init<std::vector<LinearOperator>, std::vector<std::vector<Index>>>())
      .def_prop_ro("count", &Subsets::count)
      .def_prop_ro("domain", &Subsets::domain);
  nb::class_<Solver>(m, "Solver")
      .def("step",
           [](Solver& solver, const std::vector<bool>& active, Address native) {
             solver.on_its_stream(native, [&](pipeline::AnySolver& s, Stream&) { s.step(active); });
             ++solver.steps;
           })
      .def("state", &state_of)
      .def("set_state", &set_state)
      .def("gap",
           [](Solver& solver, Address native) {
             return solver.on_its_stream(native, [](pipeline::AnySolver& s, Stream&) { return s.gaps(); });
           })
      .def("objective",
           [](Solver& solver, Address native) {
             return solver.on_its_stream(native,
                                         [](pipeline::AnySolver& s, Stream&) { return s.objective(); });
           })
      .def("residual_norms", &Solver::residual_norms)
      .def("copy_solution", [](Solver& solver, Address to, Address native) {
        solver.on_its_stream(native, [&](pipeline::AnySolver& s, Stream& stream) {
          copy(s.solution(), lent(to, s.solution().space()), stream);
        });
      });
  add_kinds(m);
  add_rules(m);
  m.def("run", &run_solver, "solver"_a, "stop"_a, "observe"_a.none(), "native"_a);
}

}  // namespace tandem::python
