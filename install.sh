#!/bin/sh
# Installs Podwright from a release: the executable, its service, completions, manual page and plugin of kubectl. Needs no network for local files.
#   install.sh [--version V] [--prefix DIR] [--no-service] SOURCE
#   install.sh --uninstall [--prefix DIR] [--purge-data]
# SOURCE        an archive podwright-VERSION-linux-ARCH.tar.zst (or .tar.gz), or the directory or URL of a release. SHA256SUMS must be
#               next to the archive
# --version     which version of a directory or URL with several
# --prefix      default /usr/local
# --no-service  without the systemd unit
# --purge-data  remove volumes, images, logs and configuration too
# An interrupted call can be repeated: no file is ever incomplete under its final name. PODWRIGHT_INSTALL_FAILPOINT is for tests.
set -eu
umask 022
export LC_ALL=C

UNIT=/etc/systemd/system/podwright.service
DATA='/var/lib/podwright /etc/podwright /run/podwright'
# What a node creates in the first of them.
PARTS='runtime kubelet dockershim cluster manifests node.log'
DAEMONS='node|runtime|kubelet|dockershim'
# The last line of each failure.
outcome='Nothing was installed.'

say() { printf '%s\n' "$*"; }

fail() { # fail MESSAGE [LINE...]
  printf 'install.sh: %s\n' "$1" >&2
  shift
  for line; do [ -z "$line" ] || printf '  %s\n' "$line" >&2; done
  exit 1
}

# Tests kill the script at each step, and repeat the call.
step() { [ "${PODWRIGHT_INSTALL_FAILPOINT:-}" != "$1" ] || kill -9 $$; }

has() { command -v "$1" > /dev/null 2>&1; }

# Fedora's and Podman's packages install it outside PATH; packages/host/src/programs/find-init.ts has the same list.
has_init() {
  for init in /usr/libexec/catatonit /usr/libexec/podman /usr/lib/podman; do [ ! -x "$init/catatonit" ] || return 0; done
  has catatonit
}

# systemd is installed, though it may not run, as in a chroot.
has_systemd() { [ -d /run/systemd/system ] || has systemctl; }

systemd_runs() { [ -d /run/systemd/system ] && has systemctl; }

main() {
  action=install source='' version='' prefix=/usr/local service=yes purge=no
  while [ $# -gt 0 ]; do
    case $1 in
      --version | --prefix)
        [ -n "${2:-}" ] || fail "$1: requires a value"
        if [ "$1" = --version ]; then version=$2; else prefix=$2; fi
        shift
        ;;
      --version=?*) version=${1#*=} ;;
      --prefix=?*) prefix=${1#*=} ;;
      --no-service) service=no ;;
      --uninstall) action=uninstall ;;
      --purge-data) purge=yes ;;
      -h | --help) usage && exit 0 ;;
      -*) fail "unknown option $1" "$(usage)" ;;
      *) [ -z "$source" ] || fail "one SOURCE only, not also $1" && source=$1 ;;
    esac
    shift
  done
  case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
  while [ "${prefix%/}" != "$prefix" ]; do prefix=${prefix%/}; done
  case $prefix in *[!A-Za-z0-9_./+-]*) fail "--prefix $prefix: only letters, digits and _ . / + - are allowed" ;; esac
  bin=$prefix/bin/podwright lib=$prefix/lib/podwright
  record=$lib/installed staging=$lib/staging
  if [ "$action" = uninstall ]; then
    [ -z "$source" ] || fail "--uninstall takes no SOURCE"
    uninstall
  else
    [ "$purge" = no ] || fail '--purge-data requires --uninstall'
    [ -n "$source" ] || fail 'SOURCE is missing' "$(usage)"
    install_release
  fi
}

usage() {
  say 'usage: install.sh [--version V] [--prefix DIR] [--no-service] FILE|DIRECTORY|URL'
  say '       install.sh --uninstall [--prefix DIR] [--purge-data]'
}

# ---- The host

