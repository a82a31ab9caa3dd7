// Pages that show scans and volumes, served within Python.

#include "../../apps/look/look_server.hpp"

#include "../../core/process_memory.hpp"
#include "bindings.hpp"

namespace tandem::python {

namespace {

/// A page until it is closed.
class Look {
 public:
  explicit Look(std::unique_ptr<apps::LookServer> server)
      : server_(std::move(server)), address_(server_->address()) {}
  const std::string& address() const { return address_; }
  void close() {
    const Released released;
    server_.reset();
  }

 private:
  std::unique_ptr<apps::LookServer> server_;
  std::string address_;
};

/// As the command line `tandem look ...` does.
Look look_at(const std::vector<std::string>& words) {
  const Released released;
  return Look(std::make_unique<apps::LookServer>(words));
}

/// Volumes of the caller, one or two on one grid; they stay where they are until the page is closed.
Look look_at_arrays(const std::vector<Address>& volumes, Shape shape, const std::optional<VolumeGrid>& grid,
                    bool in_mm) {
  const Released released;
  std::optional<io::VolumePlace> place;
  if (grid) place = io::whole_place(*grid, in_mm);
  const auto reader = [&](Address at) {
    return std::make_unique<io::VolumeReader>(reinterpret_cast<const float*>(at), shape, place);
  };
  apps::LookedVolume looked("array", reader(volumes.at(0)), spare_host_memory());
  if (volumes.size() > 1) looked.put_beside("other array", reader(volumes[1]));
  return Look(std::make_unique<apps::LookServer>(std::move(looked)));
}

}  // namespace

void add_look(nb::module_& m) {
  nb::class_<Look>(m, "Look").def_prop_ro("address", &Look::address).def("close", &Look::close);
  m.def("look_at", &look_at, "words"_a);
  m.def("look_at_arrays", &look_at_arrays, "volumes"_a, "shape"_a, "grid"_a.none(), "in_mm"_a);
}

}  // namespace tandem::python
