// A scan of images: a folder with or without settings beside them, a file of settings, or one file of images.

#include <utility>

#include "../../../core/error.hpp"
#include "../../../core/spelled.hpp"
#include "../../../core/units.hpp"
#include "../../files/name_pattern.hpp"
#include "../../files/natural_order.hpp"
#include "../../files/shell_word.hpp"
#include "../../files/text.hpp"
#include "../changed_frames.hpp"
#include "../cone_vectors.hpp"
#include "../made_frames.hpp"
#include "../settings/settings.hpp"
#include "dark_views.hpp"
#include "image_folder.hpp"
#include "image_stack.hpp"
#include "name_counter.hpp"
#include "name_series.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_of(const std::vector<fs::path>& files) {
  std::vector<std::string> names;
  for (const fs::path& file : files) names.push_back(file.filename().string());
  return names;
}

/// Takes vectors beside images, unless the user gives others.
void complete_vectors(ViewGeometry vectors, const Shape& frame, const OpenOptions& options,
                      Acquisition& found) {
  if (!options.geometry.empty()) return;
  decide_rays(vectors);
  if (!vectors.parallel) return complete_circle(vectors.views, vectors.where, frame, found);
  take_views(found, std::move(vectors));
}

/// The images of a folder, and what settings say about them.
class Settings {
 public:
  Settings(const fs::path& path, const OpenOptions& options)
      : path_(path), say_(read_settings(path)), angles_given_(!options.angles.empty() || options.arc_deg) {}

  const std::string& prefix() const { return say_.prefix; }
  fs::path folder() const { return image_folder_of(path_, say_); }

