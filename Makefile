# `make` alone lists the targets. PYTHON chooses the interpreter: make test PYTHON=python3.12
SHELL := bash
.SHELLFLAGS := -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help book pdf lite test unit apart pages check coverage nightly tools arrays torch namespaces names lab replay properties machines versions mutants breaks references claims fuzz dist bench speed gpu lint types serve lock environment clean
PYTHON ?= python3
# As many processes as cores, from two to four: each takes up to a gigabyte.
WORKERS ?= $(shell n=$$(getconf _NPROCESSORS_ONLN || echo 2); echo $$(( n < 2 ? 2 : n > 4 ? 4 : n )))

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
WHOLE := $(READY)-whole
HTML := _build/html
VIEWER := $(VENV)/etc/jupyter/labconfig/default_setting_overrides.json
PIP := $(BIN)/python -m pip --disable-pip-version-check
UV := $(BIN)/uv pip install --quiet --python $(BIN)/python
TESTS = $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
# Where tests wait for browsers and for programs that they start: one process more than cores.
WAITING = $$(( $(WORKERS) + 1 ))
BUILT = BOOK_HTML=$(or $(BOOK_HTML),$(abspath $(HTML)))

# The matrices of chapters and tests are small: more threads a product would only be in each
# other's way. Benchmarks, and you in JupyterLab, take all the cores.
ONE := book test unit apart pages check coverage tools arrays namespaces replay properties claims references fuzz
$(ONE): export OMP_NUM_THREADS ?= 1
$(ONE): export OPENBLAS_NUM_THREADS ?= 1
# JAX compiles each operation for each shape; what one run has compiled the next one reads.
arrays namespaces: export JAX_COMPILATION_CACHE_DIR ?= $(abspath .cache/jax)
arrays namespaces: export JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS ?= 0

help:  ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# uv installs in a fifth of pip's time, but does not read pip's settings: where it fails, pip does it.
install = $(PIP) install -qq --no-deps $$(grep '^uv==' requirements.lock) \
  && $(UV) --no-deps --requirement $(1) || $(PIP) install --quiet --no-deps --requirement $(1)

# Two steps into one environment: what the book needs, and what tests and benchmarks need as well.
$(READY): requirements-book.lock pyproject.toml engine/pyproject.toml papers/pyproject.toml editorial/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=...")'
	@echo "Creating $(VENV), on the first run only: 0.7 GB for the book (minutes)."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(call install,requirements-book.lock)
	@$(PIP) install -qq --no-deps --no-build-isolation --editable ./engine --editable ./papers --editable . --editable ./editorial
	@touch $@
$(WHOLE): $(READY) requirements.lock
	@echo "Adding to $(VENV), on the first run only, what tests and benchmarks need: 1.4 GB (minutes)."
	@$(call install,requirements.lock)
	@touch $@
environment: $(WHOLE)  ## install everything: for the book, tests and benchmarks

# A failed cell is shown alone, without the warnings that follow from it.
book: $(READY)  ## build the book as HTML that works offline; any warning is an error
	@mkdir -p _build
	@$(BIN)/python book/_ext/build.py 2>&1 | tee _build/build.log || { echo "The book was not built. From _build/build.log:"; \
	  sed -En 's/\x1b\[[0-9;]*m//g; /CellExecutionError:/d; /WARNING|ERROR: |^[A-Za-z.]*(Error|Warning): ./p' _build/build.log \
	    | sort -u > _build/short.log; grep -a 'the cell on this line failed' _build/short.log || cat _build/short.log; exit 1; }
	@echo "The book is ready: open $(HTML)/index.html in a browser."
pdf: book $(WHOLE)  ## print the book as one PDF, with bookmarks and page numbers (minutes)
	@$(BIN)/python tools/book_pdf.py --count README.md
lite: $(WHOLE)  ## put JupyterLite beside the built pages, where site_address in _config.yml asks for it
	@$(BIN)/python tools/lite.py
serve: $(READY)  ## serve the built book on this machine (PORT=8000)
	@$(BIN)/python -m http.server --bind 127.0.0.1 --directory $(HTML) $(or $(PORT),8000)
