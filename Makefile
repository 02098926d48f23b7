# Pyramid Kiosk.  `make` alone lists what there is.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

BIN := .venv/bin
CODE := engine hardware kiosk tests docs vm

# What one attract-mode game looks like on a machine with nothing to show it on.
SIZE ?= 1280x720
SHOTS ?= shots

# How many positions of each preset `make differential` compares.
POSITIONS ?= 10000

# How many damaged inputs `make fuzz` feeds, how many inputs `make monkey` gives, and which.
CASES ?= 100000
INPUTS ?= 1000000
DAYS ?= 30
HOURS ?= 2
SEED ?= 1

.PHONY: help
help: ## List these targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

# --- Play ----------------------------------------------------------------------------------------

.PHONY: run
run: venv ## Play; without a display, play one game off-screen and take pictures
	@status=0; $(BIN)/python -m kiosk || status=$$?; \
	if (( status != 2 )); then exit $$status; fi; \
	echo "So one game is played off-screen instead."; \
	$(MAKE) --no-print-directory demo

.PHONY: demo
demo: venv ## Play one game off-screen; pictures go to SHOTS=shots, SIZE=1280x720
	$(BIN)/python -m kiosk --offscreen --size $(SIZE) --demo --shots $(SHOTS)
	@echo "Pictures of the game: $(abspath $(SHOTS))"

# --- Install -------------------------------------------------------------------------------------

# As `sudo make install NAME=value`; install/install tells what they mean.
export VARIANT KIOSK_USER BUNDLE DESTDIR READY_WITHIN PURGE
.PHONY: install uninstall
install: ## Make this machine a kiosk, or bring it up to date (sudo; docs/operator.md)
	@install/install
uninstall: ## Undo that and keep the data; PURGE=yes removes them too (sudo)
	@install/uninstall

.PHONY: bundle
bundle: venv-test ## Pack program, Python and installer into dist/pyramid-kiosk-*.tar.gz
	@install/bundle

# --- Check ---------------------------------------------------------------------------------------

.PHONY: test
test: venv-test format-check lint types units pytest ## Every check there is, except the slow ones

.PHONY: format-check
format-check: venv-test
	$(BIN)/ruff format --check $(CODE)

.PHONY: format
format: venv-test ## Put the code into its standard form
	$(BIN)/ruff format $(CODE)
	$(BIN)/ruff check --fix $(CODE)

.PHONY: lint
lint: venv-test ## Look for mistakes with ruff
	$(BIN)/ruff check $(CODE)

.PHONY: types
types: venv-test ## Check the types with mypy --strict
	$(BIN)/mypy

.PHONY: units
units: venv-test ## Verify the systemd unit and how much it is locked down
	systemd/verify

.PHONY: pytest
pytest: venv-test
	@mkdir -p build/window
	@echo "The tests that draw run meanwhile; what they say comes at the end."
	@COVERAGE_FILE="$(CURDIR)/build/window/.coverage" $(BIN)/pytest -m "not slow and window" \
	    --cov --cov-report= >build/window/log 2>&1 & drawing=$$!; \
	status=0; \
	$(BIN)/pytest -m "not slow and not window" --numprocesses auto --dist worksteal \
	    --cov --cov-report= || status=$$?; \
	wait $$drawing || status=$$?; \
	cat build/window/log; \
	exit $$status
	@$(BIN)/coverage combine --quiet --append build/window/.coverage
	@$(BIN)/coverage report

.PHONY: pool-verify
pool-verify: venv ## Replay every line of the shipped pool (half a minute)
	$(BIN)/python -m engine pool verify

# Every preset must be decided for every deal, within the memory that a kiosk allows.
.PHONY: decide
decide: venv ## Decide 100,000 deals of each preset; none may stay undecided (minutes)
	@for preset in three-pass cards4 relaxed classic collection overlap; do \
	    line=$$($(BIN)/python -m engine winrate --rules $$preset --deals 100000); \
	    echo "$$preset: $$line"; \
	    [[ $$line == *' 0 undecided'* ]] || exit 1; \
	done

.PHONY: slow
slow: venv ## The tests that take minutes: more positions against the oracle, more deals uncut
	$(BIN)/pytest -m slow tests

.PHONY: differential
differential: venv-test ## Compare the solver with a search without cuts on POSITIONS=10000 a preset (an hour)
	nice $(BIN)/python -m tests.engine.differential --positions $(POSITIONS)

.PHONY: crash
crash: venv-test ## Cut the power at every write of the state folder, in all ways that are told apart (minutes)
	nice $(BIN)/python -m tests.crash.runs

# VM_HOOKS takes further options for mmdebstrap, as FRESH_HOOKS does.
CUTS ?= 5
export VM_HOOKS
.PHONY: vm
vm: venv ## Install, boot, play and CUTS=5 times cut off the kiosk in QEMU (root; docs/vm.md; half an hour)
	$(BIN)/python -m vm --cuts $(CUTS)