  /// Tells darks and flats of one series by their numbers, if the settings say how many there are.
  void sort_by_number(FolderScan& scan, const OpenOptions& options) {
    const Index darks = say_.darks_before, flats = say_.flats_around;
    if (darks + flats == 0) return;
    const std::vector<Index> numbers = series_numbers(names_of(scan.views.files));
    require<FileError>(say_.views && !numbers.empty() && numbers.front() <= 1, path_.string(),
                       ": says that darks, flats and views are images of one series in this order; the first "
                       "image must have the number 0 or 1");
    const Index first_flat = numbers.front() + darks, first_view = first_flat + flats,
                behind = first_view + *say_.views, end = behind + flats;
    FolderImages views{.files = {}, .notes = scan.views.notes};
    std::vector<fs::path> dark_files, flat_files, others;
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      const Index number = numbers[k];
      const bool is_view = number >= first_view && number < behind;
      if (!is_view && number >= first_flat && number < end) flat_numbers_.push_back(number);
      std::vector<fs::path>& kind = number < first_flat ? dark_files
                                    : is_view           ? views.files
                                    : number < end      ? flat_files
                                                        : others;
      kind.push_back(scan.views.files[k]);
    }
    require<FileError>(!views.files.empty(), path_.string(), ": says ", darks, " darks and ", flats,
                       " flats before the views; there are no more than ", numbers.size(), " images");
    views.notes.push_back(words(plan(), ": of the images, ", dark_files.size(), " are darks, ",
                                flat_files.size(), " flats and ", views.files.size(),
                                " views, by their order"));
    if (!others.empty())
      views.notes.push_back(std::to_string(others.size()) +
                            " images behind them are left out: " + listed(names_of(others)));
    say_.first_number = first_view;
    scan.views = std::move(views);
    if (options.darks.empty()) scan.darks = std::move(dark_files);
    if (options.flats.empty()) scan.flats = std::move(flat_files);
  }

  /// Decides how many views there are, and leaves out images that are no views.
  void choose(FolderImages& views) {
    numbers_ = series_numbers(names_of(views.files));
    if (say_.views) {
      const Index count = *say_.views;
      const bool all_here = std::ssize(views.files) == count;
      if (!numbers_.empty() && (numbers_.front() < say_.first_number ||
                                (all_here && numbers_.back() - numbers_.front() == count - 1)))
        say_.first_number = numbers_.front();
    }
    if (say_.arc_deg) follow_images(views);
    if (say_.goes_back || !angles_given_) leave_out_later(views);
    if (say_.views && std::ssize(views.files) < *say_.views)
      views.notes.push_back(std::to_string(views.files.size()) + " of the " + std::to_string(*say_.views) +
                            " views of " + plan() + " are here");
  }

  void complete(Acquisition& found, const FolderScan& scan, const OpenOptions& options) const {
    const Shape& frame = found.projections.front()->shape();
    require<FileError>(say_.bins.value_or(frame[2]) == frame[2] && say_.rows.value_or(frame[1]) == frame[1],
                       path_.string(), ": says images of ", say_.rows.value_or(frame[1]), " rows and ",
                       say_.bins.value_or(frame[2]), " bins; those of ", folder().string(), " have ",
                       frame[1], " and ", frame[2], "; move the file away if the images were binned or cut");
    found.angles_where = path_.string() + ": angles";
    found.info.format += " with " + say_.format + " settings";
    found.info.notes.insert(found.info.notes.end(), say_.notes.begin(), say_.notes.end());
    if (say_.vectors) return complete_vectors(*say_.vectors, frame, options, found);
    complete_angles(found);
    complete_geometry(found, frame);
    complete_references(found, scan, options, frame);
    if (say_.flats_name_views) complete_times(found.info, scan);
    if (!flat_numbers_.empty() && options.flats.empty())
      found.info.times = {{numbers_.begin(), numbers_.end()}, flat_numbers_};
  }

 private:
  std::string plan() const { return say_.plan.empty() ? path_.filename().string() : say_.plan; }

  /// Takes the number of views from the images, if a plan has an arc and there are more images than it says.
  void follow_images(FolderImages& views) {
    const Index there = numbers_.empty() ? std::ssize(views.files) : numbers_.back() - numbers_.front() + 1;
    if (there > say_.views.value_or(0)) {
      if (say_.views)
        views.notes.push_back(plan() + " plans " + std::to_string(*say_.views) + " views, and there are " +
                              std::to_string(there) +
                              ": the images count, on the whole arc; if the file is of another scan, " +
                              "its distances are too, and its angles: give " + spelled("angles") +
                              " FILE or " + spelled("arc") + " DEG");
      say_.views = there;
      if (!numbers_.empty()) say_.first_number = numbers_.front();
    }
    if (*say_.views > 1) say_.step_deg = *say_.arc_deg / (*say_.views - 1);
  }

  void leave_out_later(FolderImages& views) {
    if (!say_.views) return;
    const Index count = *say_.views;
    std::vector<std::string> later;
    while (!numbers_.empty() && numbers_.back() >= say_.first_number + count) {
      later.insert(later.begin(), views.files.back().filename().string());
      views.files.pop_back(), numbers_.pop_back();
    }
    require<FileError>(!views.files.empty(), path_.string(), ": says ", count,
                       " views, and no image has a number of one of them");
    if (!later.empty())
      views.notes.push_back(std::to_string(later.size()) + " images behind the " + std::to_string(count) +
                            " views of " + plan() + " are left out: " + listed(later));
  }

  void complete_angles(Acquisition& found) const {
    if (angles_given_) return;
    const auto degrees = [&](Index number) {
      const Index k = number - say_.first_number;
      return say_.degrees.empty() ? say_.first_deg + k * *say_.step_deg : say_.degrees[k];
    };
    Index views = 0;
    for (const auto& source : found.projections) views += source->shape()[0];
    if (say_.step_deg && std::ssize(numbers_) == views) {
      for (const Index number : numbers_) found.angles.push_back(in_radians(degrees(number)));
    } else if (say_.step_deg) {
      require<FileError>(say_.views.value_or(views) == views, path_.string(), ": says ",
                         say_.views.value_or(0), " views; there are ", views,
                         " images, whose names do not count; give " + spelled("angles") + " FILE or " +
                             spelled("arc") + " DEG");
      for (Index k = 0; k < views; ++k) found.angles.push_back(in_radians(degrees(k + say_.first_number)));
    }
  }

  void complete_geometry(Acquisition& found, const Shape& frame) const {
    found.info.pixel_size_mm = say_.pixel_size_mm;
    found.row_pitch_mm = say_.row_pitch_mm;
    found.info.axis_bin = say_.axis_bin;
    if (say_.axis_offset) found.info.axis_bin = *say_.axis_offset + 0.5 * (frame[2] - 1);
    found.info.axis_note = say_.axis_note;
    found.info.roll_deg = say_.roll_deg, found.info.tilt_deg = say_.tilt_deg;
    found.info.energy_kev = say_.energy_kev;
    found.info.propagation_mm = say_.propagation_mm;
    found.sod_mm = say_.sod_mm, found.sdd_mm = say_.sdd_mm;
    if (found.sod_mm && found.sdd_mm) found.kind = ConeBeam::kind;
    if (frame[1] == 1) return;  // a fan lies at the height of its source
    found.midplane_row = say_.midplane_row;
    if (say_.midplane_offset) found.midplane_row = *say_.midplane_offset + 0.5 * (frame[1] - 1);
  }

  /// Sets times: a flat before view k has the time of view k.
  void complete_times(ScanInfo& info, const FolderScan& scan) const {
    if (numbers_.empty()) return;
    std::vector<double> flats;
    for (const fs::path& flat : scan.flats) {
      const std::vector<std::string> tokens = name_tokens(flat.stem().string());
      if (tokens.size() % 2 != 0 || tokens.back().size() > 9) return;  // the name does not end in a number
      flats.push_back(std::stod(tokens.back()));
    }
    info.times = {{numbers_.begin(), numbers_.end()}, std::move(flats)};
  }

  void complete_references(Acquisition& found, const FolderScan& scan, const OpenOptions& options,
                           const Shape& frame) const {
    if (say_.white_level && found.flats.empty() && options.flats.empty()) {
      found.flats.push_back(constant_frame(path_.string() + ": white level",
                                           static_cast<float>(*say_.white_level), frame[1], frame[2]));
      found.corrected = true;
      std::string value = std::to_string(*say_.white_level);
      value.erase(value.find_last_not_of('0') + 1);
      found.info.notes.push_back("the images are corrected by flats already; the white level of " +
                                 path_.filename().string() + ", " + value + " counts, is taken for the flat");
    }
    const bool summed = say_.summed_darks > 1 && scan.darks.size() == 1 &&
                        scan.darks.front().filename().string().starts_with("darkend") &&
                        found.darks.size() == 1 && found.darks.front()->shape()[0] == 1;
    if (!summed) return;
    found.darks.front() = divided_frames(std::move(found.darks.front()), say_.summed_darks);
    found.info.notes.push_back(scan.darks.front().filename().string() + " is taken as the sum of " +
                               std::to_string(say_.summed_darks) + " darks (DARK_N)");
  }

  fs::path path_;
  ScanSettings say_;
  bool angles_given_;
  std::vector<Index> numbers_;
  std::vector<double> flat_numbers_;  ///< numbers of the images that are flats
};

