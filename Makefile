# Two commands matter: `make up` and `make test`. `make help` lists the rest.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
# Toolchains installed by their own installers are found without a new login; and those that `scripts/bootstrap` had to bring.
export PATH := $(HOME)/.local/share/fqc/toolchains/bin:$(PATH):$(HOME)/.cargo/bin:/usr/local/go/bin
# What is fetched once for all checkouts of this user.
export FQC_CACHE ?= $(HOME)/.cache/fqc

RUN_DIR ?= $(CURDIR)/.run
PYTHON := .venv/bin/python
STACK := cd backend && { test -e .venv/ready || { echo "nothing is built yet, so nothing runs; start with: make up" >&2; exit 1; }; } \
	&& $(PYTHON) -m stack
CARGO := cd engine && cargo
# Most of these tests wait for servers: some of them at a time, each with a database and servers of its own. They are handed out
# in their order: those that empty the database come last, and after one of them nothing finds the rows that migrations made.
WORKERS := --dist load --maxschedchunk 1 --numprocesses
PYTHON_CODE := . ../.ci ../engine/apps ../engine/bench ../engine/tests/peers ../scripts/packages
HOUSE_TESTS := cd backend && $(PYTHON) -m pytest -q -c /dev/null --rootdir=stack --confcutdir=stack -p no:django -p no:cacheprovider
# The epoch reclamation that the cache builds on keeps to tree borrows, and never frees its own last garbage.
MIRI := -Zmiri-tree-borrows -Zmiri-ignore-leaks -Zmiri-disable-isolation
# The line that this machine's own server, on which everything is tested, is not of; and what of the suites runs there.
LINE ?= $(if $(findstring Ver 11.8.,$(shell PATH="$(PATH):/usr/sbin" mariadbd --version 2>/dev/null)),10.11,11.8)
LINE_TESTS := adaptation differential histories insight lasting surface \
	$(addprefix traps_,definitions identity prepared refusals rows transactions wire writes)
# The names of some tests, as a failure's line has them (of the browser's: file and line), for a suite that runs no others.
ONLY ?=
ENGINE_TESTS := python3 $(CURDIR)/.ci/cargo_tests.py
GO_TESTS := python3 $(CURDIR)/.ci/go_tests.py
comma := ,
GO_ONLY = $(if $(ONLY),-run '^($(subst $(eval) ,|,$(strip $(ONLY))))$$')
# Before tests that have a real MySQL server beside MariaDB, which is fetched; or FQC_MYSQLD. Without one they skip those, and say so.
WITH_MYSQL = scripts/fetch-server MySQL tested "$(RUN_DIR)/mysql" >/dev/null || [ $$? -eq 3 ]; \
	export FQC_MYSQLD="$${FQC_MYSQLD:-$(RUN_DIR)/mysql/sbin/mysqld}"
# Older ones, below the folder that it is given.
FETCH_OLDER_MYSQL = for line in 5.7 8.0; do scripts/fetch-server MySQL $$line "$(1)/MySQL-$$line" >/dev/null || { [ $$? -eq 3 ] && \
	echo "SKIPPED: NO MYSQL $$line SERVER COULD BE HAD; NOTHING WAS TESTED ON THAT LINE"; }; done
# A real Prometheus and mysqld_exporter, which come as that server does and use its C library. Without them tests say what they skip.
WITH_PROMETHEUS = env -u FQC_MARIADBD scripts/fetch-server MariaDB 11.8 "$(RUN_DIR)/prometheus" prometheus promtool prometheus-mysqld-exporter \
	>/dev/null || [ $$? -eq 3 ]; export PATH="$$PATH:$(RUN_DIR)/prometheus/bin"
