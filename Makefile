# Needs Python 3.11+ and make, nothing else.  `make play PYTHON=python3.12` picks an interpreter.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
INSTALLED := $(VENV)/.installed
TOOLS := $(VENV)/.tools
SITE_TOOLS := $(VENV)/.docs

# The tests of network training need torch and are skipped without it.  Where pip's build is too
# large or not wanted: `make test TORCH=no`.
TORCH ?= yes

.PHONY: play test test-oldest test-newest lint docs proof release artifacts wheel clean

# One hanchan of a pair of our bots against two of the external AI, or against ours without it.
play: $(INSTALLED)
	@$(BIN)/mjbot setup-node --check >/dev/null 2>&1 || { \
		echo "fetching the external AI and Node (without a network our own bots play instead)"; \
		$(BIN)/mjbot setup-node >/dev/null || true; \
	}
	@exec $(BIN)/mjbot duo

# One worker more than processors: many tests wait for processes of their own.  Each begins with a
# share of neighbours, which import and prepare the same, and takes over from the slowest at the end.
test: $(TOOLS)
	$(BIN)/python -m pytest --dist worksteal -n $$(( $$($(BIN)/python -m mjbot.runtime.processors) + 1 ))

# The same in an environment of its own, with the oldest versions that pyproject.toml allows of
# whatever is needed, or the newest that pip finds.
test-oldest test-newest:
	$(PYTHON) -m proof dependencies --$(@:test-%=%)

# Types are checked as each system has them, in a cache for each: mypy drops what it has cached for
# another system.
lint: $(TOOLS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --platform darwin --cache-dir .mypy_cache/darwin
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32
	$(BIN)/lint-imports

# The artifacts of a release in dist: source distribution, pure wheel, and a wheel with the machine code
# of the shipped strategies for each of these Pythons that is installed: `make release
# RELEASED="python3.11 /opt/python3.13/bin/python3"` names others.  Each is installed into an empty
# environment and plays a tonpu there.
RELEASED := python3.11 python3.12 python3.13
release:
	@built=; for python in $(RELEASED); do \
		version=$$($$python -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || { \
			echo "release: $$python is not installed: no wheel for it"; \
			continue; \
		}; \
		$(MAKE) --no-print-directory artifacts PYTHON=$$python VENV=build/release-$$version || exit 1; \
		built=yes; \
	done; test "$$built"

# Those for one Python; `make wheel`: its wheel with machine code alone, without the check.
wheel: PARTS := --only machine --no-check
artifacts wheel: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'setuptools>=77' wheel
	PYTHONPATH=.ci $(BIN)/python -m release $(PARTS)

# The documentation as finished Markdown in build/docs, and as a site in build/site; a broken link
# or a page outside the navigation fails.
docs: $(SITE_TOOLS)
	$(BIN)/python docs/mkdocs/pages.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict -f build/mkdocs.yml

# Long checks; of the simulation the second takes a minute.  The last three are against records in
# ../shared/data.
proof: $(TOOLS)
	$(BIN)/python -m proof yaku-evaluation
	$(BIN)/python -m proof pair-failures
	$(BIN)/python -m proof simulation
	$(BIN)/python -m proof simulation --planted
	$(BIN)/python -m proof records
	$(BIN)/python -m proof wire
	$(BIN)/python -m proof known-answers
	$(BIN)/python -m proof results-pages

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis *.egg-info build
	find . -name __pycache__ -prune -exec rm -rf {} +

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "mjbot needs Python 3.11 or newer; name one: make $(MAKECMDGOALS) PYTHON=python3.12"; \
		exit 1; \
	}
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(INSTALLED): pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "installing mjbot and its packages into $(VENV) (a minute or less; pip prints only problems)"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(SITE_TOOLS): pyproject.toml | $(VENV)/pyvenv.cfg
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	@touch $(INSTALLED) $@

$(TOOLS): pyproject.toml | $(VENV)/pyvenv.cfg
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@test '$(TORCH)' = no || \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary torch -e '.[train]' || \
		echo 'torch cannot be installed here: the tests of network training are skipped'
	@touch $(INSTALLED) $@
