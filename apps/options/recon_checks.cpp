// Checks that options of `tandem recon` go together.

#include <filesystem>

#include "../../pipeline/methods/method.hpp"
#include "../runs/files.hpp"
#include "../runs/follow.hpp"
#include "method_options.hpp"
#include "recon_options.hpp"

namespace tandem::apps {

namespace {

/// The type of voxels, and how they are packed, must suit the file.
void check_numbers(const ReconOptions& o) {
  if (o.range_is_open() && !o.part_of.empty())
    throw UsageError("--part-of: all parts need one range of " + o.dtype + "; give --range LOW:HIGH");
  if (o.range_is_open() && o.recipe.follow)
    throw UsageError("--follow: --dtype " + o.dtype + " needs --range LOW:HIGH");
  const io::VolumeKind* kind = io::volume_kind(o.output);
  if (kind && !kind->stores(voxel_type_of(o)))
    throw UsageError("--dtype " + o.dtype + " does not go with " + std::string(kind->title) +
                     "; give another type, or -o a name ending in .h5");
}

/// "-o v.h5" after "tandem recon scan.h5 v.h5".
std::string volume_meant(const ReconOptions& o) {
  std::error_code fault;
  const bool is_new = o.scans.size() > 1 && io::volume_kind(o.scans.back()) &&
                      !std::filesystem::exists(o.scans.back(), fault);
  return is_new ? "-o " + o.scans.back() : "a name ending in .h5 or .tif";
}

}  // namespace

void check_together(const ReconOptions& o) {
  check_numbers(o);
  if (pipeline::option::beam_hardening.is_word(o.scan.steps, "auto") &&
      pipeline::method_named(o.recipe.method).kind.takes_blank)
    throw UsageError("--beam-hardening auto changes line integrals; it does not go with " + o.recipe.method +
                     ", which takes transmissions");
  if (!o.scan.stitch.empty() && o.scan.beside.empty())
    throw UsageError("--stitch " + o.scan.stitch + " joins two scans or more; give them all");
  if (!o.scan.stitch.empty() && (o.recipe.follow || o.scan.all_times))
    throw UsageError("--stitch does not go with --follow, nor with --time all");
  check_conditions(o);
  if (o.checkpoint == "-")
    throw UsageError("--checkpoint -: a check-point is no text; give the name of a file");
  if (o.preview == "-") throw UsageError("--preview -: a picture is no text; give the name of a PNG file");
  if (!o.part_of.empty() && !o.slices_are_range())
    throw UsageError("--part-of " + o.part_of + " goes with --slices A:B");
  if (!o.compared.empty() && o.preview.empty())
    throw UsageError("--compare needs --preview FILE.png, for the picture");
  if (!o.sweep.empty() && !o.compared.empty()) throw UsageError("--sweep and --compare do not go together");
  if (o.output.empty() && !o.dry_run && o.compared.empty() && o.sweep.empty())
    throw UsageError("-o VOLUME is missing; give " + volume_meant(o) + ", or --dry-run");
  if (!o.output.empty()) require_volume_name({"-o", o.output});
  check_follow(o);
}

}  // namespace tandem::apps