lab: $(READY)  ## open JupyterLab with the chapters as notebooks
	@$(BIN)/jupytext-config --settings-file $(VIEWER) set-default-viewer markdown myst
	@$(BIN)/jupyter-labextension disable "@jupyterlab/apputils-extension:announcements" >/dev/null
	@$(BIN)/python tools/lab.py --ServerApp.root_dir=. --LabApp.default_url=/lab/tree/book $(LAB_OPTIONS)
references: book $(WHOLE)  ## store what each chapter printed (CHAPTER=slug for one)
	@$(BIN)/python tests/notebooks/make.py $(CHAPTER)

# With BOOK_HTML the pages are there already, and are not built again. Where no notebooks run, no
# process waits a second for the import of nbval.
test: $(WHOLE) $(if $(BOOK_HTML),,book)  ## build the book, then run every test but the nightly ones
	@$(BUILT) $(TESTS) -n $(WAITING)
unit: $(WHOLE)  ## the tests that need neither a book nor a browser
	@$(TESTS) -m 'not book and not browser and not nightly' -p no:nbval
apart: $(WHOLE)  ## these, and those of small books and of single figures, partly in a browser
	@$(TESTS) -n $(WAITING) -m 'not site and not nightly' -p no:nbval
pages: $(WHOLE) $(if $(BOOK_HTML),,book)  ## the tests of the built book, partly in a browser
	@$(BUILT) $(TESTS) -n $(WAITING) -m 'site and not nightly' -p no:nbval tests/book tests/notebooks
coverage: $(WHOLE)  ## `make unit` with the coverage of src, at twice the time
	@$(TESTS) -m 'not book and not browser and not nightly' --cov --cov-report=term:skip-covered
arrays: $(WHOLE) $(if $(filter torch%,$(NAMESPACE)),torch)  ## the tests of arrays in one namespace (NAMESPACE=jax)
	@test -n "$(NAMESPACE)" || { echo "say which of gpnotes.testing.array_namespaces: NAMESPACE=jax"; exit 2; }
	@$(TESTS) --namespace $(NAMESPACE) tests engine/tests
