#include <thread>

#include "../../core/error.hpp"
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
#include "../../solvers/weight/weight_search.hpp"
#include "bindings.hpp"

namespace tandem::python {

namespace {

/// The vectors that a solver starts with, at addresses of the caller. x0 at 0: zeros; `beside` at 0: none.
struct Given {
  Address b, x0, beside, native;
  std::string beside_name;  ///< name of the vector beside b
  nb::object keeper;
};

/// A solver with its stream, which is the stream of the caller when the solver was made.
class Solver {
 public:
  /// `make(b, x0, beside)` makes the solver from copies of what is given.
  template <class Make>
  Solver(const Space& domain, const Space& range, const Given& given, const Make& make)
      : stream_(stream_of_caller(domain.device(), given.native, given.keeper)), on_device_(domain.device()) {
    const Released released;
    const OnStream on(stream_);
    Array b = copied("b", range, given.b),
          x0 = given.x0 ? copied("x0", domain, given.x0) : zeros(domain, stream_);
    std::optional<Array> beside;
    if (given.beside) beside = copied(given.beside_name.c_str(), range, given.beside);
    solver_.emplace(make(std::move(b), std::move(x0), std::move(beside)));
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

 private:
  static void let_wait(const Stream& stream, const Stream& other) {
    Event passed(stream.device());
    passed.record(other);
    stream.wait(passed);
  }

  Array copied(const char* name, const Space& space, Address at) {
    Array own(space, stream_);
    copy(lent(at, space), own, stream_);
    Index bad = 0;
    for (const Index count : count_not_finite(own, stream_)) bad += count;
    require<GeometryError>(bad == 0, name, ": ", bad, " of ", space.size(),
                           " values are NaN or infinite; replace them before they enter a solver");
    return own;
  }

  Stream stream_;
  Device on_device_;
  std::thread::id thread_ = std::this_thread::get_id();
  std::optional<pipeline::AnySolver> solver_;
};

/// A solver that needs only A, b and x0.
template <class S, class... Options>
Solver* plain(const LinearOperator& A, const Given& given, Options... options) {
  return new Solver(A.domain(), A.range(), given, [&](Array b, Array x0, const std::optional<Array>&) {
    return S(A, std::move(b), std::move(x0), options...);
  });
}

/// A solver that goes through subsets of the views.
template <class S, class... Options>
Solver* by_subsets(const Subsets& A, const Space& range, const Given& given, Options... options) {
  return new Solver(A.domain(), range, given, [&](Array b, Array x0, const std::optional<Array>&) {
    return S(A, std::move(b), std::move(x0), options...);
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

template <class S>
void add_plain(nb::module_& m, const char* name) {
  m.def(name, [](const LinearOperator& A, const Given& given) { return plain<S>(A, given); });
}

void add_kinds(nb::module_& m) {
  add_plain<Cgls>(m, "Cgls");
  add_plain<Lsqr>(m, "Lsqr");
  add_plain<Lsmr>(m, "Lsmr");
  add_plain<BaGmres>(m, "BaGmres");
  add_plain<Mlem>(m, "Mlem");
  m.def("Sirt", [](const LinearOperator& A, const Given& given, float relaxation, const Bounds& bounds) {
    return plain<Sirt>(A, given, SirtOptions{relaxation, bounds});
  });
  m.def("Landweber", [](const LinearOperator& A, const Given& given, float relaxation, const Bounds& bounds) {
    return plain<Landweber>(A, given, LandweberOptions{relaxation, bounds});
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
  return solver.on_its_stream(native, [&](pipeline::AnySolver& s, Stream&) {
    return run(s, stop, [&](const Progress& now) {
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
  nb::class_<Report>(m, "Report", "How a run went.")
      .def_ro("iterations", &Report::iterations, "Of the block that took the most.")
      .def_ro("block_iterations", &Report::block_iterations,
              "Steps of each block (slice of a parallel beam).")
      .def_ro("stopped_by", &Report::stopped_by, "The name of the rule, one per block.")
      .def_ro("residuals", &Report::residuals, "|b - Ax| over all blocks, before each step and at the end.");
}

void add_regularisers(nb::module_& m) {
  nb::class_<Regulariser>(m, "Regulariser", "A convex function of a volume that Pdhg and Fista keep small.");
  m.def("total_variation", &total_variation, "volume"_a, "scales"_a = std::array<float, 3>{1, 1, 1},
        "The sum of the lengths of the gradient; scales: factors of differences along (slice, y, x).");
  m.def("huber_total_variation", &huber_total_variation, "volume"_a, "threshold"_a,
        "scales"_a = std::array<float, 3>{1, 1, 1},
        "The same, with squares below a threshold: no staircases.");
  nb::class_<Bounds>(m, "Bounds", "Values between which a solver keeps all voxels.")
      .def(nb::new_([](float lowest, float highest) {
             return Bounds{lowest, highest};
           }),
           "lowest"_a = Bounds{}.lowest, "highest"_a = Bounds{}.highest)
      .def_ro("lowest", &Bounds::lowest, "Of any voxel, in the unit of the volume.")
      .def_ro("highest", &Bounds::highest, "Likewise.");
  m.attr("above_zero") = nb::cast(above_zero);
  nb::class_<Subsets>(m, "Subsets", "An operator in parts, each of which takes some of the views.")
      .def(nb::init<std::vector<LinearOperator>, std::vector<std::vector<Index>>>())
      .def_prop_ro("count", &Subsets::count)
      .def_prop_ro("domain", &Subsets::domain);
}

}  // namespace

void add_solvers(nb::module_& m) {
  nb::class_<Given>(m, "Given")
      .def(nb::new_([](Address b, Address x0, Address beside, Address native, std::string beside_name,
                       nb::object keeper) {
             return Given{b, x0, beside, native, std::move(beside_name), std::move(keeper)};
           }),
           "b"_a, "x0"_a, "beside"_a, "native"_a, "beside_name"_a, "keeper"_a.none());
  add_regularisers(m);
  nb::class_<Solver>(m, "Solver")
      .def("step",
           [](Solver& solver, const std::vector<bool>& active, Address native) {
             solver.on_its_stream(native, [&](pipeline::AnySolver& s, Stream&) { s.step(active); });
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
