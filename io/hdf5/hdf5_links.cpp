#include "hdf5_links.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include "hdf5.hpp"
#include "hdf5_detail.hpp"

namespace tandem::io::hdf5 {

namespace fs = std::filesystem;

namespace {

constexpr int max_links = 20'000, max_depth = 16, max_blocks = 100'000;

/// All existing paths where libhdf5 looks for a name that stands in a file, for any kind of name.
std::vector<fs::path> all_places_of(const std::string& name, const fs::path& file) {
  std::vector<fs::path> all;
  for (const char* variable : {"HDF5_EXT_PREFIX", "HDF5_VDS_PREFIX", "HDF5_EXTFILE_PREFIX"})
    for (fs::path& place : places_of(name, file.string(), variable)) all.push_back(std::move(place));
  std::error_code fault;
  std::erase_if(all, [&](const fs::path& place) { return !fs::is_regular_file(place, fault); });
  return all;
}

/// Goes through all objects of a file, and of the files to which it leads.
class Walk {
 public:
  void enter(const fs::path& path) {
    std::error_code fault;
    const fs::path real = fs::canonical(path, fault);
    if (fault || !files_.insert(real).second || depth_ > max_depth || !is_hdf5(real)) return;
    const Handle access = read_access();
    const Handle file(H5Fopen(real.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose);
    if (!file.valid()) return;
    const fs::path before = std::exchange(file_, path);  // libhdf5 looks beside a link first
    const auto groups = std::exchange(groups_, {});
    ++depth_;
    if (const Handle root(H5Gopen2(file.id(), "/", H5P_DEFAULT), H5Gclose); root.valid()) group(root.id());
    --depth_;
    file_ = before;
    groups_ = groups;
  }
  const std::set<fs::path>& files() const { return files_; }

 private:
  void group(hid_t id) {
    H5O_info_t info{};
    if (H5Oget_info2(id, &info, H5O_INFO_BASIC) < 0 || !groups_.insert(info.addr).second) return;
    std::vector<std::string> names;
    hsize_t next = 0;
    H5Literate(
        id, H5_INDEX_NAME, H5_ITER_NATIVE, &next,
        [](hid_t, const char* name, const H5L_info_t*, void* out) -> herr_t {
          auto& all = *static_cast<std::vector<std::string>*>(out);
          all.emplace_back(name);
          return all.size() < max_links ? 0 : 1;
        },
        &names);
    for (const std::string& name : names)
      if (++links_ < max_links) link(id, name.c_str());
  }

  void link(hid_t id, const char* name) {
    H5L_info_t info{};
    if (H5Lget_info(id, name, &info, H5P_DEFAULT) < 0) return;
    if (info.type == H5L_TYPE_EXTERNAL) return external_link(id, name, info.u.val_size);
    if (info.type != H5L_TYPE_HARD) return;  // a soft link leads to what another link leads to
    const Handle object(H5Oopen(id, name, H5P_DEFAULT), H5Oclose);
    if (object.valid() && H5Iget_type(object.id()) == H5I_GROUP) group(object.id());
    if (object.valid() && H5Iget_type(object.id()) == H5I_DATASET) data_set(object.id());
  }

  void external_link(hid_t id, const char* name, std::size_t bytes) {
    std::vector<char> target(std::min<std::size_t>(bytes, 65536) + 1);
    const char *file = nullptr, *path = nullptr;
    unsigned flags = 0;
    if (H5Lget_val(id, name, target.data(), target.size() - 1, H5P_DEFAULT) >= 0 &&
        H5Lunpack_elink_val(target.data(), target.size() - 1, &flags, &file, &path) >= 0)
      enter_all(file);
  }

  void data_set(hid_t id) {
    const Handle plan(H5Dget_create_plist(id), H5Pclose);
    const int raw = std::max(0, H5Pget_external_count(plan.id()));
    for (int i = 0; i < raw; ++i) {
      std::array<char, 4097> name{};
      off_t offset = 0;
      hsize_t bytes = 0;
      if (H5Pget_external(plan.id(), i, name.size() - 1, name.data(), &offset, &bytes) >= 0)
        enter_all(name.data());
    }
    std::size_t count = 0;
    if (H5Pget_layout(plan.id()) != H5D_VIRTUAL || H5Pget_virtual_count(plan.id(), &count) < 0) return;
    for (std::size_t i = 0; i < count; ++i) virtual_source(plan.id(), i);
  }

  void virtual_source(hid_t plan, std::size_t i) {
    std::array<char, 4097> text{};
    if (H5Pget_virtual_filename(plan, i, text.data(), text.size()) < 0) return;
    const std::string name = text.data();
    const std::size_t block = name.find("%b");  // a file for each block
    if (block == std::string::npos) return static_cast<void>(enter_all(name));
    for (int k = 0; k < max_blocks; ++k)
      if (!enter_all(name.substr(0, block) + std::to_string(k) + name.substr(block + 2))) return;
  }

  bool enter_all(const std::string& name) {
    const std::vector<fs::path> places = name == "." ? std::vector<fs::path>{} : all_places_of(name, file_);
    for (const fs::path& place : places) enter(place);
    return !places.empty();
  }

  std::set<fs::path> files_;
  std::set<haddr_t> groups_;  // groups of the file that were seen
  fs::path file_;
  int links_ = 0, depth_ = 0;
};

}  // namespace

std::vector<fs::path> linked_files(const fs::path& path) {
  const Lock lock;
  Walk walk;
  walk.enter(path);
  std::error_code fault;
  std::vector<fs::path> files;
  for (const fs::path& file : walk.files())
    if (!fs::equivalent(file, path, fault)) files.push_back(file);
  return files;
}

}  // namespace tandem::io::hdf5
