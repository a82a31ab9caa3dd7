// Links and groups of an HDF5 file that others made. Functions that write are in hdf5_write.cpp.

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <tuple>

#include "../../core/error.hpp"
#include "../files/input_file.hpp"
#include "hdf5_detail.hpp"

namespace tandem::io::hdf5 {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t max_link = 65536;     // bytes; HDF5 stores no longer links
constexpr std::size_t max_names = 100'000;  // names in one group; scans have tens, archives have thousands

/// Refuses external links to pipes, on which libhdf5 would wait for ever. It is called for every external
/// link.
herr_t refuse_special(const char* parent, const char*, const char* target, const char*, unsigned*, hid_t,
                      void*) noexcept {
  try {
    for (const fs::path& place : places_of(target, parent, "HDF5_EXT_PREFIX"))
      if (is_special(place)) return -1;
    return 0;
  } catch (...) {
    return -1;
  }
}

}  // namespace

std::vector<fs::path> folders_of(const fs::path& path) {
  std::error_code unheeded;
  return {fs::canonical(path, unheeded).parent_path(),
          fs::canonical(fs::absolute(path, unheeded).parent_path(), unheeded)};
}

std::vector<fs::path> places_of(const std::string& name, const std::string& named_by, const char* variable) {
  std::error_code unheeded;
  const fs::path folder = fs::absolute(named_by, unheeded).parent_path();
  const fs::path given = name, relative = given.is_absolute() ? given.filename() : given;
  std::vector<fs::path> places;
  if (given.is_absolute()) places.push_back(given);
  const char* prefixes = std::getenv(variable);
  std::istringstream list(prefixes ? prefixes : "");
  const std::string origin = "${ORIGIN}";
  for (std::string prefix; std::getline(list, prefix, ':');)
    if (prefix.starts_with(origin))
      places.push_back(fs::path(folder.string() + prefix.substr(origin.size())) / relative);
    else if (!prefix.empty())
      places.push_back(fs::path(prefix) / relative);
  places.push_back(folder / relative);
  places.push_back(relative);
  places.push_back(fs::canonical(named_by, unheeded).parent_path() / relative);
  return places;
}

Handle link_access() {
  Handle plan(H5Pcreate(H5P_LINK_ACCESS), H5Pclose);
  H5Pset_elink_cb(plan.id(), refuse_special, nullptr);
  return plan;
}

bool is_hdf5(const fs::path& path) {
  constexpr std::array<char, 8> signature{'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
  if (is_special(path)) return false;  // opening a pipe waits
  std::ifstream file(path, std::ios::binary);
  std::array<char, 8> found{};
  for (std::streamoff at = 0; file.seekg(at).read(found.data(), found.size()); at = at == 0 ? 512 : 2 * at)
    if (found == signature) return true;
  return false;
}

void require_memory() {
  void* room = ::operator new (std::size_t{4} << 20);  // bytes; libhdf5 takes about two million
  *static_cast<volatile char*>(room) = 0;
  ::operator delete(room);
}

Handle read_access() {
  require_memory();
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  // scans often lie on read-only or network file systems that know no locks
  H5Pset_file_locking(access.id(), false, true);
  return access;
}

File File::open(const fs::path& path, bool any_external) {
  const Lock lock;
  const Handle access = read_access();
  Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose);
  if (!file.valid())
    fail(path.string() + ": cannot be opened as HDF5", "the file may be cut short or damaged");
  return File(std::move(file), path.string(),
              std::make_shared<const Origin>(Origin{folders_of(path), any_external}));
}

bool File::has(const std::string& path) const {
  const Lock lock;
  const Handle links = link_access();
  for (auto slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    if (H5Lexists(handle_.id(), path.substr(0, slash).c_str(), links.id()) <= 0) return false;
    if (slash == std::string::npos) return true;
  }
}

/// Opens an object, and follows links. Invalid if there is none, or if it cannot be opened.
Handle File::object(const std::string& path) const {
  if (path != "/" && !has(path)) return {};
  return {H5Oopen(handle_.id(), path.c_str(), link_access().id()), H5Oclose};
}

bool File::is_group(const std::string& path) const {
  const Lock lock;
  const Handle found = object(path);
  return found.valid() && H5Iget_type(found.id()) == H5I_GROUP;
}

std::optional<Identity> File::identity(const std::string& path) const {
  const Lock lock;
  const Handle found = object(path);
  H5O_info_t info{};
  if (!found.valid() || H5Oget_info2(found.id(), &info, H5O_INFO_BASIC) < 0) return std::nullopt;
  return std::pair{std::uint64_t{info.fileno}, std::uint64_t{info.addr}};
}

