#include <cmath>

#include "../../core/error.hpp"
#include "step.hpp"
#include "stripes/stripe_method.hpp"

namespace tandem::pipeline {

namespace {

using stripes::Method;

const Option<OneOf>& chosen_method() {
  static const auto made = [] {
    std::vector<std::string> words{"none"};
    std::vector<StepOption> behind;
    for (const Method& method : stripes::methods()) {
      words.emplace_back(method.name);
      behind.insert(behind.end(), method.options.begin(), method.options.end());
    }
    return Option(stripes::chosen_by, "how to remove stripes, which become rings (default none)",
                  OneOf{words}, behind, "stripe removal");
  }();
  return made;
}

/// Null if stripes stay.
const Method* stripe_method_of(const StepValues& values) {
  const std::string name = chosen_method().of(values).value_or("none");
  for (const Method& method : stripes::methods())
    if (method.name == name) return &method;
  return nullptr;
}

/// An option of a method that was not chosen does nothing, so it is a mistake.
std::string stripes_conflict(const StepValues& values) {
  const Method* chosen = stripe_method_of(values);
  for (const Method& method : stripes::methods()) {
    if (&method == chosen) continue;
    for (const StepOption& option : method.options)
      if (option.is_given(values))
        return std::string(option.name) + " goes with " + stripes::words_of(method.name);
  }
  return chosen && chosen->conflict ? chosen->conflict(values) : "";
}

/// Works on a copy in memory of its own, because the views of a row lie far apart.
void remove_from(Sinogram& all, const stripes::Work& work) {
  stripes::Plane sinogram(all.y.n0, all.y.n2);
  for (Index view = 0; view < all.y.n0; ++view)
    std::copy_n(&all.y(view, all.row, 0), all.y.n2, sinogram.row(view));
  work(sinogram, all.notes);
  for (Index view = 0; view < all.y.n0; ++view) {
    const float* row = sinogram.row(view);
    require<FileError>(std::all_of(row, row + all.y.n2, [](float v) { return std::isfinite(v); }),
                       "stripes: view ", view, ", row ", all.reference.file_row(all.row),
                       ": a value is not finite after ", spelled(stripes::chosen_by),
                       "; choose another method");
    std::copy_n(row, all.y.n2, &all.y(view, all.row, 0));
  }
}

}  // namespace

Step stripes_step() {
  return {.name = "stripes",
          .help = "columns of the sinogram that differ from their neighbours in all views or many (rings)",
          .options = {chosen_method()},
          .needs_all_views = true,
          .heeds_axis =
              [](const Preprocessing& how) {
                const Method* method = stripe_method_of(how.values);
                return method && method->heeds_axis;
              },
          .on_gpu = [](const Preprocessing& how) -> GpuWork {
            const Method* method = stripe_method_of(how.values);
            return method && method->on_gpu ? method->on_gpu(how) : GpuWork{};
          },
          .gpu_bytes =
              [](const Preprocessing& how, Shape shape) {
                const Method* method = stripe_method_of(how.values);
                return method->gpu_bytes ? method->gpu_bytes(how, shape) : 0.0;
              },
          .on_sinogram = [](const Preprocessing& how) -> SinogramWork {
            const Method* method = stripe_method_of(how.values);
            if (!method) return {};
            return [work = method->begin(how)](Sinogram& all) {
              remove_from(all, work);
              return Index{0};
            };
          },
          .bytes_a_thread =
              [](const Preprocessing& how, Shape shape) {
                return (1 + stripe_method_of(how.values)->planes) * 4.0 * (shape[0] * shape[2]);
              },
          .conflict = stripes_conflict,
          .kind = [](const Preprocessing& how) { return std::string(stripe_method_of(how.values)->name); }};
}

}  // namespace tandem::pipeline