check_host() {
  has sha256sum || has openssl || fail 'cannot verify checksums: neither sha256sum nor openssl is installed' 'install coreutils'
  [ "$(uname -s)" = Linux ] || fail "Podwright requires Linux, and this is $(uname -s)"
  case $(uname -m) in
    x86_64 | amd64) arch=x64 loader=/lib64/ld-linux-x86-64.so.2 ;;
    aarch64 | arm64) arch=arm64 loader=/lib/ld-linux-aarch64.so.1 ;;
    *) fail "there is no release for the architecture $(uname -m): releases are for x86_64 and aarch64" ;;
  esac
  if [ ! -e "$loader" ]; then
    for musl in /lib/ld-musl-*.so.1; do
      [ ! -e "$musl" ] || fail "this host has the C library musl ($musl), and the executable requires glibc" \
        'use a distribution with glibc, such as Debian, Ubuntu, Fedora or openSUSE, or a container of one'
    done
    fail "this host has no 64-bit glibc: $loader does not exist" 'install it, or use a 64-bit distribution'
  fi
  if [ "$(id -u)" -ne 0 ] && [ "$service" = yes ] && has_systemd; then
    fail 'the installation of the service requires root' "as root: $(again)" \
      "without the service: --no-service --prefix $HOME/.local (running pods requires root all the same)"
  fi
}

# The version of this host's glibc, empty if unknown.
glibc() {
  found=$(getconf GNU_LIBC_VERSION 2> /dev/null || ldd --version 2> /dev/null | head -n 1 || true)
  printf '%s\n' "$found" | sed -n 's/.*[^0-9.]\([0-9][0-9]*\.[0-9][0-9]*\)[^ ]*$/\1/p'
}

is_older() { # is_older MAJOR.MINOR MAJOR.MINOR
  [ "${1%%.*}" -lt "${2%%.*}" ] || { [ "${1%%.*}" -eq "${2%%.*}" ] && [ "${1#*.}" -lt "${2#*.}" ]; }
}

