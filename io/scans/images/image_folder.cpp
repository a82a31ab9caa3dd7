#include "image_folder.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "../../../core/error.hpp"
#include "../../../core/spelled.hpp"
#include "../../files/name_pattern.hpp"
#include "../../files/natural_order.hpp"
#include "../settings/settings.hpp"
#include "image.hpp"
#include "name_counter.hpp"
#include "name_series.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

/// The files of a folder, sorted by kind, each kind in natural order.
struct Listing {
  Names views, flats, darks;  ///< images, by their names
  Names given;                ///< images that the user gives as flats or darks
  Names dangling, no_images;  ///< links to nothing; files that are no images by their ending
  bool folder_given = false;  ///< whether the user gives the folder itself for flats or darks
};

/// Whether a file has settings that are used without being named.
bool describes_images(const fs::path& path) {
  const SettingsFormat* settings = settings_format_of(path);
  return settings && !settings->only_named;
}

Listing listing_of(const NamePattern& named, const std::vector<fs::path>& given, bool raw) {
  std::error_code fault;
  const auto may_be_image = [&](const fs::path& path) {
    return !named.names.empty() || has_image_name(path) || (raw && has_raw_name(path));
  };
  const auto is_given = [&](const fs::path& path) {
    return std::any_of(given.begin(), given.end(),
                       [&](const fs::path& other) { return fs::equivalent(path, other, fault); });
  };
  Listing all;
  all.folder_given = is_given(named.folder);
  for (const fs::directory_entry& entry : fs::directory_iterator(named.folder)) {
    const fs::path& path = entry.path();
    if (!named.fits(path.filename().string())) continue;
    const FrameKind kind = kind_by_name(path.stem().string());
    const fs::file_type type = fs::status(path, fault).type();
    const bool nowhere =
        type == fs::file_type::not_found || fault == std::errc::too_many_symbolic_link_levels;
    require<FileError>(nowhere || type != fs::file_type::none, path.string(),
                       ": cannot be read: ", fault.message());
    if (type == fs::file_type::regular && describes_images(path)) continue;
    Names& names = nowhere                                                                    ? all.dangling
                   : type != fs::file_type::regular || is_hidden(path) || !may_be_image(path) ? all.no_images
                   : is_given(path)                                                           ? all.given
                   : kind == FrameKind::flat                                                  ? all.flats
                   : kind == FrameKind::dark                                                  ? all.darks
                                                                                              : all.views;
    names.push_back(path.filename().string());
  }
  for (Names* names : {&all.views, &all.flats, &all.darks, &all.given, &all.dangling, &all.no_images})
    std::sort(names->begin(), names->end(), natural_less);
  return all;
}

std::string counted(const Names& names, const std::string& one, const std::string& several) {
  return std::to_string(names.size()) + ' ' + (names.size() == 1 ? one : several);
}

/// Images with several forms of name: the largest series, and the others.
struct Series {
  Names main;
  std::vector<Names> others;
};

Series series_of(const Names& names) {
  std::map<std::string, Names> forms;
  for (const std::string& name : names) forms[name_form(name)].push_back(name);
  const auto most = std::max_element(forms.begin(), forms.end(), [](const auto& a, const auto& b) {
    return a.second.size() < b.second.size();
  });
  if (most->second.size() == 1) return {names, {}};  // the names do not count
  Series all{most->second, {}};
  for (const auto& [form, some] : forms)
    if (form != most->first) all.others.push_back(some);
  return all;
}

bool same_size(const fs::path& a, const fs::path& b, const std::optional<RawFrames>& raw) {
  const std::unique_ptr<ImageFile> left = open_image(a, raw), right = open_image(b, raw);
  return left->page(0).rows == right->page(0).rows && left->page(0).bins == right->page(0).bins;
}

