# Everything a person or a pipeline runs here. It needs Go, make and git; the
# tools are pinned in hack/tools, the control plane is found or built by
# hack/cluster.

VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
IMAGE    ?= kureka:$(VERSION)
FUZZTIME ?= 30s
COUNT    ?= 1
BENCH    ?= .
COMPARE  ?=
SEEDS    ?= 20000
FIRST    ?= 1
MUTANTS  ?=
RESTARTS ?= ^Test

TOOL     := go tool -modfile=hack/tools/go.mod
PROGRESS := hack/progress.sh
PINNED   := hack/pinned.sh
CRANE    := $(PINNED) go tool -modfile=hack/image/go.mod crane
RELEASE  := $(PINNED) go run ./hack/release
COMMIT    = $(shell git describe --always --dirty=+dirty --abbrev=40 --exclude='*' 2>/dev/null)
LDFLAGS   = -s -w -X github.com/kureka/kureka/internal/version.linked=$(VERSION) -X github.com/kureka/kureka/internal/version.linkedCommit=$(COMMIT)
# The race detector needs a C compiler; without one the tests run all the same.
RACE      = $(if $(filter 1,$(shell go env CGO_ENABLED)),-race)

.DEFAULT_GOAL := help

.PHONY: help
help: ## Show this list.
	@awk 'BEGIN { FS = ":.*## " } /^##@ / { print "\n" substr($$0, 5) } /^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

##@ Use

.PHONY: build
build: ## Build the commands into bin/.
	@$(PROGRESS) "building the commands" go build -trimpath -ldflags '$(LDFLAGS)' -o bin/ ./cmd/...

.PHONY: demo
demo: cluster-ensure ## Show the incident and its end on a real API server (COMPARE=1: beside lease-only mode).
	@go run ./hack/demo $(if $(COMPARE),--compare)

.PHONY: cluster-up
cluster-up: ## Start a control plane of your own and leave it running.
	@go run ./hack/cluster up

.PHONY: cluster-down
cluster-down: ## Stop that control plane.
	@go run ./hack/cluster down

.PHONY: cluster-ensure
cluster-ensure: ## Find, download or build the control plane; once per machine.
	@go run ./hack/cluster ensure

.PHONY: image
image: ## Build the container image into dist/, without docker, as a folder and a tar.
	@$(PROGRESS) "building the image" $(RELEASE) -version '$(VERSION)' -name '$(IMAGE)' image

.PHONY: push
push: ## Push the image that make image or make release built, IMAGE=registry/name:tag.
	@$(PROGRESS) "pushing the image (builds crane first, once)" $(CRANE) push \
		"$$(ls -dt dist/kureka_$(VERSION)_image dist/$(VERSION)/kureka_$(VERSION)_image 2>/dev/null | head -n 1)" '$(IMAGE)'

.PHONY: release
release: ## Build everything of a release into dist/VERSION (VERSION=v1.2.3).
	@$(PROGRESS) "building the release (builds Helm first, once)" $(RELEASE) -version '$(VERSION)' -name '$(IMAGE)' all

.PHONY: clean
clean: ## Remove what the build left here.
	rm -rf bin dist

##@ Check

.PHONY: test
test: cluster-ensure vet lint unit ## Check everything: vet, lint, all tests on a real API server, the incident.

.PHONY: vet
vet:
	@$(PROGRESS) "vetting" go vet ./...

.PHONY: lint
lint: ## Run the linters, the import rules among them.
	@$(PROGRESS) "linting (builds the linter first, once)" $(TOOL) golangci-lint run ./...

.PHONY: helm-ensure
# The Go of this folder is taken there, too, as go test will.
helm-ensure:
	@$(PROGRESS) "building Helm, kustomize and kubectl (once)" sh -c 'PATH="$$(go env GOROOT)/bin:$$PATH"; for tool in helm kustomize kubectl; do go -C hack/helm tool -n $$tool >/dev/null || exit 1; done'

.PHONY: chart
chart: cluster-ensure helm-ensure ## Check the chart: what it renders, and a release from installation to end.
	@$(PROGRESS) "testing the chart" go test -count=1 ./test/chart ./hack/chart

.PHONY: unit
unit: cluster-ensure helm-ensure ## Run all tests but the chains, with the race detector.
	@$(if $(RACE),,echo "note: no C compiler, so the race detector is off")
	@$(PROGRESS) "testing" go test $(RACE) -shuffle=on $$(go list ./... | grep -v '/test/chains$$')