lint: $(WHOLE)  ## check style, formatting, types, and the form of the workflows
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	@$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-actions papers/action.yml .github/actions/*/action.yml

# A chapter's author, or who works in a room, need not wait for all the rest.
ifdef ROOM
check: $(WHOLE)
	@found=$$($(BIN)/python tools/rooms.py '$(ROOM)') || exit; echo "$$found"; \
	  $(BIN)/ruff check $$found && $(BIN)/ruff format --check --quiet $$found || exit; \
	  $(BIN)/mypy & types=$$!; $(TESTS) $$found tests/test_architecture.py tests/test_contracts_found.py tests/test_misuse.py tests/test_right_calls.py; \
	  tests=$$?; wait $$types && exit $$tests
else
check: book $(WHOLE)  ## one chapter and its tests (CHAPTER=part/slug), or one room of src and its own (ROOM=infer/exact)
	@test -n "$(CHAPTER)" || { echo "say which: CHAPTER=part/slug or ROOM=name"; exit 2; }
	@$(BUILT) $(TESTS) -k '$(CHAPTER) or test_pages or test_typed_numbers or test_notation or test_literature' tests/book tests/notebooks tests/test_references.py
endif

nightly: $(WHOLE)  ## what takes longer, one target of night.yml after another, and a table at the end (hours)
	@$(BIN)/python tools/nightly.py
types: $(WHOLE)  ## check the types of what the pages for users print, as their editors do
	@$(BIN)/python tools/user_types.py
tools: book $(WHOLE)  ## the tests marked nightly: benchmarks, tools, JupyterLab, PDF, long ones (minutes)
	@$(BUILT) $(TESTS) -m nightly
# In no lock: it takes a gigabyte, and uv knows where the build for processors alone is.
TORCH := torch==2.13.0 networkx==3.6.1 sympy==1.14.0
torch: $(WHOLE)  ## add PyTorch to the environment
	@$(BIN)/python -c 'import torch' 2>/dev/null || $(UV) --torch-backend cpu $(TORCH) || $(PIP) install --quiet $(TORCH)
namespaces: $(WHOLE) $(if $(filter torch%,$(NAMESPACE)),torch)  ## `make arrays` with the nightly tests, for one namespace or for all that want no GPU (hours)
	@$(TESTS) $(addprefix --namespace ,$(or $(NAMESPACE),night own)) -m '' tests engine/tests
# No test can run CuPy without a GPU: its wheel is read alone. Where it cannot be had, the tool says so.
names: $(WHOLE)  ## look up each function of arrays that the package calls in the libraries, CuPy too (a download)
	@$(PIP) install --quiet --upgrade --no-deps --target _build/wheels 'cupy-cuda12x>=13.4' cuda-pathfinder || true
	@PYTHONPATH=_build/wheels $(BIN)/python tools/array_names.py
replay: $(WHOLE)  ## run the chapters again and compare with what is stored, cell by cell
	@$(BIN)/python tests/notebooks/make.py --notebooks
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --nbval --nbval-current-env -m "not book" tests/notebooks
properties: $(WHOLE)  ## run the property tests on twenty times as many examples (minutes)
	@$(BIN)/python -m pytest -n $(WORKERS) --hypothesis-profile=full -m hypothesis tests
claims: $(WHOLE)  ## repeat every claim on fresh draws and keep the counts (FRESH=20, CHAPTERS=book/part/slug.md)
	@CHECKED_CLAIMS_FRESH=$(or $(FRESH),20) $(BIN)/python -m checked_equations check --strict --jobs $(WORKERS) $(or $(CHAPTERS),book)
machines: $(WHOLE)  ## run the fast tests as other processors would (minutes)
	@$(BIN)/python tools/machines.py --workers $(WORKERS) $(KINDS)
versions: $(WHOLE)  ## run the fast tests with the oldest and newest versions allowed (minutes)
	@$(BIN)/python tools/versions.py --workers $(WORKERS)
mutants: $(WHOLE)  ## how many slips in a room, or in each wing, its tests notice (ROOM=games SAMPLE=40 SEED=1)
	@$(BIN)/python tools/mutants.py $(ROOM) --each $(or $(SAMPLE),$(if $(ROOM),40,12)) --seed $(or $(SEED),1)
breaks: $(WHOLE)  ## whether the tests of their rooms notice the breaks that were once let through
	@$(BIN)/python tools/mutants.py --known --results $$(mktemp)
fuzz: $(WHOLE)  ## odd inputs of every public function, kept in _build if they find a fault (SEED=1 CASES=60000)
	@mkdir -p _build; PYTHONPATH=tests/support $(BIN)/python -m misuse $(if $(SEED),--seed $(SEED)) $(if $(CASES),--cases $(CASES)) --keep _build/odd-inputs.txt

dist: $(WHOLE)  ## build wheels and sdists, check them, try them on each Python at hand (minutes)
	@$(BIN)/python tools/dist.py $(DIST_OPTIONS)
bench: $(WHOLE)  ## time each task beside its floor and its rivals (minutes)
	@$(BIN)/python benchmarks/run.py
speed: $(WHOLE)  ## the same, and whether a ratio to the floor grew by a tenth on this kind of processor
	@$(BIN)/python benchmarks/run.py --against benchmarks/speed.json
gpu: $(WHOLE)  ## the tests of arrays and a few tasks on a GPU, into benchmarks/README.md; refused where there is none
	@$(BIN)/python benchmarks/gpu_table.py
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate --no-emit-index-url --no-emit-find-links
lock: $(WHOLE)  ## resolve versions and rewrite both lock files
	@$(LOCK) --upgrade --extra dev --output-file requirements.lock pyproject.toml
	@$(LOCK) --extra read --constraint requirements.lock --output-file requirements-book.lock pyproject.toml
clean:  ## remove what was built (the environment in .venv stays)
	@rm -rf _build build dist htmlcov .coverage .coverage.* .mypy_cache .pytest_cache .ruff_cache .hypothesis
	@find . -path ./$(VENV) -prune -o -name __pycache__ -prune -exec rm -rf {} +
