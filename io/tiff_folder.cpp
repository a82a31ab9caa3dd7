#include "tiff_folder.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "../core/error.hpp"
#include "name_series.hpp"
#include "natural_order.hpp"
#include "tiff.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

bool has_tiff_name(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return (ending == ".tif" || ending == ".tiff") && !path.filename().string().starts_with('.');
}

/// The files of a folder by what they are, each in natural order.
struct Listing {
  Names views, flats, darks;  ///< images, by their names
  Names given;                ///< those that the user gives as flats or darks
  Names dangling, no_images;  ///< links to nothing; what has another ending or is no file
  bool folder_given = false;  ///< the user gives the folder itself for flats or darks
};

Listing listing_of(const fs::path& folder, const std::vector<fs::path>& given) {
  std::error_code fault;
  const auto is_given = [&](const fs::path& path) {
    return std::any_of(given.begin(), given.end(),
                       [&](const fs::path& other) { return fs::equivalent(path, other, fault); });
  };
  Listing all;
  all.folder_given = is_given(folder);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const fs::path& path = entry.path();
    const FrameKind kind = kind_by_name(path.stem().string());
    const fs::file_type type = fs::status(path, fault).type();
    const bool nowhere =
        type == fs::file_type::not_found || fault == std::errc::too_many_symbolic_link_levels;
    require<FileError>(nowhere || type != fs::file_type::none, path.string(),
                       ": cannot be read: ", fault.message());
    Names& names = nowhere                                                  ? all.dangling
                   : !has_tiff_name(path) || type != fs::file_type::regular ? all.no_images
                   : is_given(path)                                         ? all.given
                   : kind == FrameKind::flat                                ? all.flats
                   : kind == FrameKind::dark                                ? all.darks
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

/// Images of several forms of name: the series of which there are most, and the others.
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
  if (most->second.size() == 1) return {names, {}};  // names that do not count
  Series all{most->second, {}};
  for (const auto& [form, some] : forms)
    if (form != most->first) all.others.push_back(some);
  return all;
}

bool same_size(const TiffPage& a, const TiffPage& b) { return a.rows == b.rows && a.bins == b.bins; }

/// Leaves the images out that are no views: single names, and series of another size.
Names one_series(const fs::path& folder, const Names& names, std::vector<std::string>& notes) {
  Series series = series_of(names);
  Names other_names;
  for (const Names& some : series.others) {
    if (some.size() == 1) {
      other_names.push_back(some.front());
      continue;
    }
    const bool alike =
        same_size(TiffFile(folder / some.front()).page(0), TiffFile(folder / series.main.front()).page(0));
    require<FileError>(!alike && some.size() < series.main.size(), folder.string(),
                       ": holds several series of images, ", series.main.size(), " like ",
                       listed({series.main.front()}), " and ", some.size(), " like ", listed({some.front()}),
                       "; give flats and darks with --flats and --darks, and keep other images elsewhere");
    notes.push_back(counted(some, "image", "images") + " of another size left out: " + listed(some));
  }
  if (!other_names.empty())
    notes.push_back(counted(other_names, "image of another name", "images of other names") +
                    " left out of the stack: " + listed(other_names));
  return series.main;
}

void note_references(const Listing& all, const Names& names, const char* what, const char* option,
                     std::vector<std::string>& notes) {
  if (names.empty() || all.folder_given) return;
  notes.push_back(counted(names, "image", "images") + " left out of the stack, by the name " + what + ": " +
                  listed(names) + "; give them with " + option);
}

Names views_of(const fs::path& folder, const Listing& all, std::vector<std::string>& notes) {
  require<FileError>(
      !all.folder_given || all.flats.size() + all.darks.size() > 0, folder.string(),
      ": is given as flats or darks too, but no name in it says which images are; name their files");
  Names chosen = all.views;
  if (chosen.empty() && !all.folder_given) {  // a folder of flats or of darks, as a scan of its own
    require<FileError>(all.flats.empty() || all.darks.empty(), folder.string(), ": holds ", all.flats.size(),
                       " flats and ", all.darks.size(),
                       " darks by their names, and no views; name the folder of the views");
    chosen = all.flats.empty() ? all.darks : all.flats;
  } else {
    note_references(all, all.flats, "flats", "--flats", notes);
    note_references(all, all.darks, "darks", "--darks", notes);
  }
  const std::size_t named = all.given.size() + (all.folder_given ? all.flats.size() + all.darks.size() : 0);
  if (named > 0)
    notes.push_back(std::to_string(named) + (named == 1 ? " image" : " images") +
                    " left out of the stack, given as flats or darks");
  if (chosen.empty()) return {};
  chosen = one_series(folder, chosen, notes);
  if (const std::string fault = numbering_fault(chosen); !fault.empty())
    notes.push_back(fault + " between " + listed({chosen.front()}) + " and " + listed({chosen.back()}) +
                    "; angles must go with the images that are there");
  return chosen;
}

/// Of a folder with flats, darks and others those that are wanted. Where all names are of one kind, or tell
/// nothing, the user knows what they are.
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

}  // namespace

FolderImages images_in(const fs::path& folder, FrameKind kind, const std::vector<fs::path>& given) {
  const Listing all = listing_of(folder, given);
  FolderImages images;
  const Names names = kind == FrameKind::projection ? views_of(folder, all, images.notes)
                                                    : references_of(folder, all, kind, images.notes);
  require<FileError>(!names.empty(), folder.string(), ": holds no TIFF images; *.tif or *.tiff are needed");
  for (const std::string& name : names) images.files.push_back(folder / name);
  if (!all.dangling.empty())
    images.notes.push_back(counted(all.dangling, "link", "links") +
                           " to files that are not there left out: " + listed(all.dangling));
  if (!all.no_images.empty())
    images.notes.push_back(counted(all.no_images, "entry is", "entries are") +
                           " no TIFF file and left out: " + listed(all.no_images));
  return images;
}

}  // namespace tandem::io
