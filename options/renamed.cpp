#include "renamed.hpp"

#include <algorithm>
#include <cctype>

#include "../core/spelled.hpp"

namespace tandem::options {

namespace {

constexpr std::string_view older = "tandem";

constexpr Renamed options_elsewhere[] = {
    {"start-row", older, "{detector-rows} A:B"},
    {"end-row", older, "{detector-rows} A:B"},
    {"start-column", older, "{columns} A:B"},
    {"end-column", older, "{columns} A:B"},
    {"start-proj", older, "{views} A:B"},
    {"end-proj", older, "{views} A:B"},
    {"view-step", older, "{views} A:B:STEP"},
    {"min", older, "{range} LOW:HIGH"},
    {"max", older, "{range} LOW:HIGH"},
    {"lowest", older, "{bounds} LOW:HIGH"},
    {"highest", older, "{bounds} LOW:HIGH"},
    {"flat-linear", older, "{flat-sets} linear"},
    {"rotation-axis-auto", older, "{rotation-axis} auto"},
    {"try", older, "{sweep} rotation-axis=A:B:STEP", "an option of recon"},
    {"dezinger-threshold", older, "{dezinger} N:threshold=X"},
    {"dezinger-window", older, "{dezinger} N:window=row, projection or cube"},
    {"dezinger-sign", older, "{dezinger} N:sign=bright or both"},
    {"energy", older, "{retrieve-phase-method} paganin:energy=X", "in keV"},
    {"propagation-distance", older, "{retrieve-phase-method} paganin:distance=X", "in mm"},
    {"retrieve-phase-delta-beta", older, "{retrieve-phase-method} paganin:delta-beta=X"},
    {"beam-hardening-wedge", older, "{beam-hardening} wedge:file=FILE"},
    {"beam-hardening-spectrum", older, "{beam-hardening} spectrum:file=FILE"},
    {"variable", older, "FILE:/NAME", "as the scan"},
    {"max-floored", older, "{minus-log} true:floored=X"},
    {"accuracy", older, "{model} NAME:accuracy=X"},
    {"padding-bins", older, "{padding} NAME:bins=N"},
    {"tv-huber", older, "{tv-weight} X:huber=D"},
    {"gain", older, "{stop} discrepancy:gain=G"},
    {"checkpoint-every", older, "{checkpoint} FILE:every=N"},
    {"planned-views", older, "{follow}=views=N"},
    {"patience", older, "{follow}=seconds=S"},

    {"center", "tomopy", "{rotation-axis}", "less 0.5"},
    {"theta", "tomopy", "{angles} FILE", "in degrees, not radians"},
    {"algorithm", "tomopy", "{reconstruction-algorithm}"},
    {"filter_name", "tomopy", "{fbp-filter}"},
    {"num_iter", "tomopy", "{iterations}"},
    {"num_block", "tomopy", "{subsets}"},
    {"init_recon", "tomopy", "{initial} FILE"},
    {"num_gridx", "tomopy", "{size}"},
    {"num_gridy", "tomopy", "{size}"},
    {"ncore", "tomopy", "{threads}"},
    {"nchunk", "tomopy", "chosen by itself", "within {memory} and {device-memory}"},
    {"dist", "tomopy", "{retrieve-phase-method} paganin:distance=X", "in mm, not cm"},
    {"save-folder", "tomopy-cli", "{output}"},
    {"gridrec-filter", "tomopy-cli", "{fbp-filter}"},
    {"gridrec-padding", "tomopy-cli", "{padding}"},
    {"zinger-size", "tomopy-cli", "{dezinger} N"},
    {"zinger-level-projections", "tomopy-cli", "{dezinger} N:threshold=X"},
    {"reverse", "tomopy-cli", "{rotation-direction} -1"},

    {"file-name", "tomocupy", "the scan", "an argument without a name"},
    {"out-path-name", "tomocupy", "{output}"},
    {"flat-file-name", "tomocupy", "{flats} FILE"},
    {"dark-file-name", "tomocupy", "{darks} FILE"},
    {"reconstruction-type", "tomocupy", "{sweep} rotation-axis=A:B:STEP", "for try; full is the default"},
    {"center-search-width", "tomocupy", "{between} A:B", "an option of center, from bin to bin"},
    {"center-search-step", "tomocupy", "{sweep} rotation-axis=A:B:STEP"},
    {"nsino-per-chunk", "tomocupy", "chosen by itself", "within {memory} and {device-memory}"},
    {"nproj-per-chunk", "tomocupy", "chosen by itself", "within {memory} and {device-memory}"},
    {"max-read-threads", "tomocupy", "{threads}", "for all work"},
    {"max-write-threads", "tomocupy", "{threads}", "for all work"},
    {"retrieve-phase-alpha", "tomocupy", "{retrieve-phase-method} paganin:delta-beta=X",
     "where X is 1 / (4 pi^2 alpha)"},
    {"rotate-proj-angle", "tomocupy", "{detector-roll}",
     "positive where the axis leans towards higher bins at higher rows"},
    {"lamino-angle", "tomocupy", "{geometry} FILE", "with the vectors of each view"},

    {"rotation_axis_position", "nabu", "{rotation-axis}"},
    {"method", "nabu", "{reconstruction-algorithm}", "or {retrieve-phase-method}"},
    {"fbp_filter_type", "nabu", "{fbp-filter}"},
    {"fbp_filter_cutoff", "nabu", "{fbp-cutoff}"},
    {"padding_type", "nabu", "{padding}"},
    {"delta_beta", "nabu", "{retrieve-phase-method} paganin:delta-beta=X"},
    {"slice", "nabu", "{detector-rows} A:B", "without row B"},
    {"start_z", "nabu", "{detector-rows} A:B"},
    {"end_z", "nabu", "{detector-rows} A:B", "without row B"},
    {"start_x", "nabu", "{region} x0:x1,y0:y1,z0:z1"},
    {"end_x", "nabu", "{region} x0:x1,y0:y1,z0:z1", "without voxel x1"},
    {"start_y", "nabu", "{region} x0:x1,y0:y1,z0:z1"},
    {"end_y", "nabu", "{region} x0:x1,y0:y1,z0:z1", "without voxel y1"},
    {"angles_file", "nabu", "{angles} FILE"},
    {"projections_subsampling", "nabu", "{views} ::N"},
    {"axis_correction_file", "nabu", "{view-shifts} FILE", "with the shift of each view, not its axis"},
    {"translation_movements_file", "nabu", "{view-shifts} FILE and {view-row-shifts} FILE"},
    {"source_sample_dist", "nabu", "{sod}", "in mm, not m"},
    {"sample_detector_dist", "nabu", "{sdd}", "from the source, in mm, not m"},
    {"enable_halftomo", "nabu", "{file-type} double_fov"},
    {"tilt_correction", "nabu", "{detector-roll}",
     "positive where the axis leans towards higher bins at higher rows"},
    {"flip_lr", "nabu", "{orient} flip-columns"},
    {"flip_ud", "nabu", "{orient} flip-rows"},
    {"ccd_filter_enabled", "nabu", "{dezinger} 3:window=projection"},
    {"sino_rings_correction", "nabu", "{remove-stripe-method}"},
    {"normalize_srcurrent", "nabu", "{normalize-monitor} true"},
    {"take_logarithm", "nabu", "{minus-log}"},
    {"positivity_constraint", "nabu", "{nonnegative}"},
    {"regularization_weight", "nabu", "{tv-weight}", "in another unit"},
    {"file_format", "nabu", "{save-format}"},
    {"tiff_single_file", "nabu", "{save-format} bigtiff"},
    {"float_clip_values", "nabu", "{range} LOW:HIGH"},
    {"gpus", "nabu", "{device} cuda:N,N,...", "with the number of each GPU"},
    {"gpu_id", "nabu", "{device} cuda:N"},
    {"num_threads", "nabu", "{threads}"},
    {"memory_fraction", "nabu", "{memory}", "in GiB"},

    {"max-memory", "httomo", "{memory}", "in GiB"},
    {"max-cpu-slices", "httomo", "chosen by itself", "within {memory}"},
    {"output-folder-name", "httomo", "{output}"},

    {"FilterType", "ASTRA", "{fbp-filter}"},
    {"MinConstraint", "ASTRA", "{bounds} LOW:HIGH"},
    {"MaxConstraint", "ASTRA", "{bounds} LOW:HIGH"},
    {"GPUindex", "ASTRA", "{device} cuda:N"},
    {"ProjectionAngles", "ASTRA", "{angles} FILE", "in degrees, not radians"},

    {"numSubsets", "LEAP", "{subsets}"},
    {"centerCol", "LEAP", "{rotation-axis}"},
    {"centerRow", "LEAP", "{midplane-row}"},
    {"phis", "LEAP", "{angles} FILE"},
    {"pixelWidth", "LEAP", "{pixel-size}"},
    {"voxelWidth", "LEAP", "{voxel-size}"},

    {"axis", "", "{rotation-axis}", "in bins from 0"},
    {"input", "", "the scan", "an argument without a name"},
    {"source-distance", "", "{sod}"},
    {"source-object", "", "{sod}"},
    {"source-detector", "", "{sdd}"},
    {"detector-distance", "", "{sdd}", "from the source"},
    {"angular-range", "", "{arc} DEG"},
    {"ring-removal", "", "{remove-stripe-method}"},
    {"remove-rings", "", "{remove-stripe-method}"},

    {"filter", "CIL", "{fbp-filter}"},
    {"max_iteration", "CIL", "{iterations}"},

    {"niter", "TIGRE", "{iterations}"},
    {"blocksize", "TIGRE", "{subsets}", "which counts the subsets, not the views in one"},
    {"lmbda", "TIGRE", "{relaxation}"},
    {"noneg", "TIGRE", "{nonnegative}"},
    {"gpuids", "TIGRE", "{device} cuda:N,N,..."},
    {"COR", "TIGRE", "{rotation-axis}", "in bins from 0, not mm from the middle"},
    {"DSO", "TIGRE", "{sod}"},
    {"DSD", "TIGRE", "{sdd}"},
    {"dDetector", "TIGRE", "{pixel-size}"},
    {"offDetector", "TIGRE", "{rotation-axis} and {midplane-row}", "from 0, not mm from the middle"},
    {"dVoxel", "TIGRE", "{voxel-size}"},
    {"nVoxel", "TIGRE", "{size} and {slices}"},

    {"niterations", "RTK", "{iterations}"},
    {"nprojpersubset", "RTK", "{subsets}", "which counts the subsets, not the views in one"},
    {"lambda", "RTK", "{relaxation}"},
    {"positivity", "RTK", "{nonnegative}"},
    {"hardware", "RTK", "{device}"},
    {"pad", "RTK", "{padding}"},
    {"hann", "RTK", "{fbp-filter} hann", "with {fbp-cutoff}"},
    {"fp", "RTK", "{model}", "for projection and back-projection"},
    {"bp", "RTK", "{model}", "for projection and back-projection"},
    {"wpc", "RTK", "{beam-hardening} C1,C2,...", "without the constant"},
    {"sid", "RTK", "{sod}"},
    {"dimension", "RTK", "{size} and {slices}"},
    {"spacing", "RTK", "{voxel-size}"},
    {"newspacing", "RTK", "{pixel-size}"},
    {"divisions", "RTK", "chosen by itself", "within {device-memory}"},

    {"gpu", "algotom", "{device} cuda"},
    {"overall-angle", "tofu", "{arc}"},
    {"projections", "tofu", "the scan", "an argument without a name"},

    {"center-of-rotation", "", "{rotation-axis}", "in bins from the middle of bin 0"},
    {"rotation-center", "", "{rotation-axis}", "in bins from the middle of bin 0"},
    {"nproc", "", "{threads}"},
    {"jobs", "", "{threads}"},
    {"cuda", "", "{device} cuda"},
    {"cpu", "", "{device} cpu"},
    {"gpu-memory", "", "{device-memory}", "in GiB"},
    {"output-dir", "", "{output} NAME", "as {output} folder/volume.h5"},
    {"verbose", "", "the default", "unless {quiet} is given"},
};

constexpr std::string_view stripe_options[] = {
    "fw:level",         "fw:sigma",         "fw:filter",           "fw:pad",
    "ti:beta",          "ti:mask",          "ti:nblock",           "ti:alpha",
    "sf:size",          "raven:uvalue",     "raven:nvalue",        "raven:vvalue",
    "vo-sorting:size",  "vo-sorting:dim",   "vo-filtering:sigma",  "vo-filtering:size",
    "vo-filtering:dim", "vo-fitting:order", "vo-fitting:sigmax",   "vo-fitting:sigmay",
    "vo-large:snr",     "vo-large:size",    "vo-large:drop-ratio", "vo-large:norm",
    "vo-dead:snr",      "vo-dead:size",     "vo-dead:norm",        "vo-all:snr",
    "vo-all:la-size",   "vo-all:sm-size",   "vo-all:dim"};

constexpr std::string_view by_method = "reconstruction-algorithm", by_stripes = "remove-stripe-method",
                           on_gpu = "with {device} cuda", by_fourier = "with {model} fourier";

constexpr RenamedValue values_elsewhere[] = {
    {by_method, {"FBP_CUDA", "ASTRA", "fbp", on_gpu}},
    {by_method, {"FDK_CUDA", "ASTRA", "fdk", on_gpu}},
    {by_method, {"SIRT_CUDA", "ASTRA", "sirt", on_gpu}},
    {by_method, {"SIRT3D_CUDA", "ASTRA", "sirt", on_gpu}},
    {by_method, {"SART_CUDA", "ASTRA", "sart", on_gpu}},
    {by_method, {"CGLS_CUDA", "ASTRA", "cgls", on_gpu}},
    {by_method, {"CGLS3D_CUDA", "ASTRA", "cgls", on_gpu}},
    {by_method, {"EM_CUDA", "ASTRA", "mlem", on_gpu}},
    {by_method, {"gridrec", "tomopy", "fbp", by_fourier}},
    {by_method, {"art", "tomopy", "nearest to sart"}},
    {by_method, {"bart", "tomopy", "nearest to os-sirt"}},
    {by_method, {"grad", "tomopy", "nearest to cgls"}},
    {by_method, {"tikh", "tomopy", "cgls", "with {tikhonov-weight}"}},
    {by_method, {"astrasirt", "tomopy-cli", "sirt"}},
    {by_method, {"astrasart", "tomopy-cli", "sart"}},
    {by_method, {"astracgls", "tomopy-cli", "cgls"}},
    {by_method, {"fourierrec", "tomocupy", "fbp", by_fourier}},
    {by_method, {"lprec", "tomocupy", "fbp", by_fourier}},
    {by_method, {"linerec", "tomocupy", "fbp", "with {model} pixel_driven"}},
    {by_method, {"HBP", "nabu", "fbp", by_fourier}},
    {by_method, {"cone", "nabu", "fdk"}},
    {by_method, {"em", "nabu", "mlem"}},
    {by_method, {"FBP2d_astra", "httomo", "fbp"}},
    {by_method, {"FBP3d_tomobar", "httomo", "fbp"}},
    {by_method, {"LPRec3d_tomobar", "httomo", "fbp", by_fourier}},
    {by_method, {"SIRT3d_tomobar", "httomo", "sirt"}},
    {by_method, {"CGLS3d_tomobar", "httomo", "cgls"}},
    {by_method, {"FISTA3d_tomobar", "httomo", "nearest to tv"}},
    {by_method, {"LS", "LEAP", "cgls"}},
    {by_method, {"FISTA", "CIL", "nearest to tv"}},
    {by_method, {"PDHG", "CIL", "tv"}},
    {by_method, {"ossart", "TIGRE", "os-sirt"}},
    {by_method, {"ossart_tv", "TIGRE", "nearest to tv"}},
    {by_method, {"sart_tv", "TIGRE", "nearest to tv"}},
    {by_method, {"asd_pocs", "TIGRE", "nearest to tv"}},
    {by_method, {"os_asd_pocs", "TIGRE", "nearest to tv"}},
    {by_method, {"awasd_pocs", "TIGRE", "nearest to tv"}},
    {by_method, {"irn_tv_cgls", "TIGRE", "nearest to tv"}},
    {by_method, {"hybrid_lsqr", "TIGRE", "lsqr", "with {tikhonov-weight}"}},
    {by_method, {"ab_gmres", "TIGRE", "nearest to ba-gmres"}},
    {by_method, {"iradon", "scikit-image", "fbp"}},
    {by_method, {"iradon_sart", "scikit-image", "sart"}},

    {"fbp-filter", {"ram-lak", "ASTRA", "ramp", "or sharp, with all the noise of its band"}},
    {"fbp-filter", {"shepp-logan", "ASTRA", "shepp"}},
    {"fbp-filter", {"hanning", "", "hann"}},

    {"padding", {"zeros", "nabu", "none"}},
    {"padding", {"edges", "nabu", "edge"}},

    {by_stripes, {"munch", "nabu", "fw"}},
    {by_stripes, {"vo", "nabu", "vo-all"}},
    {by_stripes, {"remove_stripe_fw", "tomopy", "fw"}},
    {by_stripes, {"remove_stripe_ti", "tomopy", "ti"}},
    {by_stripes, {"remove_stripe_sf", "tomopy", "sf"}},
    {by_stripes, {"remove_all_stripe", "tomopy", "vo-all"}},
    {by_stripes, {"remove_large_stripe", "tomopy", "vo-large"}},
    {by_stripes, {"remove_dead_stripe", "tomopy", "vo-dead"}},
    {by_stripes, {"remove_stripe_based_sorting", "tomopy", "vo-sorting"}},
    {by_stripes, {"remove_stripe_based_filtering", "tomopy", "vo-filtering"}},
    {by_stripes, {"remove_stripe_based_fitting", "tomopy", "vo-fitting"}},
    {by_stripes, {"titarenko", "", "ti"}},

    {"retrieve-phase-method", {"paganin_filter", "httomo", "paganin:energy=X,delta-beta=X"}},
    {"retrieve-phase-method", {"tie", "tofu", "paganin:energy=X,delta-beta=X"}},

    {"rotation-axis", {"find_center_vo", "tomopy", "auto"}},
    {"rotation-axis", {"sliding-window", "nabu", "auto"}},
    {"rotation-axis", {"growing-window", "nabu", "auto"}},
    {"rotation-axis-method", {"find_center_vo", "tomopy", "vo"}},
    {"rotation-axis-method", {"find_center_pc", "tomopy", "nearest to opposite"}},
    {"rotation-axis-method", {"sift", "tomocupy", "nearest to opposite"}},

    {"geometry", {"parallel3d", "ASTRA", "parallel"}},
    {"geometry", {"fanflat", "ASTRA", "fan"}},
    {"geometry", {"conebeam", "LEAP", "cone"}},
    {"geometry", {"fanbeam", "LEAP", "fan"}},
    {"geometry", {"parallelbeam", "LEAP", "parallel"}},

    {"model", {"linear", "ASTRA", "joseph"}},
    {"model", {"SF", "LEAP", "separable_footprint"}},
    {"model", {"VoxelBasedBackProjection", "RTK", "pixel_driven"}},

    {"file-type", {"flip_and_stich", "tomopy-cli", "double_fov"}},
    {"device", {"gpu", "", "cuda"}},
    {"save-format", {"hdf5", "nabu", "h5"}},
    {"save-format", {"tif", "", "tiff"}},
    {"save-format", {"mhd", "", "mha"}},
};

/// A name in lower case without dashes and underscores, so that numIter, num_iter and --num-iter are one.
std::string letters_of(std::string_view name) {
  std::string kept;
  for (const unsigned char c : name)
    if (c != '-' && c != '_') kept += static_cast<char>(std::tolower(c));
  return kept;
}

/// The sentence of a row; `name`: as messages write it.
std::string sentence_of(const Renamed& row, const std::string& name) {
  const bool is_ours = row.of == older;
  std::string text = "; ";
  if (!is_ours && !row.of.empty()) text += std::string(row.of) + "'s ";
  text += name + " is " + with_spelled(row.here) + (is_ours ? " now" : " here");
  return row.but.empty() ? text : text + ", " + with_spelled(row.but);
}

}  // namespace

std::string successor_of_option(std::string_view name) {
  const std::string asked = letters_of(name);
  for (const Renamed& row : options_elsewhere)
    if (letters_of(row.name) == asked)
      return sentence_of(row, row.of.empty() || row.of == older ? spelled(row.name) : std::string(row.name));
  for (const std::string_view behind : stripe_options) {
    std::string was(behind);
    std::ranges::replace(was, ':', '-');
    if (letters_of(was) == asked)
      return "; " + spelled(was) + " is " + spelled(by_stripes) + " " + std::string(behind) + "=X now";
  }
  return {};
}

std::string successor_of_value(std::string_view option, std::string_view value) {
  const std::string taking = letters_of(option), asked = letters_of(value.substr(0, value.find(':')));
  for (const RenamedValue& row : values_elsewhere)
    if (letters_of(row.option) == taking && letters_of(row.value.name) == asked)
      return sentence_of(row.value, std::string(row.value.name));
  return {};
}

std::span<const Renamed> renamed_options() { return options_elsewhere; }
std::span<const RenamedValue> renamed_values() { return values_elsewhere; }
std::span<const std::string_view> renamed_stripe_options() { return stripe_options; }

}  // namespace tandem::options