# A folder of its own, since cargo lets nobody else use that in which it is at work.
LINT_DIR := $(or $(CARGO_TARGET_DIR),target)/lint
# What is built for users is optimised across crates, which takes minutes. For tests all of the workspace is built once, with the
# checks of arithmetic and the assertions that a release leaves out; the long searches and the packages run what is built for users.
ENGINE_PROFILE ?= release
BUILT := $(or $(CARGO_TARGET_DIR),target)/$(if $(filter dev,$(ENGINE_PROFILE)),debug,release)
BUILD_ENGINE = $(if $(filter dev,$(ENGINE_PROFILE)),$(ENGINE_TESTS) --build,$(CARGO) build --release --locked --quiet -p $(1))
STEP := scripts/step
STEPS := 7
# The time of the last build for users; there is none while engine/dist has what was built for tests.
BUILT_AT = dist/.$(1).release
NOTE_BUILD = rm -f $(BUILT_AT) && $(if $(filter dev,$(ENGINE_PROFILE)),true,touch $(BUILT_AT))
# Whether something of engine/dist may be older than its source. Cargo would know, but it waits for a build that is at work.
IS_OLDER = $(shell cd engine && { test -e $(BUILT_AT) && ! find crates Cargo.toml Cargo.lock -newer $(BUILT_AT) | grep -q . ; } || echo it is)

##@ Use it
up: ## Build it and start it: console, API, worker, scheduler and two MariaDB servers, or FLEET=mysql; `fqc-near` follows in the background
	@$(STEP) 1 $(STEPS) "system packages" scripts/bootstrap system
	@$(MAKE) --jobs=3 up-plugin up-backend up-console
	@$(if $(filter mysql,$(FLEET)),$(if $(FQC_MYSQLD),,scripts/fetch-server MySQL tested))
	@$(STACK) up --run-dir "$(RUN_DIR)" --steps-before 4 $(if $(filter mysql,$(FLEET)),--product MySQL) \
		$(if $(call IS_OLDER,fqc-near),--near-build "$(MAKE) near")
up-plugin:
	@$(STEP) 2 $(STEPS) "the plugin" $(MAKE) with-rust
up-backend:
	@$(STEP) 3 $(STEPS) "the backend" $(MAKE) backend
up-console:
	@$(STEP) 4 $(STEPS) "the console" $(MAKE) with-node
with-rust:
	@scripts/bootstrap rust
	@$(if $(call IS_OLDER,fqc.so),$(MAKE) engine)
with-node:
	@scripts/bootstrap node
	@$(MAKE) frontend
down: ## Stop everything that `make up` started, and only that
	@$(STACK) down --run-dir "$(RUN_DIR)"
reset: ## Stop it and forget its data
	@$(STACK) reset --run-dir "$(RUN_DIR)"
demo: ## Run a read-heavy workload against the fleet until Ctrl-C, so that the charts move
	@$(STACK) demo --run-dir "$(RUN_DIR)"
status: ## What runs, where, and where its logs are
	@$(STACK) status --run-dir "$(RUN_DIR)" || test $$? -eq 3
logs: ## Follow the logs
	@$(STACK) logs --run-dir "$(RUN_DIR)"

##@ Build it
build: engine near backend frontend
engine: ## Build the plugin into engine/dist/fqc.so
	@echo "engine: building the plugin, the first time in minutes, then in seconds"
	@$(call BUILD_ENGINE,fqc-plugin)
# A server may have the old file mapped: `install` puts a new file in its place and never writes into the old one.
	@cd engine && mkdir -p dist && { cmp -s $(BUILT)/libfqc.so dist/fqc.so || install -m 755 $(BUILT)/libfqc.so dist/fqc.so; } && $(call NOTE_BUILD,fqc.so)
near: ## Build fqc-near, which runs beside an application, its man page, and the library for applications into engine/dist
	@$(call BUILD_ENGINE,fqc-near -p fqc-in-process)
	@cd engine && mkdir -p dist && { cmp -s $(BUILT)/libfqc_in_process.so dist/libfqc.so || install -m 755 $(BUILT)/libfqc_in_process.so dist/libfqc.so; } && install -m 755 crates/in-process/fqc-run dist/fqc-run
	@cd engine && { cmp -s $(BUILT)/fqc-near dist/fqc-near || { install -D -m 755 $(BUILT)/fqc-near dist/fqc-near && dist/fqc-near --man > dist/fqc-near.8; }; } && $(call NOTE_BUILD,fqc-near)
backend: backend/.venv/ready ## Install the backend and its pinned dependencies into backend/.venv
	@:
frontend: frontend/dist/index.html ## Build the console into frontend/dist
	@:
cli: backend/fqc/.venv/ready ## Install the `fqc` command into backend/fqc/.venv/bin
# Without the commit's name: a program changes with its source, and with nothing else.
sdk-clients: backend/rpc_clients/.venv/ready backend/rpc_clients/node/node_modules/ready ## Install the managed service's official clients
	@cd backend/rpc_clients/go && go build -buildvcs=false -o bin/ ./...