# This call, for messages.
again() {
  case $0 in */*) printf 'sh %s' "$0" ;; *) printf 'sh install.sh' ;; esac
  [ "$prefix" = /usr/local ] || printf ' --prefix %s' "$prefix"
  printf ' %s' "${1:-$source}"
}

# ---- Other installations

recorded() { # recorded PATH: whether install.sh has installed it below this prefix
  [ -e "$record" ] && awk -v path="$1" '$1 == "file" && $3 == path { found = 1 } END { exit !found }' "$record"
}

# Describes an executable of another installation, and prints how to remove it.
describe_other() { # describe_other PATH
  real=$(readlink -f "$1" || printf '%s' "$1")
  root=${real%/bin/podwright}
  if [ -e "$root/package.json" ] && [ -e "$root/packages" ]; then
    say "$1 is a link to the checkout $root; to replace it: rm $1"
  elif [ -e "$root/lib/podwright/installed" ]; then
    say "$1 is another installation by install.sh; to remove it: $(prefix=$root again --uninstall)"
  elif has dpkg-query && dpkg-query -S "$1" > /dev/null 2>&1; then
    say "$1 is of the package $(dpkg-query -S "$1" | cut -d: -f1); upgrade or remove it with apt-get"
  elif has rpm && rpm -qf "$1" > /dev/null 2>&1; then
    say "$1 is of the package $(rpm -qf "$1"); upgrade or remove it with the package manager"
  else
    say "$1 was not installed by install.sh; move it away first"
  fi
}

# Two installations would share one node, its data and its unit, with different versions.
check_others() {
  others=''
  seen=' '
  for directory in $(printf '%s:%s/bin:/usr/local/bin:/usr/bin:/opt/podwright/bin' "$PATH" "$prefix" | tr ':' '\n' | grep '^/'); do
    directory=$(readlink -f "$directory" || true)
    case $seen in *" $directory "*) continue ;; esac
    seen="$seen$directory "
    path=$directory/podwright
    [ "$directory" != "$(readlink -f "$prefix/bin" || true)" ] || path=$bin
    if [ -z "$directory" ] || recorded "$path" || { [ ! -e "$path" ] && [ ! -L "$path" ]; }; then continue; fi
    others="$others$(describe_other "$path")
"
  done
  if [ "$service" = yes ] && { [ -e "$UNIT" ] || [ -L "$UNIT" ]; } && ! recorded "$UNIT"; then
    program=$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$UNIT" | head -n 1)
    others="$others$UNIT starts ${program:-another program}, and install.sh did not install it; to replace it: systemctl disable podwright; rm $UNIT
"
  fi
  [ -n "$others" ] || return 0
  printf 'install.sh: %s\n' 'another Podwright is installed here, and both would share one node and its data:' >&2
  printf '%s' "$others" | sed 's/^/  /' >&2
  say 'Pods and data are kept by all of these. Then repeat the installation. Nothing was installed.' >&2
  exit 1
}

# ---- Files

# Runs a command that writes files. The message explains common errors.
attempt() { # attempt WHAT COMMAND...
  what=$1
  shift
  if problem=$("$@" 2>&1); then return 0; fi
  case $problem in
    *'Read-only file system'*) hint='choose a writable directory, for example: --prefix /opt/podwright' ;;
    *'No space left'* | *'write error'* | *'Wrote only'*) hint="make space there, or choose another directory with --prefix" ;;
    *'Permission denied'*) hint='use root, or choose a directory of yours: --no-service --prefix DIR' ;;
    *) hint='' ;;
  esac
  fail "cannot $what: $(printf '%s\n' "$problem" | sed '/^$/d' | head -n 1)" ${hint:+"$hint"} "$outcome"
}

sha256() { # sha256 FILE
  if has sha256sum; then sha256sum < "$1"; else openssl dgst -sha256 -r < "$1"; fi | cut -c1-64
}

# Follows redirections, but none from https to http.
fetch() { # fetch URL FILE
  case $1 in https://*) protocols='=https' ;; *) protocols='=http,https' ;; esac
  if has curl; then curl --proto "$protocols" -fsSL --retry 2 -o "$2" "$1"
  elif has wget; then
    wget -S -O "$2" "$1" 2> "$staging/log" || { grep -vE '^( |$)' "$staging/log" | tail -n 1 >&2; return 1; }
    if [ "$protocols" = =https ] && grep -qi '^ *location: *http:' "$staging/log"; then
      echo 'it was redirected from https to http' >&2 && return 1
    fi
  else echo 'neither curl nor wget is installed; install one, or download the archive and SHA256SUMS elsewhere' >&2 && return 1
  fi
}

get() { # get NAME: copies or downloads it from the source into the staging directory
  case $base in
    *://*) attempt "download $base/$1" fetch "$base/$1" "$staging/$1" ;;
    *)
      [ -e "$base/$1" ] || fail "$base/$1 does not exist" "${2:-}" "$outcome"
      attempt "copy $base/$1 to $staging" cp "$base/$1" "$staging/$1"
      ;;
  esac
}

names_in_sums() { awk '{ sub(/^\*/, "", $2); print $2 }' "$staging/SHA256SUMS"; }

# Sets `name`, the archive of a directory or URL for this host.
choose_archive() {
  all=$(names_in_sums | grep -E '^podwright-.+-linux-[a-z0-9]+\.tar\.(zst|gz)$' || true)
  mine=$(printf '%s\n' "$all" | grep -F -e "-linux-$arch.tar." || true)
  [ -z "$version" ] || mine=$(printf '%s\n' "$mine" | grep -F -e "podwright-$version-linux-" || true)
  [ -n "$mine" ] || fail "$source has no archive ${version:+of version $version }for linux-$arch" "it has: $(printf '%s' "${all:-none at all}" | tr '\n' ' ')"
  versions=$(printf '%s\n' "$mine" | sed 's/^podwright-\(.*\)-linux-.*/\1/' | sort -u)
  [ "$(printf '%s\n' "$versions" | wc -l)" -eq 1 ] || fail "$source has several versions: choose one with --version" "$(printf '%s' "$versions" | tr '\n' ' ')"
  name=$(printf '%s\n' "$mine" | grep '\.zst$' | head -n 1 || true)
  gzipped=$(printf '%s\n' "$mine" | grep '\.gz$' | head -n 1 || true)
  if [ -z "$name" ] || { [ -n "$gzipped" ] && ! has zstd; }; then name=$gzipped; fi
}