.PHONY: chains
chains: cluster-ensure ## Play failures of nodes, the API server, etcd and the network to what clients see (three minutes).
	@$(PROGRESS) "playing the chains of failures" go test $(RACE) -count=1 -shuffle=on ./test/chains

.PHONY: histories
histories: ## Play random histories against the model (SEEDS=20000, FIRST=1).
	@$(PROGRESS) "playing $(SEEDS) histories" go test ./test/truth -count=1 -timeout 0 -run '^TestNobody' -seeds $(SEEDS) -first-seed $(FIRST)

.PHONY: mutate
mutate: ## Play 2,000 random histories, then disable each brake: one must fail.
	@$(PROGRESS) "playing the histories with every brake" go test ./test/truth -count=1 -timeout 1h -run '^TestNobody' -seeds 2000
	@$(PROGRESS) "disabling one brake after the other" go test ./test/truth -count=1 -timeout 1h -v -run '^TestWithoutAnyBrake' -mutate -mutants '$(MUTANTS)'

.PHONY: conformance
conformance: ## Run real Eureka clients against the server (LANES=js for some of them).
	@test/conformance/run $(if $(LANES),-lanes '$(LANES)')

.PHONY: release-check
release-check: vulncheck ## Look for vulnerabilities, build a release for all platforms twice, and compare and try it.
	@$(PROGRESS) "checking a release (builds Helm first, once)" go test -count=1 -timeout 1h ./test/release -args -everything

.PHONY: licences
licences: ## Write the licences of all that is built in to dist/; fail on one that is not allowed.
	@$(PROGRESS) "checking the licences" go run ./hack/release licences

.PHONY: vulncheck
vulncheck: ## Fail on known vulnerabilities that the programs can reach, or if that cannot be found out.
	@$(PROGRESS) "looking for vulnerabilities (builds govulncheck first, once)" $(PINNED) go run ./hack/vulncheck

.PHONY: alerts
alerts: cluster-ensure ## Have a real Prometheus play the alerts and answer the dashboard; downloads Debian's package.
	@$(PROGRESS) "playing the alerts" go test -count=1 ./test/alerts -args -prometheus

.PHONY: rolling
rolling: cluster-ensure ## Restart Spring Boot services under load and count the calls that fail, for an hour and a half (RESTARTS=TestRollout/sleep for some).
	go test -count=1 -v -timeout 3h ./test/rolling -run '$(RESTARTS)' -args -clients

.PHONY: browser
browser: ## Open the dashboard in headless Chromium; installs Debian's if there is none.
	@test/browser/run

.PHONY: fuzz
fuzz: ## Fuzz every parser for FUZZTIME each.
	@hack/fuzz.sh $(FUZZTIME)

.PHONY: bench
bench: cluster-ensure ## Run the benchmarks (BENCH=name, COUNT=10 for a comparison).
	@$(PROGRESS) "measuring" go test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) ./internal/... ./controllers/...

.PHONY: bench-diff
bench-diff: ## Compare two saved benchmark outputs, OLD=file NEW=file.
	@$(TOOL) benchstat $(OLD) $(NEW)

##@ Change

.PHONY: fmt
fmt: ## Format the code.
	@$(PROGRESS) "formatting" $(TOOL) golangci-lint fmt

.PHONY: generate
generate: ## Write every generated file.
	@$(PROGRESS) "generating" go generate ./...
	@go test ./internal/archtest -run '^TestLinter_' -count=1 -update
	@go test ./internal/verdict -run '^TestSignals' -count=1 -update
	@go test ./internal/audit -run '^TestTheDocument' -count=1 -update
	@go test ./internal/app -run '^TestTheMetricsAreDocumented' -count=1 -update
	@$(PROGRESS) "generating the permissions" $(TOOL) controller-gen rbac:roleName=kureka paths=./controllers/... output:rbac:artifacts:config=config/rbac
ifneq ($(wildcard api/*/*_types.go),)
	@$(PROGRESS) "generating the custom resources" $(TOOL) controller-gen object crd paths=./api/... output:crd:artifacts:config=config/crd/bases
endif
	@$(PROGRESS) "generating parts of the chart" go run ./hack/chart

.PHONY: verify
verify: ## Fail when a generated file, a go.mod, the format, what a document names or a licence is not as it should be.
	@hack/verify-tree.sh $(MAKE) --no-print-directory generate
	@hack/verify-modules.sh
	@$(PROGRESS) "checking the format (builds the formatter first, once)" $(TOOL) golangci-lint fmt --diff
	@$(PROGRESS) "checking what the documents name" go test ./test/docs
	@$(MAKE) --no-print-directory licences