terraform: ## Build the Terraform provider
	@cd infra/terraform/provider && go build -buildvcs=false -o bin/terraform-provider-fqc .

packages: $(RUN_DIR)/packages.venv/ready backend frontend ## Build what others install, into .run/packages: Debian packages, and `fqc` as wheel and sdist
	@$(RUN_DIR)/packages.venv/bin/python scripts/packages/build.py "$(RUN_DIR)/packages"

version: ## Write VERSION=1.1.0 into every part, or show what each states
	@scripts/packages/versions.py $(VERSION)
release: ready-test $(RUN_DIR)/packages.venv/ready backend frontend ## Build all of VERSION=1.0.0 into .run/release, and tag the commit as its last step
	@test -n "$(VERSION)" || { echo "which version? For example: make release VERSION=1.0.0" >&2; exit 1; }
	@$(RUN_DIR)/packages.venv/bin/python scripts/packages/release.py "$(RUN_DIR)/release" $(VERSION)

$(RUN_DIR)/packages.venv/ready: scripts/packages/requirements.lock
	@test -x $(@D)/bin/python || python3 -m venv $(@D)
	@$(@D)/bin/python -m pip install --quiet --require-hashes --requirement scripts/packages/requirements.lock
	@touch $@
backend/.venv/ready: backend/requirements.lock
	@echo "backend: installing its dependencies"
	@test -x backend/$(PYTHON) || python3 -m venv backend/.venv
	@cd backend && $(PYTHON) -m pip install --quiet --require-hashes --requirement requirements.lock
	@touch $@
backend/fqc/.venv/ready: backend/fqc/requirements.lock backend/fqc/pyproject.toml
	@echo "cli: installing fqc into backend/fqc/.venv/bin"
	@test -x backend/fqc/$(PYTHON) || python3 -m venv backend/fqc/.venv
	@cd backend/fqc && $(PYTHON) -m pip install --quiet --require-hashes --requirement requirements.lock
	@cd backend/fqc && $(PYTHON) -m pip install --quiet --no-deps --editable .
	@touch $@
backend/rpc_clients/.venv/ready: backend/rpc_clients/requirements.lock
	@echo "sdk-clients: installing the official clients"
	@test -x backend/rpc_clients/$(PYTHON) || python3 -m venv backend/rpc_clients/.venv
	@cd backend/rpc_clients && $(PYTHON) -m pip install --quiet --require-hashes --requirement requirements.lock
	@touch $@
backend/rpc_clients/node/node_modules/ready: backend/rpc_clients/node/package-lock.json
	@cd backend/rpc_clients/node && npm ci --no-audit --no-fund --loglevel=error
	@touch $@
# Of the linters alone: where there is no build of it for the machine, they say so.
scripts/.venv/ready: scripts/hadolint.lock
	@test -x scripts/$(PYTHON) || python3 -m venv scripts/.venv
	@scripts/$(PYTHON) -m pip install --quiet --require-hashes --only-binary :all: --requirement scripts/hadolint.lock || true
	@touch $@
frontend/node_modules/ready: frontend/package-lock.json
	@echo "frontend: installing its dependencies"
	@cd frontend && npm ci --no-audit --no-fund --no-update-notifier --loglevel=error
	@touch $@
frontend/dist/index.html: frontend/node_modules/ready $(shell find frontend/src frontend/public frontend/build frontend/index.html frontend/vite.config.ts -type f 2>/dev/null)
	@echo "frontend: building the console"
	@cd frontend && npm run --silent build -- --logLevel warn
	@touch $@

##@ Check it
test: ready-test ## Run every suite and every linter to the end; one summary
	@ENGINE_PROFILE=dev python3 .ci/suites.py
build-all:
	@$(MAKE) --jobs=3 build cli terraform sdk-clients engine/bench/.venv/ready scripts/.venv/ready
engine/bench/.venv/ready: engine/bench/requirements.lock
	@engine/bench/run --help >/dev/null
test-engine: ## Engine: unit, model and property tests
	@$(ENGINE_TESTS) --only "$(ONLY)" --without fqc-tests fqc-near