# Checks the name of an archive that the caller gave.
check_name() {
  case $name in
    podwright-?*-linux-"$arch".tar.zst | podwright-?*-linux-"$arch".tar.gz) ;;
    podwright-?*-linux-?*.tar.zst | podwright-?*-linux-?*.tar.gz)
      other=${name##*-linux-}
      fail "$name is for linux-${other%%.*}, and this host is linux-$arch" "$outcome"
      ;;
    *) fail "$source is neither a directory or URL with SHA256SUMS nor an archive podwright-VERSION-linux-$arch.tar.zst or .tar.gz" ;;
  esac
  case $name in podwright-"${version:-*}"-linux-*) ;; *) [ -z "$version" ] || fail "$name is not version $version" ;; esac
}

verify() {
  expected=$(awk -v name="$name" '$2 == name || $2 == "*" name { print $1 }' "$staging/SHA256SUMS" | sort -u)
  case $expected in
    '') fail "SHA256SUMS in $base does not list $name" "$outcome" ;;
    *[!0-9a-f]*) fail "SHA256SUMS in $base has no single SHA-256 of $name" "$outcome" ;;
  esac
  found=$(sha256 "$staging/$name")
  [ "$found" = "$expected" ] || fail "$name is truncated or changed: its SHA-256 is not the one in SHA256SUMS" \
    "expected $expected" "found    $found in $(wc -c < "$staging/$name" | tr -d ' ') bytes" \
    "Download it again. $outcome"
}

unpack() {
  case $name in
    *.zst) zstd -q -dc "$staging/$name" ;;
    *) gzip -dc "$staging/$name" ;;
  esac | tar -xof - -C "$staging/unpacked"
}

check_layout() {
  for part in podwright podwright.service podwright.1 completions/podwright.bash completions/_podwright completions/podwright.fish; do
    [ -f "$top/$part" ] || fail "$name is not an archive of Podwright: it lacks $part" "$outcome"
  done
}

# Tries the executable, which the file system of its final path must allow as well.
try_executable() {
  has_glibc=$(glibc)
  needs_glibc=$(grep -ao 'GLIBC_2\.[0-9][0-9]*' "$top/podwright" | sed 's/GLIBC_//' | sort -t. -k2 -n -u | tail -n 1 || true)
  if [ -n "$has_glibc" ] && [ -n "$needs_glibc" ] && is_older "$has_glibc" "$needs_glibc"; then
    fail "the executable requires glibc $needs_glibc, and this host has $has_glibc" \
      'use a newer version of the distribution' "$outcome"
  fi
  chmod 755 "$top/podwright"
  reports=$("$top/podwright" --state /nonexistent version -o json --trial 2>&1 < /dev/null) || fail "the executable does not start on this host: $reports" \
    "$(noexec "$staging")a missing library is named above; otherwise the executable must be for linux-$arch" "$outcome"
  for part in runtime kubelet; do
    check_records "$part" "/var/lib/podwright/$part/format.json"
  done
}

# A node refuses to start on records of a newer format.
check_records() { # check_records PART FILE
  reads=$(printf '%s' "$reports" | tr -d ' \n' | sed -n 's/.*"recordFormats":{[^}]*"'"$1"'":\([0-9]*\).*/\1/p')
  has_format=$(sed -n 's/.*"format": *\([0-9]*\).*/\1/p' "$2" 2> /dev/null || true)
  [ -n "$reads" ] && [ -n "$has_format" ] && [ "$has_format" -gt "$reads" ] || return 0
  fail "this version cannot read the records of the node: their format is $has_format, and it reads $reads and earlier" \
    "$2 names the version that wrote them: install that or a later one" "$outcome"
}

noexec() { # noexec DIRECTORY: a hint if no programs may run from its file system
  printf '#!/bin/sh\n' > "$1/program" && chmod 755 "$1/program"
  "$1/program" 2> /dev/null || printf '%s is on a file system mounted with noexec: choose another --prefix; ' "$prefix"
}

# ---- Installation

