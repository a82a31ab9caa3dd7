#include "method.hpp"

namespace tandem::pipeline::made {

Method os_sirt();

/// The method `os_sirt` with one view in each subset.
Method sart() {
  Method method = os_sirt();
  method.name = "sart";
  method.help = "os-sirt with one view a subset; with noise it needs a small {relaxation}";
  method.options = {"relaxation", "nonnegative", "bounds"};
  method.subsets = [](const MethodOptions&, Index views) { return views; };
  return method;
}

}  // namespace tandem::pipeline::made
