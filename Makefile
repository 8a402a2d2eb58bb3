# Oriel. `make demo` runs the product with sample data; `make test` runs all tests.
# Everything else is a part of these two, or `make nightly`.
SHELL := /bin/bash
SECONDS ?= 45
SEED ?= 0
PAIRS ?= 5000
.DEFAULT_GOAL := help

# Pinned tools live in a cache outside the repository.
export ORIEL_CACHE_DIR ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/oriel
SQLC := $(ORIEL_CACHE_DIR)/sqlc-v1.31.1/sqlc
OAPI := $(ORIEL_CACHE_DIR)/oapi-codegen-v2.8.2/oapi-codegen
LINT := $(ORIEL_CACHE_DIR)/golangci-lint-v2.15.0/golangci-lint

help: ## List the targets.
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-12s %s\n", $$1, $$2}'

demo: build ## Set up and run the product with sample data on 127.0.0.1:8080.
	@bin/oriel demo

test: ## Run all tests; STRICT=1 fails for a lane that could not run.
	@STRICT=$(STRICT) .ci/lanes

nightly: ## The long form of the tests, and the large benchmarks.
	@STRICT=1 LONG=1 .ci/lanes

build: frontend/dist/index.html ## Build bin/oriel with the browser app in it.
	@echo "building bin/oriel (the first build of a machine takes a minute or two)"
	@CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o bin/oriel ./server

node_modules/.package-lock.json: package.json package-lock.json
	@command -v npm >/dev/null || { echo "Node.js with npm is needed (20 or newer)"; exit 1; }
	@echo "installing npm packages"
	@npm ci --no-audit --no-fund --loglevel=error
	@touch $@

frontend/dist/index.html: node_modules/.package-lock.json $(shell find frontend/src frontend/public frontend/index.html vite.config.ts -type f 2>/dev/null)
	@echo "building the browser app"
	@npm run --silent build

$(SQLC):
	@echo "building sqlc (two to three minutes, once)"
	@CGO_ENABLED=0 GOBIN=$(@D) go install github.com/sqlc-dev/sqlc/cmd/sqlc@v1.31.1
$(OAPI):
	@echo "building oapi-codegen"
	@CGO_ENABLED=0 GOBIN=$(@D) go install github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2
$(LINT):
	@echo "building golangci-lint (about three minutes, once)"
	@CGO_ENABLED=0 GOBIN=$(@D) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

generate: $(SQLC) $(OAPI) node_modules/.package-lock.json ## Write the generated code anew.
	@$(SQLC) generate
	@$(OAPI) -config server/httpapi/oapi-codegen.yaml server/httpapi/openapi.yaml
	@npm run --silent gen

lint: $(LINT) node_modules/.package-lock.json ## Lint and type-check everything.
	@$(LINT) run ./...
	@$(LINT) run --build-tags failpoint ./server/failpoint
	@npm run --silent lint
	@npm run --silent typecheck

fmt: $(LINT) ## Format everything.
	@$(LINT) fmt ./...
	@npm run --silent format

e2e: build ## Browser tests against the real program.
	@npm run --silent e2e
	@npm run --silent e2e:signin

keycloak: build ## Browser tests of signing in with Keycloak, which Maven fetches.
	@ORIEL_E2E_PROVIDERS=keycloak npm run --silent e2e:signin

fault: ## End the program at every crash point and check its promises; LONG=1 at more moments, and on Apache Kafka.
	@go test -count=1 -tags failpoint ./server/failpoint
	@CGO_ENABLED=0 GOFLAGS=-trimpath $(if $(LONG),ORIEL_TEST_KAFKA=1) go test -count=1 -timeout $(if $(LONG),60m,15m) -parallel 4 \
	  -run 'AKillAt|AZombie|APanicAtAnyPoint' ./fault -args -matrix $(if $(LONG),-long)

nemesis: ## Break everything at random for SECONDS=45, and check; SEED=… does the same again.
	@CGO_ENABLED=0 GOFLAGS=-trimpath go test -count=1 -timeout $$(($(SECONDS) + 900))s -v -run 'TestNothingIsLost' ./fault -args -nemesis $(SECONDS) -seed $(SEED)

agree: ## Compare searches with a plain reference on PAIRS=5000 random filters; SEED=… does the same again.
	@CGO_ENABLED=0 GOFLAGS=-trimpath go test -count=1 -timeout 120m -v -run 'TestSearchesAnswerAsTheReferenceDoes' ./server/search -args -pairs $(PAIRS) -seed $(SEED)
	@CGO_ENABLED=0 GOFLAGS=-trimpath go test -count=1 -timeout 60m ./server/search/reference $(if $(LONG),-args -long)

bench: build ## Benchmarks against limits and peers; SHORT=1 only proves that they run.
	@SHORT=$(SHORT) .ci/bench

.PHONY: help demo test nightly build generate lint fmt e2e keycloak fault nemesis agree bench