std::vector<std::string> File::names(const std::string& group) const {
  const Lock lock;
  std::vector<std::string> found;
  const Handle open = object(group);
  if (!open.valid() || H5Iget_type(open.id()) != H5I_GROUP) return found;
  hsize_t next = 0;
  H5Literate(
      open.id(), H5_INDEX_NAME, H5_ITER_INC, &next,
      [](hid_t, const char* name, const H5L_info_t*, void* out) -> herr_t {
        auto& names = *static_cast<std::vector<std::string>*>(out);
        names.emplace_back(name);
        return names.size() > max_names ? 1 : 0;
      },
      &found);
  require<FileError>(found.size() <= max_names, name_, ": ", group, ": has more than ", max_names,
                     " links; such a file is not searched for a scan");
  return found;
}

std::optional<DataSet> File::find(const std::string& path) const {
  const Lock lock;
  Handle found = origin_ && origin_->growth ? kept_open(path) : object(path);
  if (!found.valid() || H5Iget_type(found.id()) != H5I_DATASET) return std::nullopt;
  return DataSet(std::move(found), name_ + ": " + path, origin_);
}

std::optional<ExternalLink> File::external_link(const std::string& path) const {
  const Lock lock;
  for (auto slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string link = path.substr(0, slash);
    H5L_info_t info{};
    if (H5Lget_info(handle_.id(), link.c_str(), &info, H5P_DEFAULT) < 0) return std::nullopt;
    std::vector<char> target(info.type == H5L_TYPE_EXTERNAL ? std::min(info.u.val_size, max_link) : 0);
    const char *file = nullptr, *object = nullptr;
    if (!target.empty() &&
        H5Lget_val(handle_.id(), link.c_str(), target.data(), target.size(), H5P_DEFAULT) >= 0 &&
        H5Lunpack_elink_val(target.data(), target.size(), nullptr, &file, &object) >= 0)
      return ExternalLink{link, file, object};
    if (slash == std::string::npos) return std::nullopt;
  }
}

std::string File::why_dead(const std::string& path) const {
  const Lock lock;
  for (auto slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string link = path.substr(0, slash);
    H5L_info_t info{};
    if (H5Lget_info(handle_.id(), link.c_str(), &info, H5P_DEFAULT) < 0) return {};
    std::vector<char> target(info.type == H5L_TYPE_SOFT ? std::min(info.u.val_size, max_link) + 1 : 0);
    if (!target.empty() && !object(link).valid() &&
        H5Lget_val(handle_.id(), link.c_str(), target.data(), target.size() - 1, H5P_DEFAULT) >= 0)
      return (link == path ? "links to " : "lies behind " + link + ", a link to ") +
             std::string(target.data()) + ", which is not there";
    if (slash == std::string::npos) return {};
  }
}

std::string File::why_unopened(const std::string& path) const {
  const Lock lock;
  const std::optional<ExternalLink> link = external_link(path);
  if (link && !object(link->path).valid()) {
    const auto places = places_of(link->file, name_, "HDF5_EXT_PREFIX");
    std::error_code unheeded;
    const bool there = std::ranges::any_of(
        places, [&](const fs::path& place) { return fs::is_regular_file(place, unheeded); });
    return (link->path == path ? "links to " : "lies behind " + link->path + ", a link to ") + link->file +
           (there ? ", where " + link->object + " cannot be opened; that file may be another one or damaged"
                  : ", which cannot be opened; put that file where the link points");
  }
  if (std::string dead = why_dead(path); !dead.empty()) return dead;
  if (!has(path)) return "missing";
  if (is_group(path)) return "is a group; a data set is needed";
  std::ignore = object(path);
  return "cannot be opened: " + reason();
}

DataSet File::data_set(const std::string& path) const {
  const Lock lock;
  std::optional<DataSet> found = find(path);
  if (!found) throw FileError(name_ + ": " + path + ": " + why_unopened(path));
  return std::move(*found);
}

std::optional<std::string> File::text(const std::string& path) const {
  const std::optional<DataSet> found = find(path);
  return found ? found->text() : std::nullopt;
}

std::optional<double> File::number(const std::string& path) const {
  const std::optional<DataSet> found = find(path);
  if (!found || found->size() != 1) return std::nullopt;
  return found->numbers().front();
}

std::optional<double> File::number(const std::string& path, const std::string& attribute) const {
  const Lock lock;
  const Handle found = object(path);
  return found.valid() ? number_of(found.id(), attribute) : std::nullopt;
}

std::optional<std::string> File::text(const std::string& path, const std::string& attribute) const {
  const Lock lock;
  const Handle found = object(path);
  return found.valid() ? text_of(found.id(), attribute) : std::nullopt;
}

std::vector<std::string> File::texts(const std::string& path, const std::string& attribute) const {
  const Lock lock;
  const Handle found = object(path);
  return found.valid() ? texts_of(found.id(), attribute) : std::vector<std::string>();
}

bool File::flag(const std::string& path) const {
  const std::optional<DataSet> found = find(path);
  return found && found->flag().value_or(false);
}

}  // namespace tandem::io::hdf5
