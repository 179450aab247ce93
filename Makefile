# Needs Python 3.11+ and make, nothing else.  `make play PYTHON=python3.12` picks an interpreter.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
TOOLS := $(VENV)/.tools

.PHONY: play test lint proof clean

# One hanchan of two of our bots against two of the external AI, or of ours without it.
play: $(INSTALLED)
	@if reason=$$($(BIN)/mjbot setup-node 2>&1); then \
		others="external:majiang external:majiang"; \
	else \
		echo "playing against our own strategies, since $$reason"; \
		others="fast-riichi-a fast-riichi-c"; \
	fi; \
	exec $(BIN)/mjbot match fast-riichi-d fast-riichi-b $$others

test: $(TOOLS)
	$(BIN)/python -m pytest -n auto

lint: $(TOOLS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Long checks against records in ../shared/data.
proof: $(TOOLS)
	$(BIN)/python -m proof records
	$(BIN)/python -m proof offers
	$(BIN)/python -m proof known-answers
	$(BIN)/python -m proof yaku-evaluation

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis *.egg-info build

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "mjbot needs Python 3.11 or newer; name one: make $(MAKECMDGOALS) PYTHON=python3.12"; \
		exit 1; \
	}
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(INSTALLED): pyproject.toml | $(VENV)/pyvenv.cfg
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(TOOLS): pyproject.toml | $(VENV)/pyvenv.cfg
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $(INSTALLED) $@