/// Leaves out images that are no views: single names, and smaller series.
Names one_series(const fs::path& folder, const Names& names, const std::optional<RawFrames>& raw,
                 std::vector<std::string>& notes) {
  Series series = series_of(names);
  Names other_names;
  for (const Names& some : series.others) {
    if (some.size() == 1) {
      other_names.push_back(some.front());
      continue;
    }
    const bool alike = same_size(folder / some.front(), folder / series.main.front(), raw);
    require<FileError>(some.size() < series.main.size(), folder.string(),
                       ": holds several series of images, ", series.main.size(), " like ",
                       listed({series.main.front()}), " and ", some.size(), " like ", listed({some.front()}),
                       "; give flats and darks with " + spelled("flats") + " and " + spelled("darks") +
                           ", and keep other images elsewhere");
    if (alike) {
      notes.push_back("several series of images; the " + std::to_string(series.main.size()) + " like " +
                      listed({series.main.front()}) + " are taken, the " + std::to_string(some.size()) +
                      " like " + listed({some.front()}) + " left out: give them with " + spelled("flats") +
                      " or " + spelled("darks") + " if " +
                      "they are such, else keep the scan that is wanted apart");
      continue;
    }
    notes.push_back(counted(some, "image", "images") + " of another size left out: " + listed(some));
  }
  if (!other_names.empty())
    notes.push_back(counted(other_names, "image of another name", "images of other names") +
                    " left out of the stack: " + listed(other_names));
  return series.main;
}

/// Takes the images that are flats or darks by their names, unless the user gives others.
std::vector<fs::path> own_references(const fs::path& folder, const Names& named, FrameKind kind, bool given,
                                     FolderImages& views, const std::optional<RawFrames>& how) {
  const bool flat = kind == FrameKind::flat;
  const char* what = flat ? "flats" : "darks";
  if (named.empty()) return {};
  if (given) {
    views.notes.push_back(counted(named, "image", "images") + " left out of the stack, by the name " + what +
                          ": " + listed(named) + "; others are given");
    return {};
  }
  auto [taken, raw] = means_and_raw(named);
  sort_series(taken);
  if (!raw.empty())
    views.notes.push_back(counted(raw, "image", "images") + " left out, of which " + listed(taken) +
                          " are the means: " + listed(raw));
  if (!same_size(folder / taken.front(), views.files.front(), how)) {
    views.notes.push_back(counted(taken, "image", "images") + " of another size left out, by the name " +
                          what + ": " + listed(taken));
    return {};
  }
  views.notes.push_back(counted(taken, "image", "images") + " taken as " + what +
                        " by the name: " + listed(taken));
  std::vector<fs::path> files;
  for (const std::string& name : taken) files.push_back(folder / name);
  return files;
}

/// The names of the views in their order, and whether names tell flats and darks beside them.
Names views_of(const fs::path& folder, const Listing& all, const std::optional<RawFrames>& raw,
               std::vector<std::string>& notes) {
  require<FileError>(
      !all.folder_given || all.flats.size() + all.darks.size() > 0, folder.string(),
      ": is given as flats or darks too, but no name in it says which images are; name their files");
  Names chosen = all.views;
  if (chosen.empty() && !all.folder_given) {  // a folder with only flats or darks is taken as a scan
    require<FileError>(all.flats.empty() || all.darks.empty(), folder.string(), ": holds ", all.flats.size(),
                       " flats and ", all.darks.size(),
                       " darks by their names, and no views; name the folder of the views");
    chosen = all.flats.empty() ? all.darks : all.flats;
  }
  const std::size_t named = all.given.size() + (all.folder_given ? all.flats.size() + all.darks.size() : 0);
  if (named > 0)
    notes.push_back(std::to_string(named) + (named == 1 ? " image" : " images") +
                    " left out of the stack, given as flats or darks");
  if (chosen.empty()) return {};
  Names views = one_series(folder, chosen, raw, notes);
  if (const std::string order = sort_series(views); !order.empty()) notes.push_back(order);
  return views;
}