test-engine-models: ## Engine: every interleaving of the protocols of the cache, by loom, and of near caches
	@cd engine && RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test --locked --profile models -p fqc-cache -p fqc-mapped --test loom
	@cd engine && CARGO_TARGET_DIR=target/loom cargo test --locked --profile models -p fqc-feed --test model
test-engine-miri: ## Engine: the cache's unsafe parts, interpreted by Miri (needs nightly with miri; not part of `make test`)
	@cd engine && MIRIFLAGS="$(MIRI)" CARGO_TARGET_DIR=target/miri cargo +nightly miri test --locked -p fqc-cache --lib --test pin --test model
test-engine-server: engine ## Engine: tests against real MariaDB servers
	@$(ENGINE_TESTS) fqc-tests --only "$(ONLY)" --without fqc-tests:mysql
test-engine-server: export FQC_CONNECTORS_CACHE = $(FQC_CACHE)/connectors
test-engine-line: engine ## Engine: part of these on another line of MariaDB, which is fetched: LINE=11.8
	@code=0; scripts/fetch-server MariaDB $(LINE) || code=$$?; case $$code in \
	0) export FQC_MARIADBD="$${FQC_MARIADBD:-$(CURDIR)/engine/target/servers/MariaDB-$(LINE)/sbin/mariadbd}"; \
		export FQC_TEST_SECONDS="$${FQC_TEST_SECONDS:-10}" FQC_TEST_STATEMENTS="$${FQC_TEST_STATEMENTS:-4000}"; \
		$(ENGINE_TESTS) fqc-tests:$(subst $(eval) ,$(comma),$(strip $(LINE_TESTS))) --only "$(ONLY)" ;; \
	3) echo "SKIPPED: NO MARIADB $(LINE) SERVER COULD BE HAD; NOTHING WAS TESTED ON THAT LINE" ;; \
	*) exit 1 ;; esac
test-engine-replicas: engine ## Engine: histories on a source and its replica, in each format of the log, and what is served beside 1000 rows a second
	@$(CARGO) build --release --locked --quiet -p fqc-tests --bin replicas
	@cd engine && for format in ROW MIXED STATEMENT; do \
		target/release/replicas --plugin dist/fqc.so --seconds $(SECONDS_EACH) --source binlog-format=$$format; \
		target/release/replicas --plugin dist/fqc.so --seconds $(SECONDS_EACH) --source binlog-format=$$format \
			--replica slave-parallel-threads=4 --replica slave-parallel-mode=aggressive; done
	@cd engine && target/release/replicas --plugin dist/fqc.so --seconds $(SECONDS_EACH) --rate 1000 --source binlog-format=ROW
test-engine-replicas: SECONDS_EACH ?= 60
test-engine-mysql: engine ## Engine: tests against a real MySQL server, which is fetched; or FQC_MYSQLD=/path/to/mysqld
	@$(call FETCH_OLDER_MYSQL,engine/target/servers)
	@code=0; scripts/fetch-server MySQL tested || code=$$?; case $$code in \
	0) $(ENGINE_TESTS) fqc-tests:mysql --only "$(ONLY)" ;; \
	3) echo "SKIPPED: NO MYSQL SERVER COULD BE HAD; NOTHING WAS TESTED ON MYSQL" ;; \
	*) exit 1 ;; esac
test-near: engine ## Engine: fqc-near between real clients and a real server; MySQL's, too, where one can be had
	@scripts/fetch-server MySQL tested >/dev/null || { [ $$? -eq 3 ] && echo "NOT TESTED: LOGINS OF MYSQL, OF WHICH NO SERVER COULD BE HAD"; }
	@scripts/fetch-memcached >/dev/null || { [ $$? -eq 3 ] && echo "NOT TESTED: WHAT NEAR CACHES SHARE, SINCE NO MEMCACHED COULD BE HAD"; }
	@$(ENGINE_TESTS) fqc-near:by_log fqc-near --only "$(ONLY)"
test-near: export FQC_CONNECTORS_CACHE = $(FQC_CACHE)/connectors
test-peers: engine ## Engine: MariaDB's own regression tests, with and without the plugin (hours; TESTS="--suite=main"); PRODUCT=MySQL, which are fetched
	@[ "$(PRODUCT)" != MySQL ] || env -u FQC_MYSQLD scripts/fetch-server MySQL tested engine/target/servers/MySQL-9.7-peers mysql-testsuite || [ $$? -eq 3 ]
	@python3 engine/tests/peers/run.py --product $(or $(PRODUCT),MariaDB) $(TESTS)
