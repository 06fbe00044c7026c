# `make run` and `make test` do all the set-up themselves; each can be called again at once.
export PATH := $(CURDIR)/.node/bin:$(PATH)
EXAMPLE_IMAGE := dist/hello-image.tar
# npm, npx and tsc would run compiled code from /tmp/node-compile-cache, which may be another user's.
NPM := NODE_DISABLE_COMPILE_CACHE=1 npm
NPX := NODE_DISABLE_COMPILE_CACHE=1 npx --no-install

.PHONY: run setup setup-dev build man docs lint release packages api test unit plain-test docker-test vm-test bench generate pictures clean

run: setup $(EXAMPLE_IMAGE) ## set up, then run examples/hello.yaml in the foreground
	./bin/podwright load $(EXAMPLE_IMAGE)
	@scripts/run-example.sh

setup:
	@scripts/setup.sh

setup-dev:
	@scripts/setup.sh --dev

$(EXAMPLE_IMAGE): scripts/example-image.ts | setup
	node scripts/example-image.ts $@

build: setup
	node scripts/build.ts

man: setup ## dist/podwright.1, the manual page
	node scripts/man-page.ts dist/podwright.1

docs: setup ## the pages of docs/ that are generated from tables in the code
	node scripts/write-docs.ts

release: setup ## dist/release: executable, packages, image (docs/releasing.md); needs binutils, llvm, zstd, dpkg, rpm
	node scripts/release/main.ts

lint: setup
	$(NPX) biome check --error-on-warnings .
	$(NPX) tsc -p tsconfig.json
	$(NPX) tsc -p packages/dashboard/page
	$(NPX) knip
	node scripts/packages/main.ts lint

packages: setup ## the packages for npm, in dist/release/npm
	node scripts/packages/main.ts pack

api: setup ## packages/*/api.txt, the public names of each package
	node scripts/packages/main.ts api

unit: setup ## tests that need neither root nor other programs
	node scripts/test.ts unit

test: setup-dev lint ## everything; needs root
	node scripts/test.ts

plain-test: setup-dev ## `make test` without fast paths (docs/decisions/028-fast-paths.md); needs root
	PODWRIGHT_TEST_FAST_PATHS=false node scripts/test.ts

docker-test: setup-dev ## the kubelet's suite on a Docker Engine; needs root
	PODWRIGHT_TEST_RUNTIME=docker node scripts/test.ts $$(grep -rlE --include=*.test.ts 'suite-runtime|cluster-kubelet|NodePlace\.open' tests)

vm-test: setup ## in a guest with systemd, cgroup v2, AppArmor and CRIU; needs root, mmdebstrap, qemu-system-x86
	tests/vm/run.sh

bench: setup-dev ## against containerd, in the same run; needs root
	node bench/main.ts

generate: setup ## messages from the proto folders of the packages
	$(NPM) run --silent generate --workspaces --if-present

pictures: setup-dev $(EXAMPLE_IMAGE) ## docs/*.svg from real terminal runs, docs/*.png from a real browser; needs root
	node scripts/record-pictures.ts
	node tests/dashboard/pictures.ts

clean:
	rm -rf dist node_modules .node
