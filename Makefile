# All of this works on a machine with make and Python 3.11 to 3.13, and nothing else installed.

PYTHON ?= $(firstword $(foreach name,python3 python python3.13 python3.12 python3.11,$(shell command -v $(name) 2>/dev/null)))
VENV := .venv/bin
export PYTHONUTF8 := 1

# $(call step,what it is,command): say what runs, and, when it fails, which step that was
step = @echo "--- $(1)"; $(2) || { echo "make $@: failed at: $(1)" >&2; exit 1; }

.DEFAULT_GOAL := help
.PHONY: help env lab test build lock

help:
	@echo "make lab     set everything up, then open the course in JupyterLab"
	@echo "make test    all that CI checks"
	@echo "make env     only set up .venv"
	@echo "make build   make the notebooks in lessons/ and solutions/ from lessons/source/"
	@echo "make lock    renew requirements.lock (needs uv and the network)"

env:
	@test -n "$(PYTHON)" || { echo "There is no Python here. gradlab runs on Python 3.11 to 3.13: see README.md." >&2; exit 1; }
	@"$(PYTHON)" bootstrap.py

lab: env
	@$(VENV)/gradlab lab

test: env
	$(call step,ruff check,$(VENV)/ruff check .)
	$(call step,ruff format,$(VENV)/ruff format --check .)
	$(call step,mypy,$(VENV)/mypy)
	$(call step,gradlab build --check,$(VENV)/gradlab build --check)
	$(call step,pytest,$(VENV)/python -m pytest -n 2 --dist loadgroup)

build: env
	@$(VENV)/gradlab build
	@$(VENV)/python docs/lesson_table.py

lock:
	uv pip compile pyproject.toml --extra test --universal --python-version 3.11 --generate-hashes \
	    --no-emit-index-url --fork-strategy fewest --no-header -o requirements.lock