test-peers-slice: engine ## Engine: some of them
	@python3 engine/tests/peers/run.py --slice
test-bench: ## Engine: the measuring harness
	@engine/bench/run test
test-apps: engine near ## Engine: pages of real applications are the same with the cache, also after writes; the lab's own tests
	@engine/apps/run test
	@engine/apps/run slice
test-suites: engine near ## Engine: tests of frameworks end as without the cache (long; SUITES="sqlalchemy" PRODUCT=MySQL)
	@$(if $(filter MySQL,$(PRODUCT)),scripts/fetch-server MySQL 9.7 >/dev/null || [ $$? -eq 3 ],:)
	@engine/apps/run suites $(if $(SUITES),--suites "$(SUITES)") $(if $(PRODUCT),--product $(PRODUCT))
test-backend-postgres: backend ## Backend on a private PostgreSQL, with a real MySQL server beside MariaDB, which is fetched; or FQC_MYSQLD
	@$(call FETCH_OLDER_MYSQL,$(RUN_DIR)/servers)
	@$(WITH_MYSQL); export FQC_OLDER_SERVERS="$(RUN_DIR)/servers" FQC_TEST_DATABASE_URL=private; cd backend && $(PYTHON) -m pytest -q $(WORKERS) 3 $(or $(ONLY),config controlplane)
test-backend-sqlite: backend ## Backend on SQLite: a quarter of what can depend on the database; `make test-backend` runs all
	@cd backend && FQC_LOCAL_PORT_BASE=13606 $(PYTHON) -m pytest -q $(WORKERS) 2 --database $(if $(ONLY),,--every 4) $(or $(ONLY),config controlplane)
test-backend: backend ## All of the backend's tests on SQLite (not part of `make test`)
	@$(WITH_MYSQL); cd backend && $(PYTHON) -m pytest -q $(WORKERS) 2 $(or $(ONLY),config controlplane)
test-backend-line: backend ## Backend on another line of MariaDB, which is fetched (not part of `make test`): LINE=11.8
	@scripts/fetch-server MariaDB $(LINE)
	@cd backend && PATH="$(CURDIR)/engine/target/servers/MariaDB-$(LINE)/sbin:$(CURDIR)/engine/target/servers/MariaDB-$(LINE)/bin:$$PATH" \
		$(PYTHON) -m pytest -q $(WORKERS) 2 $(or $(ONLY),config controlplane)
soak: engine near backend ready-test ## Search for faults by chance for SECONDS=3600, SEED=1; ONLY="churn"; RECORD=1 writes it down
	@$(CARGO) build --release --locked --quiet -p fqc-tests --bins
	@scripts/fetch-server MySQL tested >/dev/null || [ $$? -eq 3 ]
	@python3 .ci/soak.py --seconds $(or $(SECONDS),3600) --seed $(or $(SEED),1) --only "$(ONLY)" $(if $(RECORD),--record)
test-faults: backend ## A small fleet under random faults for a short time, and its books compared
	@cd backend && $(PYTHON) -m faults --seconds 20 --database postgresql --broker valkey --logs "$(RUN_DIR)/faults"
test-frontend: frontend/node_modules/ready ## Frontend: unit tests
	@cd frontend && npm test
e2e: build ## The console in real Chromium against a real stack
	@cd frontend && npm run e2e $(if $(ONLY),-- --no-deps $(ONLY))
test-cli: build cli ## The `fqc` command against a real stack
	@cd backend/fqc && $(PYTHON) -m pytest -q $(ONLY)
test-sdk: build sdk-clients ## The managed service's official clients against a real stack
	@$(WITH_MYSQL); cd backend/rpc_clients && $(PYTHON) -m pytest -q
test-terraform: build terraform ## The Terraform provider against a real stack
	@$(WITH_MYSQL); cd infra/terraform/provider && TF_ACC=1 $(GO_TESTS) -count=1 -timeout 50m $(GO_ONLY) ./...
test-helm: ## The Helm chart, by Helm itself and by Kubernetes' own types; no cluster runs
	@cd infra/helm && if go tool helm version >/dev/null; then $(GO_TESTS) -count=1 .; \
		else echo "SKIPPED: HELM COULD NOT BE HAD; THE CHART WAS NOT TESTED"; fi