/// The flats, or the darks, of a folder with several kinds of images. If names are all of one kind, or tell
/// nothing, all images are taken, since the user knows what they are.
Names references_of(const fs::path& folder, const Listing& all, FrameKind kind,
                    std::vector<std::string>& notes) {
  const std::size_t kinds = !all.views.empty() + !all.flats.empty() + !all.darks.empty();
  if (kinds <= 1) return !all.views.empty() ? all.views : !all.flats.empty() ? all.flats : all.darks;
  const bool flat = kind == FrameKind::flat;
  const char* what = flat ? "flats" : "darks";
  const Names& named = flat ? all.flats : all.darks;
  require<FileError>(!named.empty(), folder.string(),
                     ": holds images of several kinds, and none is one of the ", what,
                     " by its name; name their files");
  notes.push_back(counted(named, "image", "images") + " of " + folder.string() + " taken as " + what +
                  " by their names: " + listed(named));
  return named;
}

void note_others(const Listing& all, std::vector<std::string>& notes) {
  if (!all.dangling.empty())
    notes.push_back(counted(all.dangling, "link", "links") +
                    " to files that are not there left out: " + listed(all.dangling));
  if (!all.no_images.empty())
    notes.push_back(counted(all.no_images, "entry is", "entries are") +
                    " no image and left out: " + listed(all.no_images));
}

/// Leaves out names that do not consist of the prefix and a number, if other names do.
void keep_prefix(Names& names, const std::string& prefix, std::vector<std::string>& notes) {
  const auto continues = [&](const std::string& name) {
    return name.starts_with(prefix) && name.size() > prefix.size() && name[prefix.size()] >= '0' &&
           name[prefix.size()] <= '9';
  };
  if (prefix.empty() || names.empty()) return;
  if (std::none_of(names.begin(), names.end(), continues)) {
    notes.push_back("no image has a name " + prefix +
                    "* with a number, as the settings say; all images are taken");
    return;
  }
  Names others;
  std::copy_if(names.begin(), names.end(), std::back_inserter(others),
               [&](const std::string& name) { return !continues(name); });
  std::erase_if(names, [&](const std::string& name) { return !continues(name); });
  if (!others.empty())
    notes.push_back(counted(others, "image", "images") + " with names other than " + prefix +
                    "* left out: " + listed(others));
}

void require_images(const Names& names, const fs::path& path) {
  require<FileError>(!names.empty() || name_pattern(path).names.empty(), path.string(),
                     ": no regular file has such a name; check it, or give the folder");
  require<FileError>(!names.empty(), path.string(), ": holds no ", image_format_names(true), " images; ",
                     image_endings(), " are needed, or ", spelled("raw"),
                     " for frames in files *.raw, *.bin, *.dat, *.img or *.vol");
}

}  // namespace

bool is_image_folder(const fs::path& path) {
  return fs::is_directory(path) || !name_pattern(path).names.empty();
}

FolderScan scan_in(const fs::path& path, const OpenOptions& options, const std::string& prefix) {
  std::vector<fs::path> given = options.flats;
  given.insert(given.end(), options.darks.begin(), options.darks.end());
  const NamePattern named = name_pattern(path);
  const fs::path& folder = named.folder;
  Listing all = listing_of(named, given, options.raw.has_value());
  FolderScan scan;
  std::vector<std::string>& notes = scan.views.notes;
  keep_prefix(all.views, prefix, notes);
  const Names names = views_of(folder, all, options.raw, notes);
  require_images(names, path);
  for (const std::string& name : names) scan.views.files.push_back(folder / name);
  scan.gaps = numbering_fault(names);
  if (!scan.gaps.empty())
    scan.gaps += " between " + listed({names.front()}) + " and " + listed({names.back()});
  if (!all.views.empty() && !all.folder_given) {
    scan.flats =
        own_references(folder, all.flats, FrameKind::flat, !options.flats.empty(), scan.views, options.raw);
    scan.darks =
        own_references(folder, all.darks, FrameKind::dark, !options.darks.empty(), scan.views, options.raw);
  }
  note_others(all, notes);
  return scan;
}

FolderImages references_in(const fs::path& path, FrameKind kind, const std::optional<RawFrames>& raw) {
  const NamePattern named = name_pattern(path);
  const Listing all = listing_of(named, {}, raw.has_value());
  FolderImages images;
  Names names = references_of(path, all, kind, images.notes);
  sort_series(names);
  require_images(names, path);
  for (const std::string& name : names) images.files.push_back(named.folder / name);
  note_others(all, images.notes);
  return images;
}

}  // namespace tandem::io