.PHONY: fuzz
fuzz: venv-test ## Feed CASES=100000 damaged files and command lines, by SEED=1, to all that reads them (an hour)
	nice $(BIN)/python -m tests.fuzz.run --cases $(CASES) --seed $(SEED)

.PHONY: monkey
monkey: venv-test ## Give INPUTS=1000000 random inputs to the whole kiosk, by SEED=1, in virtual time (hours)
	nice $(BIN)/python -m tests.monkey.run --inputs $(INPUTS) --seed $(SEED)

.PHONY: days soak
days: venv-test ## DAYS=30 of a museum's traffic in virtual time: does anything grow? (an hour)
	nice $(BIN)/python -m tests.monkey.soak --days $(DAYS) --seed $(SEED)
soak: venv-test ## The same for HOURS=2 real hours, every frame drawn
	$(BIN)/python -m tests.monkey.soak --hours $(HOURS) --seed $(SEED)

# In an environment of its own: what looks into packages is none of them.
AUDIT := build/audit
.PHONY: audit
audit: ## Look up every pinned package in the lists of known weaknesses (needs the network)
	test -x $(AUDIT)/bin/pip-audit || { python3 -m venv $(AUDIT) && \
	    $(AUDIT)/bin/python -m pip install --quiet --disable-pip-version-check pip-audit==2.10.1; }
	$(AUDIT)/bin/pip-audit --strict --no-deps --disable-pip --requirement constraints.txt

.PHONY: vectors
vectors: venv-test ## Solve all 300 known deals under all 8 rule sets
	$(BIN)/pytest tests/engine/test_vectors.py

# --- Measure and look ----------------------------------------------------------------------------

.PHONY: bench
bench: venv ## Measure the solver, and what frames cost beside an empty window
	$(BIN)/python -m engine bench
	@for size in 800x480 1280x720 1920x1080; do $(BIN)/python -m kiosk.bench --size $$size; done
	$(BIN)/python -m kiosk.bench_process
	$(BIN)/python -m kiosk.bench_attract
	$(BIN)/python -m kiosk.bench_storage

.PHONY: texts
texts: venv-test ## Bring the catalogues in kiosk/locale up to date with the texts in the code
	$(BIN)/python kiosk/locale/update.py

.PHONY: settings
settings: venv ## Make kiosk/data/settings.toml from the settings and docs/settings.md
	$(BIN)/python kiosk/data/make_settings.py

.PHONY: gallery
gallery: venv ## Take pictures of every screen, in every language, at every size; SHOTS=shots
	$(BIN)/python -m kiosk.gallery --out $(SHOTS)

# Plots need matplotlib, which nothing else does.
PLOTS := build/plots
$(PLOTS)/bin/python: | venv
	/usr/bin/python3 -m venv $(PLOTS)
	$(PLOTS)/bin/python -m pip install --quiet --disable-pip-version-check matplotlib==3.11.2

.PHONY: plots
plots: $(PLOTS)/bin/python ## Draw the plots in docs/images again
	PYTHONPATH=. $(PLOTS)/bin/python docs/winnability.py plot
	PYTHONPATH=. $(PLOTS)/bin/python docs/casual_player.py

.PHONY: winnability
winnability: venv ## Count again how many deals can be won, for docs/winnability.md (hours)
	$(BIN)/python docs/winnability.py count
	$(BIN)/python docs/winnability.py page
	$(MAKE) --no-print-directory plots

# --- Housekeeping --------------------------------------------------------------------------------

.PHONY: venv venv-test
venv: ## Install what playing needs, system packages included, into .venv
	@./setup.sh
venv-test: ## The same, and what the checks need besides
	@./setup.sh --test

# FRESH_HOOKS takes further options for mmdebstrap, for instance to copy in a network's certificates.
SUITE ?= bookworm
GOALS ?= run test
.PHONY: fresh
fresh: ## Try `make run` and `make test` on an empty Debian, SUITE=bookworm (needs root, mmdebstrap)
	mmdebstrap --mode=root --variant=minbase --include=git,make,ca-certificates $(FRESH_HOOKS) \
	    --customize-hook='git clone --quiet --no-local . "$$1/root/pyramid-kiosk"' \
	    --customize-hook='for goal in $(GOALS); do \
	        chroot "$$1" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin \
	            make -C /root/pyramid-kiosk $$goal || exit 1; done' \
	    $(SUITE) /dev/null

.PHONY: clean
clean: ## Remove everything that can be made again, .venv included
	rm -rf .venv build dist shots htmlcov .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -rf *.egg-info engine/_{search,shortest,casual}.c engine/*.so
	find $(CODE) -name __pycache__ -prune -exec rm -rf {} +