test-dashboards: ## Grafana's dashboards, by its published schema; no Grafana runs
	@cd infra/observability && if go mod download; then $(GO_TESTS) -count=1 .; \
		else echo "SKIPPED: GRAFANA'S SCHEMA COULD NOT BE HAD; THE DASHBOARDS WERE NOT COMPARED WITH IT"; fi
test-stack: build ## What `make up` is made of, against real stacks
	@$(WITH_MYSQL); $(HOUSE_TESTS) stack/tests
test-house: build cli ## Compose file, documents with their examples, and this summary
	@$(WITH_MYSQL); $(WITH_PROMETHEUS); $(HOUSE_TESTS) ../.ci
lint: lint-engine lint-python lint-frontend lint-terraform lint-shell ## Every linter
lint-engine:
	@$(CARGO) fmt --all --check
	@python3 .ci/circles.py
	@# The core of fqc-near must fit into other processes.
	@! ($(CARGO) tree --locked --package fqc-near-core --edges normal --prefix none | grep -E '^(tokio|rustls|mio|socket2) ')
	@$(CARGO) clippy --locked --quiet --workspace --all-targets --features fqc-tests/mysql --target-dir $(LINT_DIR) -- -D warnings
	@# Nothing is linked, so the fuzzer's own library is not built.
	@cd engine/fuzz && CUSTOM_LIBFUZZER_PATH=/nowhere/libfuzzer.a CARGO_TARGET_DIR=../$(LINT_DIR) \
		cargo clippy --locked --quiet -- -D warnings
lint-python: backend
	@cd backend && $(PYTHON) -m ruff check $(PYTHON_CODE) && $(PYTHON) -m ruff format --check $(PYTHON_CODE)
	@cd backend && $(PYTHON) -m mypy && $(PYTHON) -m mypy --strict --ignore-missing-imports stack && .venv/bin/lint-imports
	@found=$$(python3 .ci/words.py --most 0.5) || { echo "$$found"; exit 1; }
lint-frontend: frontend
	@cd frontend && npm run --silent lint && npm run --silent typecheck && npm run --silent check:size
lint-terraform:
	@cd infra/terraform/provider && test -z "$$(gofmt -l .)" && go vet ./...
	@cd backend/rpc_clients/go && test -z "$$(gofmt -l .)" && go vet ./...
	@test -z "$$(gofmt -l infra/helm infra/observability)"
words: ## Comments that begin like half a sentence, and forty documented items drawn at random: SEED=1
	@python3 .ci/words.py; python3 .ci/words.py --draw 40 --seed $(or $(SEED),1)
audit: ## Ask the public databases about every locked dependency; says what could not be asked. COMPLETE=1: that fails, too
	@python3 .ci/audit.py $(if $(COMPLETE),--complete)
lint-shell: scripts/.venv/ready
	@if test -x scripts/.venv/bin/hadolint; then scripts/.venv/bin/hadolint --no-color backend/Dockerfile engine/Dockerfile*; \
		else echo "NOT CHECKED: THE DOCKERFILES, SINCE HADOLINT COULD NOT BE HAD"; fi
	@shellcheck -x scripts/bootstrap scripts/clean-root scripts/roots.sh scripts/try-images scripts/step scripts/packages/try scripts/packages/twice scripts/packages/tries/* scripts/packages/*/p[or]*[mt] scripts/fetch-server scripts/fetch-memcached .ci/run .ci/derived engine/apps/run engine/bench/run engine/docker/start engine/docker/is-healthy engine/crates/in-process/fqc-run
generate: backend frontend/node_modules/ready ## Rewrite the contract and everything derived from it
	@cd backend && $(PYTHON) manage.py spectacular --file openapi.yaml
	@cd backend && $(PYTHON) -m controlplane.catalogue.reference > ../docs/reference/parameters.md
	@cd frontend && npm run --silent generate
	@cd infra/terraform/provider && if command -v terraform >/dev/null; then go generate ./...; else \
		echo "terraform is not installed: the provider's reference is left as it is" && go generate -skip tfplugindocs ./...; fi
generate-check: backend frontend/node_modules/ready ## Fail when a derived file is not what its source gives
	@.ci/derived

