// Checks that options of `tandem recon` go together.

#include <algorithm>

#include "../../pipeline/methods/method.hpp"
#include "../runs/follow.hpp"
#include "files.hpp"
#include "recon_options.hpp"

namespace tandem::apps {

namespace {

using pipeline::Initial;
using pipeline::Method;
using pipeline::Recipe;

/// An option that has a meaning only with some others.
struct Condition {
  std::vector<std::string_view> options;
  bool (*holds)(const ReconOptions& o, const Method& method, std::string_view option);
  std::string (*otherwise)(const ReconOptions& o, std::string_view option);
};

const std::vector<Condition>& conditions() {
  static const std::vector<Condition> all{
      {{"--iterations", "--stop", "--initial", "--checkpoint", "--resample-frames"},
       [](const ReconOptions&, const Method& method, std::string_view) { return method.iterates(); },
       [](const ReconOptions& o, std::string_view option) {
         return std::string(option) + " goes with an iterative algorithm, not with " + o.recipe.method;
       }},
      {{"--checkpoint"},
       [](const ReconOptions&, const Method& method, std::string_view) { return method.tells.state; },
       [](const ReconOptions& o, std::string_view) {
         return "--checkpoint: the solver of " + o.recipe.method +
                " cannot go on from a check-point; leave it out, or give another algorithm";
       }},
      {{"--checkpoint"},
       [](const ReconOptions& o, const Method&, std::string_view) { return !o.device.allow_unmatched; },
       [](const ReconOptions&, std::string_view) {
         return std::string(
             "--checkpoint does not go with --allow-unmatched: the best volume, which is kept "
             "there, is in no check-point");
       }},
      {{"--relaxation", "--nonnegative", "--bounds", "--tv-weight", "--tikhonov-weight", "--subsets"},
       [](const ReconOptions&, const Method& method, std::string_view option) {
         return method.reads(option.substr(2));
       },
       [](const ReconOptions& o, std::string_view option) {
         return std::string(option) + " goes with " + readers_of(option) + ", not with " + o.recipe.method;
       }},
      {{"--fbp-filter", "--fbp-cutoff", "--padding"},
       [](const ReconOptions& o, const Method& method, std::string_view) {
         return method.filters ||
                (method.iterates() && o.recipe.initial.value_or(method.initial) == Initial::fbp);
       },
       [](const ReconOptions&, std::string_view option) {
         return std::string(option) + " goes with fbp, or with --initial fbp";
       }},
      {{"--padding"},
       [](const ReconOptions& o, const Method&, std::string_view) {
         return o.recipe.filter.window != Window::none;
       },
       [](const ReconOptions&, std::string_view option) {
         return std::string(option) + " does not go with --fbp-filter none, which needs nothing beyond rows";
       }},
      {{"--model"},
       [](const ReconOptions& o, const Method&, std::string_view) {
         const double accuracy = o.recipe.execution.accuracy;
         return detailed(o.model, "accuracy").detail.empty() ||
                (o.recipe.model == Model::fourier && accuracy < 2e-3) ||
                (o.recipe.model == Model::hierarchical && accuracy > 5e-4);
       },
       [](const ReconOptions&, std::string_view) {
         return std::string(
             "--model: an accuracy goes with fourier (1e-3, 1e-4 or 1e-5) and hierarchical (1e-2, 3e-3 or "
             "1e-3)");
       }},
      {{"--variant"},
       [](const ReconOptions& o, const Method&, std::string_view) {
         return o.recipe.model != Model::fourier;
       },
       [](const ReconOptions&, std::string_view) {
         return std::string("--variant does not go with --model fourier, which has kernels of its own");
       }}};
  return all;
}

/// The method, or the methods that are compared.
std::vector<std::string> methods_of(const ReconOptions& o) {
  return o.compared.empty() ? std::vector{o.recipe.method} : o.compared;
}

void check_no_output(const ReconOptions& o, const std::string& option) {
  for (const char* other : {"--output", "--part-of", "--checkpoint", "--resume", "--follow", "--save-config",
                            "--save-format", "--dtype", "--compression", "--serve", "--dry-run"})
    if (o.given(other))
      throw UsageError(option + " and " + other + " do not go together: volumes are compared, and not kept");
}

void check_compare(const ReconOptions& o) {
  if (o.given("--reconstruction-algorithm"))
    throw UsageError(
        "--compare and --reconstruction-algorithm do not go together: volumes are compared, and not kept");
  check_no_output(o, "--compare");
  if (o.preview.empty()) throw UsageError("--compare needs --preview FILE.png, for the picture");
}

/// The type of voxels, and how they are packed, must suit the file.
void check_numbers(const ReconOptions& o) {
  const bool floats = o.dtype.starts_with("float");
  if (floats && o.range) throw UsageError("--range goes with --dtype uint16 or uint8");
  if (o.range_is_open() && !o.part_of.empty())
    throw UsageError("--part-of: all parts need one range of " + o.dtype + "; give --range LOW:HIGH");
  if (o.range_is_open() && o.recipe.follow)
    throw UsageError("--follow: --dtype " + o.dtype + " needs --range LOW:HIGH");
  const io::VolumeKind* kind = io::volume_kind(o.output);
  if (kind == nullptr) return;  // another check refuses it
  if (o.compression != "none" && !kind->packs)
    throw UsageError("--compression goes with HDF5; give -o a name ending in .h5");
  if (!kind->stores(voxel_type_of(o)))
    throw UsageError("--dtype " + o.dtype + " does not go with " + std::string(kind->title) +
                     "; give another type, or -o a name ending in .h5");
}

}  // namespace

bool applies(const ReconOptions& o, const std::string& option) {
  return std::ranges::any_of(methods_of(o), [&](const std::string& name) {
    return std::ranges::all_of(conditions(), [&](const Condition& c) {
      return std::ranges::find(c.options, option) == c.options.end() ||
             c.holds(o, pipeline::method_named(name), option);
    });
  });
}

void check_together(const ReconOptions& o) {
  const Recipe& r = o.recipe;
  const auto holds = [&](const Condition& c, std::string_view option) {
    return std::ranges::any_of(methods_of(o), [&](const std::string& name) {
      return c.holds(o, pipeline::method_named(name), option);
    });
  };
  for (const Condition& c : conditions())
    for (const std::string_view option : c.options)
      if (o.given(option.data()) && !holds(c, option)) throw UsageError(c.otherwise(o, option));
  check_numbers(o);
  if (o.checkpoint == "-")
    throw UsageError("--checkpoint -: a check-point is no text; give the name of a file");
  if (o.preview == "-") throw UsageError("--preview -: a picture is no text; give the name of a PNG file");
  if (!o.part_of.empty() && !o.slices_are_range())
    throw UsageError("--part-of " + o.part_of + " goes with --slices A:B");
  if (!o.compared.empty()) check_compare(o);
  if (!o.sweep.empty()) check_no_output(o, "--sweep");
  if (o.sweep.empty() && o.given("--score")) throw UsageError("--score goes with --sweep NAME=A:B:STEP");
  if (!o.sweep.empty() && !o.compared.empty()) throw UsageError("--sweep and --compare do not go together");
  if (o.output.empty() && !o.dry_run && o.compared.empty() && o.sweep.empty())
    throw UsageError("-o VOLUME is missing; give a name ending in .h5 or .tif, or --dry-run");
  if (!o.output.empty()) require_volume_name({"-o", o.output});
  check_follow(o);
  if (!r.region_z && o.given("--region")) throw UsageError("--region is not x0:x1,y0:y1,z0:z1");
}

}  // namespace tandem::apps