Acquisition open_folder(const fs::path& folder, const OpenOptions& options, Settings* settings) {
  FolderScan scan = scan_in(folder, options, settings ? settings->prefix() : "");
  if (settings) settings->sort_by_number(scan, options), settings->choose(scan.views);
  if (!scan.gaps.empty())
    scan.views.notes.push_back(scan.gaps + (settings ? "; each image has the angle of its number"
                                                     : "; angles must go with the images that are there"));
  Acquisition found;
  found.angles_where = folder.string() + ": angles";
  found.info.format = image_format_name(scan.views.files.front()) + " stack";
  const bool alone = scan.views.files.size() == 1;
  found.projections = frames_of_paths(alone ? scan.views.files.front().string() : folder.string(),
                                      scan.views.files, options.raw);
  found.info.notes = scan.views.notes;
  const Index views = found.projections.front()->shape()[0];
  if (alone)
    found.info.notes.push_back(
        folder.string() + ": holds one file, " + std::to_string(views) +
        (views == 1 ? " view; a sinogram is given by the name of its file" : " views"));
  if (!scan.flats.empty())
    found.flats = frames_of_paths(folder.string() + ": flats", scan.flats, options.raw);
  if (!scan.darks.empty())
    found.darks = frames_of_paths(folder.string() + ": darks", scan.darks, options.raw);
  if (scan.flats.empty() && scan.darks.empty())
    note_dark_views(found.projections, folder.string(), found.info.notes);
  if (settings) settings->complete(found, scan, options);
  const ImageFormat* format = image_format_of(scan.views.files.front());
  if (format && format->complete_stack) format->complete_stack(scan.views.files, options, found);
  return found;
}