clean-root: ## `make up` on a system that has nothing but git and make: ROOT=debian-12, debian-13 or ubuntu-24.04, TARGETS="test" (needs root)
	@scripts/clean-root $(or $(ROOT),debian-13) $(TARGETS)

test-packages: packages ## Install, use, upgrade and remove them on a fresh system: ROOT=debian-12, debian-13 or ubuntu-24.04 (needs root)
	@scripts/packages/try $(or $(ROOT),debian-12) "$(RUN_DIR)/packages"

test-reproducible: ## Build the packages of the last commit twice, in different folders and settings, and compare them byte for byte (long)
	@scripts/packages/twice

test-images: ## Each step of the control plane's Dockerfile in fresh systems, and what the image runs (long; needs root); or IMAGES="engine/Dockerfile"
	@scripts/try-images $(IMAGES)

##@ Measure it
bench: engine listeners ready-bench ## The five published tables on this machine (long)
	@engine/bench/run full
bench-standard: engine listeners ready-bench ## All of that at fewer points and in short runs (half an hour)
	@engine/bench/run standard
bench-quick: engine listeners ready-bench ## A few minutes of the same
	@engine/bench/run quick
bench-near: engine near listeners ready-bench ## Near caches: hits and misses, against the server's own and against none
	@engine/bench/run near
	@engine/bench/run away
bench-in-process: engine near listeners ready-bench ## Hits and misses in the client's own process, against near caches by sockets (minutes)
	@engine/bench/run in-process
	@engine/bench/run in-process-counts
bench-cold: engine near listeners ready-bench ## Near caches by rules from a cold start, with memcached and without (minutes)
	@scripts/fetch-memcached >/dev/null
	@engine/bench/run rules
	@engine/bench/run rules-away
apps: engine near $(if $(DISTANCE),listeners) ## Real applications in each mode of the cache: hits, processor time, pages; APPS="wordpress ghost" MODES="off plugin" ROUNDS=5 PRODUCT=MySQL DISTANCE=0.5ms
	@scripts/fetch-server MySQL 9.7 >/dev/null || [ $$? -eq 3 ]
	@engine/apps/run lab $(if $(APPS),--apps "$(APPS)") $(if $(MODES),--modes "$(MODES)") $(if $(ROUNDS),--rounds $(ROUNDS)) \
		$(if $(PRODUCT),--product $(PRODUCT)) $(if $(DISTANCE),--distance $(DISTANCE))
listeners: ## Build what benchmarks measure against: what a cache can reach at most, and a distance, into engine/dist
	@$(CARGO) build --release --locked --quiet -p fqc-tests --bin ideal --bin distance
	@cd engine && install -D -m 755 -t dist $(addprefix $(or $(CARGO_TARGET_DIR),target)/release/,ideal distance)
bench-backend: backend ready-test ## Polls, alerts, changes, charts and lists of the control plane on 10 000 instances
	@cd backend && $(PYTHON) -m bench --instances 10000

faults: backend ready-test ## The same for SECONDS=600, on DATABASE=postgresql (or sqlite) and BROKER=valkey (rabbitmq, files)
	@cd backend && $(PYTHON) -m faults --seconds $(or $(SECONDS),600) --database $(or $(DATABASE),postgresql) \
		--broker $(or $(BROKER),valkey) --seed $(or $(SEED),1) --logs "$(RUN_DIR)/faults"

ready-%:
	@scripts/bootstrap $*
help: ## This list
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*## / {printf "  %-22s %s\n", $$1, $$2}' Makefile

.PHONY: words soak version release packages up-plugin up-backend up-console with-rust with-node clean-root test-packages test-reproducible test-images up down reset demo status logs build build-all engine near backend frontend cli sdk-clients terraform test lint audit generate bench help \
	test-engine test-engine-models test-engine-miri test-engine-server test-engine-line test-engine-mysql test-near test-peers test-peers-slice test-bench apps test-apps test-suites test-backend test-backend-line test-backend-postgres test-backend-sqlite test-frontend e2e test-cli test-sdk \
	test-terraform test-helm test-dashboards test-stack test-house lint-engine lint-python lint-frontend lint-terraform lint-shell generate-check bench-standard bench-quick bench-near bench-in-process bench-cold listeners bench-backend test-faults faults
