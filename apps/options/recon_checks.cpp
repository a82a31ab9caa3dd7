// Checks that options of `tandem recon` go together.

#include "../runs/follow.hpp"
#include "files.hpp"
#include "method_options.hpp"
#include "recon_options.hpp"

namespace tandem::apps {

namespace {

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

void check_together(const ReconOptions& o) {
  check_conditions(o);
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
  if (!o.recipe.region_z && o.given("--region")) throw UsageError("--region is not x0:x1,y0:y1,z0:z1");
}

}  // namespace tandem::apps