# Prints MODE FROM TO of each file. The executable is last: once it has a new version, the rest does too.
plan() {
  (cd "$top" && find . -type f \( -iname 'LICENSE*' -o -iname '*licences*' -o -iname '*licenses*' -o -name 'NOTICE*' \)) | sort |
    while IFS= read -r file; do
      case $file in *[!A-Za-z0-9_./@+-]*) continue ;; esac
      say "644 $file $prefix/share/doc/podwright/${file##*/}"
    done
  say "644 podwright.1 $prefix/share/man/man1/podwright.1"
  say "644 completions/podwright.bash $prefix/share/bash-completion/completions/podwright"
  say "644 completions/_podwright $prefix/share/zsh/site-functions/_podwright"
  say "644 completions/podwright.fish $prefix/share/fish/vendor_completions.d/podwright.fish"
  [ ! -f "$top/install.sh" ] || say "755 install.sh $lib/install.sh"
  [ "$with_unit" = no ] || say "644 unit $UNIT"
  [ ! -f "$top/kubectl-podwright" ] || say "755 kubectl-podwright $prefix/bin/kubectl-podwright"
  say "755 podwright $bin"
}

install_release() {
  check_host
  check_others
  with_unit=no
  if [ "$service" = yes ] && has_systemd; then with_unit=yes; fi
  begin
  locate
  step verify
  verify
  step unpack
  case $name in
    *.gz) ;;
    *) has zstd || fail "$name is compressed with zstd, which is not installed" \
      'install the package zstd, or use a .tar.gz if the release has one' "$outcome" ;;
  esac
  mkdir "$staging/unpacked"
  attempt "unpack $name into $staging" unpack
  top=$(echo "$staging"/unpacked/*)
  check_layout
  step try
  try_executable
  if [ "$with_unit" = yes ]; then
    sed "s,/usr/bin/podwright,$bin,g" "$top/podwright.service" > "$top/unit"
  fi
  # for --uninstall, unless this script comes from a pipe
  case ${0##*/} in install.sh) [ -f "$top/install.sh" ] || cp "$0" "$top/install.sh" ;; esac
  plan > "$staging/plan"
  place
  step finish
  release=${name#podwright-}
  report "${release%-linux-*}"
}

# Takes the lock and removes what an interrupted call has left.
begin() {
  old=$(sed -n '/^file /p' "$record" 2> /dev/null || true)
  directories=$(sed -n '/^directory /p' "$record" 2> /dev/null || true)
  placing=no
  [ -e "$lib" ] || note_directories "$lib"
  attempt "write to $prefix" mkdir -p "$lib"
  lock
  attempt "write $record" write_record "$old
$directories"
  step begin
  attempt "write to $prefix" remove_temporary
  trap clean_up EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  attempt "write to $prefix" mkdir -m 700 "$staging"
}

# The file is private, because any user who can open a file can lock it.
lock() {
  has flock || return 0
  attempt "write to $prefix" make_lock_file
  exec 9< "$lib/lock"
  # shellcheck disable=SC3013 # all shells that are named sh have -ef; another call may have removed the file meanwhile
  if ! flock -n 9 || [ ! "$lib/lock" -ef /proc/self/fd/9 ]; then fail "another install.sh is working on $prefix"; fi
}

make_lock_file() { (umask 077 && : >> "$lib/lock"); }

# Removes the staging directory and the temporary files of its plan, also those of an interrupted call.
remove_temporary() {
  [ ! -e "$staging/plan" ] || while read -r _ _ to; do rm -f "$to.podwright-new" || return 1; done < "$staging/plan"
  rm -rf "$staging"
}

clean_up() {
  remove_temporary
  if [ -z "$old" ] && [ "$placing" = no ]; then remove_record; fi
}

