#pragma once

// A method that can be watched, and hindered, from a test.

#include <functional>
#include <string>
#include <utility>

#include "../../pipeline/methods/method.hpp"
#include "../../pipeline/methods/work.hpp"

namespace tandem::test {

/// A method that is another one, with something that happens on a worker just before it computes the volume
/// of some slices. There is one at a time, because a method is made by a function without data.
class Watched {
 public:
  using Before = std::function<void(const pipeline::Work& work, Range slices)>;

  Watched(const std::string& method, Before before) : method_(pipeline::method_named(method)) {
    inner_ = &pipeline::method_named(method);
    before_ = std::move(before);
    method_.begin = [](pipeline::Work& work) -> pipeline::Computation {
      return [&work, inner = inner_->begin(work)](const pipeline::Problem& problem,
                                                  pipeline::LineIntegrals data, Range slices) {
        before_(work, slices);
        return inner(problem, std::move(data), slices);
      };
    };
  }
  const pipeline::Method* method() const { return &method_; }

 private:
  static inline const pipeline::Method* inner_ = nullptr;
  static inline Before before_;
  pipeline::Method method_;
};

}  // namespace tandem::test
