#include "profile.hpp"

#include "cuda/runtime.hpp"

namespace tandem {

ProfileRange::ProfileRange(const char* name) { cuda::begin_range(name); }
ProfileRange::~ProfileRange() { cuda::end_range(); }

}  // namespace tandem