# Adds the directories that `mkdir -p` will create to `directories`.
note_directories() { # note_directories DIRECTORY
  missing=$1
  while [ -n "$missing" ] && [ ! -e "$missing" ]; do
    directories="$directories
directory $missing"
    missing=${missing%/*}
  done
}

# Finds the archive, and gets it with its checksums.
locate() {
  step fetch
  case $source in
    *.tar.zst | *.tar.gz)
      name=${source##*/} base=${source%/*}
      [ "$base" != "$source" ] || base=.
      check_name
      ;;
    *)
      base=${source%/} name=''
      case $source in
        *://*) ;;
        *) [ -d "$source" ] || fail "$source does not exist or is neither an archive nor a directory" ;;
      esac
      ;;
  esac
  get SHA256SUMS 'It contains the checksums of a release, and must be next to the archive.'
  [ -n "$name" ] || choose_archive
  get "$name"
}

# Makes all files complete under temporary names, then renames each. The record lists files before they exist, so that --uninstall
# after an interruption finds them.
place() {
  changed=no new=''
  while read -r _ from to; do
    new="${new}file $(sha256 "$top/$from") $to
"
    note_directories "${to%/*}"
  done < "$staging/plan"
  attempt "write $record" write_record "$old
$new$directories"
  step recorded
  while read -r mode from to; do
    if is_installed "$to" "$(sha256 "$top/$from")"; then continue; fi
    changed=yes
    [ ! -d "$to" ] || fail "$to is a directory: move it away" "$outcome"
    attempt "write to ${to%/*}" mkdir -p "${to%/*}"
    attempt "write $to" cp "$top/$from" "$to.podwright-new"
    attempt "write $to" chmod "$mode" "$to.podwright-new"
    step "copied-${to##*/}"
  done < "$staging/plan"
  while read -r _ _ to; do
    [ ! -e "$to.podwright-new" ] || sync "$to.podwright-new" 2> /dev/null || sync
  done < "$staging/plan"
  placing=yes outcome='Repeat the call to complete the installation.'
  while read -r _ _ to; do
    [ ! -e "$to.podwright-new" ] || { save_changed "$to" && attempt "write $to" mv -f "$to.podwright-new" "$to"; }
    step "renamed-${to##*/}"
  done < "$staging/plan"
  # files of the version before that this one does not have
  printf '%s\n' "$old" | while read -r _ sum path; do
    case $path in '' | "$UNIT") continue ;; esac # the unit is kept with --no-service
    if awk -v path="$path" '$3 == path { found = 1 } END { exit !found }' "$staging/plan"; then continue; fi
    if is_installed "$path" "$sum"; then rm -f "$path"; fi
  done
  kept_unit=$(printf '%s\n' "$old" | awk -v path="$UNIT" '$3 == path')
  case $new in *" $UNIT
"*) kept_unit='' ;; esac
  attempt "write $record" write_record "$new$kept_unit
$directories"
  if systemd_runs; then systemctl daemon-reload || true; fi
}

# A unit that the administrator has changed is kept as another file.
save_changed() { # save_changed PATH
  [ "$1" = "$UNIT" ] && [ -f "$1" ] || return 0
  sum=$(sha256 "$1")
  case "
$old
" in *" $sum $1
"*) return 0 ;; esac
  attempt "write $1.old" cp "$1" "$1.old"
  say "$1 was changed here: saved as $1.old; 'systemctl edit podwright' keeps changes"
}

write_record() { # write_record LINES
  { say '# Files of Podwright, for install.sh'; printf '%s\n' "$1" | sed '/^$/d' | sort -u; } > "$record.podwright-new" &&
    mv -f "$record.podwright-new" "$record"
}

report() { # report VERSION
  if [ "$changed" = no ]; then
    say "Podwright $1 was already installed in $prefix: nothing changed"
  else
    say "Installed Podwright $1 (linux-$arch), verified against SHA256SUMS:"
    awk '{ print "  " $3 }' "$staging/plan"
  fi
  case ":$PATH:" in *":$prefix/bin:"*) ;; *) say "$prefix/bin is not in PATH: call $bin, or extend PATH" ;; esac
  lacks=''
  has crun || has runc || lacks='crun or runc'
  has conmon || lacks="${lacks:+$lacks, }conmon"
  [ -z "$lacks" ] || say "Pods also require $lacks: 'podwright doctor --fix' installs what is missing"
  has_init || say "Pods with shareProcessNamespace also require catatonit: 'podwright doctor --fix' installs it"
  [ "$changed" = no ] || report_running
  if [ "$with_unit" = yes ]; then
    systemd_runs || say 'systemd does not run here: the service can be enabled, and starts with systemd'
    say 'Start a node, now and at boot:  systemctl enable --now podwright'
  elif has_systemd; then
    say 'Without the service. Start a node:  podwright node, or podwright run --detach POD.yaml'
  else
    say 'This host has no systemd, so no service was installed. Start a node in the background by hand or from an init script:'
    say '  podwright node > /var/log/podwright.log 2>&1 &'
    say 'or with the first pod:  podwright run --detach POD.yaml'
  fi
  [ "$with_unit" = yes ] || say "Nothing restarts the node if it ends, and nothing starts it at boot; pods keep running without it."
  if [ -f "$lib/install.sh" ]; then uninstaller="sh $lib/install.sh --uninstall"; else uninstaller='sh install.sh --uninstall'; fi
  [ "$prefix" = /usr/local ] || uninstaller="$uninstaller --prefix $prefix"
  say "A first pod:  podwright run POD.yaml      What this host lacks:  podwright doctor      Remove it all:  $uninstaller"
}