/// Refuses one image of a series, unless its name or its angles say that it is a sinogram.
void refuse_one_of_many(const fs::path& path, Index lines, const OpenOptions& options) {
  constexpr Index few = 8;
  const std::string own = path.filename().string(), form = name_form(own);
  if (in_lower_case(own).find("sin") != std::string::npos) return;
  if (!options.angles.empty() && std::ssize(read_angles(options).radians) == lines) return;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code fault;
  Index alike = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, fault))
    alike += name_form(entry.path().filename().string()) == form && entry.is_regular_file(fault);
  require<FileError>(alike < few, path.string(), ": is one of ", alike,
                     " images of a series; if these are the "
                     "views of a scan, give their folder, tandem recon ",
                     shell_word(folder.string()),
                     "; if it is a "
                     "sinogram, give an angle for each of its ",
                     lines, " lines by ", spelled("angles"), ", or a name with sino");
}

}  // namespace

Acquisition open_image_folder(const fs::path& folder, const OpenOptions& options) {
  const std::vector<fs::path> settings = settings_in(name_pattern(folder).folder);
  require<FileError>(settings.size() <= 1, folder.string(), ": holds the settings of several scans, ",
                     listed(names_of(settings)), "; give the name of one of these files as the scan");
  if (settings.empty()) return open_folder(folder, options, nullptr);
  Settings own(settings.front(), options);
  return open_folder(folder, options, &own);
}

Acquisition open_settings(const fs::path& path, const OpenOptions& options) {
  Settings own(path, options);
  return open_folder(own.folder(), options, &own);
}

Acquisition open_image_file(const fs::path& path, const OpenOptions& options) {
  const ImageFormat* format = image_format_of(path);
  const std::string name = image_format_name(path);
  Acquisition found;
  found.angles_where = path.string() + ": angles";
  found.info.format = name + " stack";
  const std::shared_ptr<const ImageFile> file = open_image(path, options.raw);
  const std::vector<Index> axes = file->axes_of_pages();
  found.projections.push_back(frames_of_file(file, true));
  if (axes.size() == 2) {
    const Index times = axes[0], views = axes[1];
    found.times = times;
    require<FileError>(options.time && *options.time < times, path.string(), ": has ", times, " times of ",
                       views, " views; give " + spelled("time") + " K, from 0 to ", times - 1);
    found.projections =
        between(std::move(found.projections), {*options.time * views, (*options.time + 1) * views});
  }
  FrameSource& views = *found.projections.front();
  const ImagePage& page = file->page(0);
  if (file->pages() == 1 && views.shape() == Shape{page.rows, 1, page.bins}) {
    found.info.format = name + " sinogram";
    found.lines = true;
    const Index lines = options.orientation.transpose ? page.bins : page.rows;
    refuse_one_of_many(path, lines, options);
    views.notes.push_back("the file holds one image: a sinogram of " + std::to_string(lines) +
                          " views, one line per view; if it is a single view, give the name of its folder");
  }
  if (!found.lines) note_dark_views(found.projections, path.string(), found.info.notes);
  if (format && format->complete) format->complete(path, options, found);
  return found;
}

}  // namespace tandem::io
