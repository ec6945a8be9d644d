# Every command of the project. `make` alone lists them.
#
# Needs Rust, Python >= 3.10 and make; everything else goes into virtual environments beside this
# file, except what Cargo builds: that goes to CARGO_TARGET_DIR, which survives `make clean`.

PYTHON ?= python3
# Backends to build. CI sets them once for everything, so that one build serves all targets.
PYBURN_FEATURES ?= cpu
# Backends of the wheel.
WHEEL_FEATURES ?= cpu,wgpu,cuda
# What `make test-gpu` tests: wgpu or cuda.
DEVICE ?= wgpu
export CARGO_TARGET_DIR ?= $(HOME)/.cache/pyburn/target

VENV := $(CURDIR)/.venv
PARITY := $(CURDIR)/.venv-parity
BIN := $(VENV)/bin
MODULE := python/pyburn/_core

comma := ,
CRATES := -p kernels -p wrap-burn -p pyburn
# Cargo unifies features over the crates of one command: with the same ones everywhere it compiles a
# dependency once.
MODULE_FEATURES = pyo3/extension-module,$(PYBURN_FEATURES)
CARGO_FEATURES = pyo3/extension-module,pyburn/$(subst $(comma),$(comma)pyburn/,$(PYBURN_FEATURES))
# Checkouts share the target folder: what calls Cargo has it to itself.
ALONE = tools/with_target.sh
MATURIN = $(ALONE) env -u CONDA_PREFIX VIRTUAL_ENV=$(VENV) $(BIN)/maturin
# What maturin sets for Cargo, for the commands that call Cargo themselves after it: when these
# change, PyO3 and all that builds on it is compiled again.
VERSION = $(shell $(BIN)/python -c 'import sys; print("%d.%d" % sys.version_info[:2])')
AS_MATURIN = PYO3_BUILD_EXTENSION_MODULE=1 PYO3_ENVIRONMENT_SIGNATURE=cpython-$(VERSION)-64bit \
	PYO3_CONFIG_FILE=$(shell ls $(CARGO_TARGET_DIR)/maturin/pyo3-config-*-$(VERSION)-abi3.txt) \
	PYO3_PYTHON=$(BIN)/python PYTHON_SYS_EXECUTABLE=$(BIN)/python

.PHONY: help demo test test-gpu wheel parity bench check format generate docs clean fmt clippy \
	test-rust lint types stubs develop
.DELETE_ON_ERROR:

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: develop $(VENV)/.demo ## build for the CPU, train a network on handwritten digits
	$(BIN)/python examples/digits.py --out out/digits.png

test: develop $(VENV)/.test ## build for the CPU and run the Python tests
	$(AS_MATURIN) $(BIN)/python -m pytest $(PYTEST_ARGS)

test-gpu: $(VENV)/.test ## build for GPUs and run the device tests on the adapter that is there
	@$(MAKE) --no-print-directory develop PYBURN_FEATURES=$(if $(findstring $(DEVICE),\
		$(PYBURN_FEATURES)),$(PYBURN_FEATURES),$(PYBURN_FEATURES)$(comma)$(DEVICE))
	$(BIN)/python tools/show_device.py $(DEVICE)
	PYBURN_TEST_DEVICE=$(DEVICE) $(BIN)/python -m pytest tests/device $(PYTEST_ARGS)

wheel: $(VENV)/.build ## build the wheel, with all backends, into dist/
	rm -rf dist
	$(MATURIN) build --release --features pyo3/extension-module,$(WHEEL_FEATURES) --out dist

parity: develop $(PARITY)/.ready ## compare with PyTorch: its databases, schedules, training
	failed=; for part in opdb module_db optim_db schedulers autocast dtype_sweep networks; do \
		echo "=== $$part"; \
		PYTHONPATH=python $(PARITY)/bin/python -m tests.parity.$$part || failed="$$failed $$part"; \
	done; \
	test -z "$$failed" || { echo "differences in:$$failed" >&2; exit 1; }

bench: develop $(PARITY)/.ready ## time calls and steps of training beside PyTorch
	PYTHONPATH=python $(PARITY)/bin/python benches/overhead.py
	PYTHONPATH=python $(PARITY)/bin/python benches/train_steps.py

check: fmt lint stubs types clippy test-rust ## formats, lints, types, stubs and the Rust tests

format: $(VENV)/.check ## format Rust and Python
	cargo fmt --all
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

generate: develop $(VENV)/.check ## write what is generated: the stubs and the table of limits
	$(BIN)/python tools/gen_stubs.py
	$(BIN)/python tools/limits.py

docs: develop $(VENV)/.test ## build the Rust documentation, run the code in the guides
	$(AS_MATURIN) RUSTDOCFLAGS="-D warnings" $(ALONE) cargo doc --release --no-deps $(CRATES) \
		--features $(CARGO_FEATURES)
	$(BIN)/python -m pytest tests/docs
	@echo "Rust documentation: $(CARGO_TARGET_DIR)/doc/wrap_burn/index.html"

clean: ## remove what is built in this folder (Cargo's folder stays)
	rm -rf $(VENV) $(PARITY) dist out $(MODULE).abi3.so .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The parts of `check`.

fmt:
	cargo fmt --all --check

clippy: develop
	$(AS_MATURIN) $(ALONE) cargo clippy --release $(CRATES) -p third_crate --all-targets \
		--features $(CARGO_FEATURES) -- -D warnings

# Without the module's crate: the engine is tested with no Python in it.
test-rust:
	$(ALONE) cargo test --release -p kernels -p wrap-burn \
		--features wrap-burn/$(subst $(comma),$(comma)wrap-burn/,$(PYBURN_FEATURES))

lint: $(VENV)/.check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.check
	$(BIN)/pyright --pythonpath $(BIN)/python

stubs: develop $(VENV)/.check
	$(BIN)/python tools/check_stubs.py

# The native module in python/pyburn, which the virtual environment looks at. It is removed first:
# after a failed build there is none, rather than an old one that tests pass on.
develop: $(VENV)/.build
	rm -f $(MODULE).abi3.so
	$(MATURIN) develop --release --features $(MODULE_FEATURES)

# Virtual environments: one stamp for each group of packages in pyproject.toml.

$(BIN)/python:
	@cargo --version >/dev/null || { echo "Rust is missing: https://rustup.rs" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
		|| { echo "$(PYTHON) is older than 3.10; try make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"

$(VENV)/.%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --group $*
	@touch $@

$(PARITY)/.ready: tests/parity/requirements.txt
	test -x $(PARITY)/bin/python || $(PYTHON) -m venv $(PARITY)
	$(PARITY)/bin/python -m pip install --quiet -r $<
	@touch $@