report_running() {
  daemons | while read -r pid words; do
    case $words in
      *podwright.js*) say "The node of a checkout runs (process $pid: $words). It keeps its pods; 'podwright stop --keep' ends the node alone, and the next node takes the pods over." ;;
      *) say "A node runs (process $pid) with the version that it was started with. 'systemctl restart podwright', or 'podwright stop --keep' and a new start, changes that; pods keep running." ;;
    esac
  done
}

# ---- Removal

# Prints process id and command line of each daemon.
daemons() {
  program='([^ ]*/)?(podwright|node( -[^ ]*)* [^ ]*/podwright\.js)'
  processes | grep -E "^[0-9]+ $program (-[^ ]+ ([^- ][^ ]* )?)*($DAEMONS)( |$)" | of_host podwright node
}

# Prints the state directory of each running container, from its monitor.
containers() {
  processes | grep -E '^[0-9]+ [^ ]*conmon .*--bundle [^ ]*/oci/bundles/' | of_host conmon |
    sed 's,.*--bundle \([^ ]*\)/oci/bundles/.*,\1,'
}

# Passes on the processes of root that execute such a file outside of containers: others can have any command line.
of_host() { # of_host PROGRAM...
  own=$(readlink /proc/self/ns/pid)
  while read -r pid words; do
    file=$(readlink "/proc/$pid/exe" || true)
    if [ "$(id -u)" -eq 0 ]; then # only root can read these
      grep -qs '^Uid:[[:space:]]*0[[:space:]]' "/proc/$pid/status" || continue
      [ "$(readlink "/proc/$pid/ns/pid")" = "$own" ] || continue
    else
      file=$1
    fi
    for program; do
      case ${file##*/} in "$program"*) say "$pid $words" && break ;; esac
    done
  done
}

# Control characters of command lines must not reach the terminal.
processes() {
  for directory in /proc/[0-9]*; do
    words=$({ tr '\0\n' '  ' < "$directory/cmdline" | tr -c ' -~' '?'; } 2> /dev/null || true) # a process may have ended meanwhile
    [ -z "$words" ] || say "${directory#/proc/} $words"
  done
}

# Whether PATH is as install.sh installed it.
is_installed() { # is_installed PATH SHA256
  [ ! -L "$1" ] && [ -f "$1" ] && [ "$(sha256 "$1")" = "$2" ]
}

check_stopped() {
  running=$(daemons)
  pods=$(containers | sort | uniq -c | sed 's/^ *\([0-9]*\) \(.*\)/containers run: \1, with the state in \2/')
  [ -n "$running$pods" ] || return 0
  stop='podwright stop                      ends the pods, then the node (--delete: also their objects)'
  restart='podwright node > /dev/null 2>&1 &   starts a node, which takes the pods over'
  [ -n "$running" ] || fail 'pods run, and only a node can end them; nothing was removed' "$pods" "$restart" "$stop" \
    "if no node can start: kill the processes of the containers and of their monitors (pgrep -x conmon)"
  fail 'the node runs; nothing was removed' "$(printf '%s\n' "$running" | sed 's/^/process /')" "$pods" \
    'end it with:' "$stop"
}

uninstall() {
  [ ! -e "$lib" ] || lock
  if [ "$purge" = yes ] && [ ! -e "$record" ] && has podwright; then
    describe_other "$(command -v podwright)"
    fail "another installation uses the data; nothing was removed" "uninstall it first, or name its --prefix"
  fi
  if [ "$purge" = yes ]; then
    mounts=$(for directory in $DATA; do mounts_of "$directory" | grep -vxF -e "$(readlink -f "$directory")" || true; done)
  fi
  if [ ! -e "$record" ]; then
    say "Podwright is not installed in $prefix by install.sh"
    [ ! -e "$bin" ] || describe_other "$bin"
    [ -e "$lib" ] || [ "$purge" = yes ] || return 0
  fi
  check_stopped
  [ "${mounts:-}" = '' ] || fail 'file systems are mounted below the data, and would be emptied; nothing was removed' \
    "$mounts" "unmount them, for example by a node's start and 'podwright stop --delete'"
  outcome='Repeat the call to complete the removal.'
  if [ -e "$lib" ]; then attempt "write to $prefix" remove_temporary && attempt "write to $prefix" mkdir -m 700 "$staging"; fi
  remove_service
  step disabled
  [ ! -e "$record" ] || remove_files
  rm -rf "$staging" "${bin%/*}/.podwright-upgrade"
  remove_record
  if systemd_runs; then systemctl daemon-reload || true; fi
  remove_data
}

remove_service() {
  if ! recorded "$UNIT" || ! has systemctl; then return 0; fi
  attempt 'disable the service' systemctl disable -q podwright
}

remove_files() {
  sed -n 's/^file //p' "$record" | awk '{ print $2 }' | sort -u > "$staging/paths"
  while IFS= read -r path; do
    rm -f "$path.podwright-new"
    [ -e "$path" ] || [ -L "$path" ] || continue
    if [ ! -L "$path" ] && { grep -qxF "file $(sha256 "$path") $path" "$record" || is_upgraded "$path"; }; then
      attempt "remove $path" rm -f "$path"
      say "removed $path"
    else
      say "kept    $path: it was changed after the installation"
    fi
    step "removed-${path##*/}"
  done < "$staging/paths"
}

# Whether 'podwright upgrade' may have replaced this file: the executable, by one of another version.
is_upgraded() { # is_upgraded PATH
  [ "$1" = "$bin" ] && [ -x "$1" ] && "$1" version -o json 2> /dev/null < /dev/null | grep -q '"recordFormats"'
}

# Removes the record, and the directories that the installation has created and that are empty now.
remove_record() {
  created=$(sed -n 's/^directory //p' "$record" 2> /dev/null | sort -r)
  rm -f "$record" "$record.podwright-new" "$lib/lock"
  for directory in $created "$lib"; do rmdir "$directory" 2> /dev/null || true; done
}

# Prints the mount points at and below a directory. The kernel's list has real paths.
mounts_of() { # mounts_of DIRECTORY
  path=$(readlink -f "$1") awk '{ gsub(/\\040/, " ", $2) } index($2 "/", ENVIRON["path"] "/") == 1 { print $2 }' /proc/mounts
}

# Removes a directory of data. Behind a link, or on a disk that is mounted there, may be files of others.
remove_directory() { # remove_directory DIRECTORY
  if [ ! -L "$1" ] && [ -z "$(mounts_of "$1")" ]; then
    attempt "remove $1" rm -rf "$1"
    say "removed $1"
    return
  fi
  real=$(readlink -f "$1")
  for part in $PARTS; do attempt "remove $real/$part" rm -rf "$real/$part"; done
  rmdir "$real" 2> /dev/null || true
  if [ -e "$real" ]; then
    say "emptied $real of files of the node; it stays, since it is a mount point or a link leads to it: $1"
  else
    attempt "remove $1" rm -f "$1"
    say "removed $1 and $real"
  fi
}

remove_data() {
  for directory in $DATA; do
    [ -e "$directory" ] || continue
    if [ "$purge" = yes ]; then
      remove_directory "$directory"
    else
      say "kept    $directory ($(du -sh "$directory" 2> /dev/null | cut -f1)): --uninstall --purge-data removes it"
    fi
  done
  # shared with other kubelets
  [ ! -d /var/log/pods ] || [ -z "$(ls -A /var/log/pods)" ] || say 'kept    /var/log/pods: logs of containers, which any kubelet may own'
}

main "$@"
