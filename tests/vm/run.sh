#!/bin/bash
# Runs a command in this checkout in a virtual machine with features that this host may lack: a distribution with systemd, cgroup v2
# only, AppArmor and CRIU. The guest is built from the distribution's packages once, and each run starts from the same disk. It has
# every package that scripts/setup.sh installs, because it has no network.
#   tests/vm/run.sh [--share DIR] [COMMAND]   DIR is /share in the guest, and writable; COMMAND is run by a shell in the guest. If its
#                                             exit status is 75, the guest boots again with the same disk, and COMMAND runs again
#   tests/vm/run.sh --release [COMMAND]       the tests of an installed release alone; a run without COMMAND runs them, too
# Needs root, the packages mmdebstrap, qemu-system-x86 and qemu-utils, and the distribution's mirror.
# PODWRIGHT_VM_SUITE   bookworm (default) or trixie, of Debian 12 and 13, or noble, of Ubuntu 24.04
# PODWRIGHT_VM_KEYRING the keys of the mirror, if this host's apt does not know them (Ubuntu's are in its package ubuntu-keyring)
# PODWRIGHT_VM_DIR     directory of the guests, 2 GB each (default /var/tmp/podwright-vm); remove it to rebuild them
# PODWRIGHT_VM_ACCEL   kvm, tcg, uml or container; default: kvm if the CPU supports it, else uml if PODWRIGHT_VM_UML is set, else tcg. tcg
#                      emulates the CPU, about twenty times slower. uml is a user-mode Linux 7 or later instead of QEMU: without KVM and
#                      CRIU. container is systemd in namespaces of this host's kernel, with the host's cgroup version; for --release only
# PODWRIGHT_VM_RELEASES  where the two releases for --release are built; the ones there are used again
# PODWRIGHT_VM_UML     the program of user-mode Linux (linux.uml), with its modules, if any, in ../lib/uml/modules
set -eu -o pipefail
checkout=$(cd "$(dirname "$0")/../.." && pwd)
suite=${PODWRIGHT_VM_SUITE:-bookworm}
guests=${PODWRIGHT_VM_DIR:-/var/tmp/podwright-vm}
dir=$guests/$suite
uml=$(command -v "${PODWRIGHT_VM_UML:-linux.uml}" || true)

# /dev/kvm may exist without either CPU flag; then only kernels that are built for it start.
default_accel() {
  if [ -w /dev/kvm ] && grep -qwE 'vmx|svm' /proc/cpuinfo; then echo kvm; elif [ -n "${PODWRIGHT_VM_UML:-}" ]; then echo uml; else echo tcg; fi
}
accel=${PODWRIGHT_VM_ACCEL:-$(default_accel)}
[ "$accel" != uml ] || [ -n "$uml" ] || { echo 'linux.uml not found: set PODWRIGHT_VM_UML to its path' >&2; exit 1; }

kernel=linux-image-amd64 criu=criu components=main
case $suite in
  bookworm | trixie) ;;
  noble) kernel='linux-image-virtual initramfs-tools' criu='' components=main,universe ;; # Ubuntu 24.04 has no CRIU
  *) echo "PODWRIGHT_VM_SUITE=$suite: must be bookworm, trixie or noble" >&2; exit 1 ;;
esac
eval "$(grep -E '^(RUN|DEV)_PACKAGES=' "$checkout/scripts/setup.sh")"
packages="$RUN_PACKAGES $DEV_PACKAGES npm $kernel $criu"
packages+=' systemd-sysv dbus udev kmod apparmor strace make git procps sudo psmisc xz-utils zstd'

share='' release=''
if [ "${1:-}" = --release ]; then release=yes; shift; fi
if [ "${1:-}" = --share ]; then share=$(cd "$2" && pwd); shift 2; fi
# Tests that depend on cgroup v2, systemd or AppArmor, and the commands of the README.
tests='tests/vm/readme.vm.ts tests/vm/*systemd*.vm.ts tests/vm/security.vm.ts tests/cgroup/*.test.ts tests/host/*.test.ts'
tests+=' tests/conformance/limits.test.ts tests/conformance/statistics.test.ts tests/tasks/oci-*.test.ts tests/runtime/*.test.ts'
tests+=' tests/pods/*.test.ts tests/kubelet/*.test.ts tests/userns/*.test.ts tests/security/starve-the-node.test.ts'
tests+=' tests/security/steer-the-machine-by-limits.test.ts tests/security/outlive-the-pod.test.ts'
tests+=' tests/security/hostile-sandbox-requests.test.ts tests/security/default-pod-like-containerd.test.ts'
[ "$accel" = uml ] || [ -z "$criu" ] || tests+=' tests/vm/checkpoint.vm.ts'
# Comparisons with containerd run on the host only, because other versions of it behave differently.
command=${*:-"node --test --test-concurrency=1 --test-skip-pattern='containerd 1\\.6' $tests"}
[ -z "$release" ] || [ $# -gt 0 ] || command='cd tests/vm/release
  if [ ! -e /root/before-the-boot.json ]; then node --test installer.vm.ts || exit 1; exit 75; fi
  node --test --test-concurrency=1 boot.vm.ts package.vm.ts'

# The disk has the distribution, and one service that runs the command and powers the guest off.
make_guest() {
  rm -rf "$dir/root" && mkdir -p "$dir"
  mmdebstrap --quiet --variant=minbase --components="$components" ${PODWRIGHT_VM_KEYRING:+--keyring="$PODWRIGHT_VM_KEYRING"} \
    --include="$packages" "$suite" "$dir/root"
  systemctl --root="$dir/root" mask containerd docker docker.socket docker-registry prometheus getty@ serial-getty@ 2> /dev/null
  systemctl --root="$dir/root" enable systemd-networkd 2> /dev/null
  printf '[Match]\nName=e*\n[Network]\nDHCP=ipv4\n' > "$dir/root/etc/systemd/network/10-ethernet.network"
  echo podwright-vm > "$dir/root/etc/hostname"
  echo '127.0.0.1 localhost podwright-vm' > "$dir/root/etc/hosts"
  cat > "$dir/root/etc/systemd/system/podwright-vm.service" << 'UNIT'
[Unit]
After=network-online.target apparmor.service
Wants=network-online.target
[Service]
Type=oneshot
TimeoutStartSec=infinity
Environment=HOME=/root LANG=C.UTF-8 PATH=/guest/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
StandardOutput=file:/dev/ttyS1
StandardError=inherit
ExecStart=/bin/sh -c '\
  mkdir -p /guest /share && tar -xf /dev/[uv]*db -C /guest && \
  { mount -t 9p -o trans=virtio,msize=512000 share /share 2> /dev/null || mount -t hostfs share /share 2> /dev/null || true; } && \
  { [ ! -e /guest/bin/uml-devices ] || sh /guest/bin/uml-devices; } && cd /guest/checkout && sh /guest/bin/command; echo "exit status $?"'
ExecStopPost=systemctl poweroff
[Install]
WantedBy=multi-user.target
UNIT
  systemctl --root="$dir/root" enable podwright-vm 2> /dev/null
  cp "$dir"/root/boot/vmlinuz-* "$dir/vmlinuz"
  cp "$dir"/root/boot/initrd.img-* "$dir/initrd"
  mke2fs -q -t ext4 -d "$dir/root" "$dir/disk.partial" 12G
  rm -rf "$dir/root"
  mv "$dir/disk.partial" "$dir/disk"
  recipe > "$dir/recipe"
}

# The recipe of the disk, which is rebuilt if the recipe changes.
recipe() { echo "$packages"; declare -f make_guest; }

# The second serial line is the output of the command.
run_qemu() {
  case $accel in kvm) machine=(-accel kvm -cpu host) ;; *) machine=(-accel tcg,thread=multi,tb-size=1024 -cpu Nehalem) ;; esac
  [ -z "$share" ] || machine+=(-virtfs "local,path=$share,mount_tag=share,security_model=none,multidevs=remap")
  nice -n 19 qemu-system-x86_64 "${machine[@]}" -smp 2 -m 4096 -display none -monitor none -no-reboot \
    -kernel "$dir/vmlinuz" -initrd "$dir/initrd" -append 'root=/dev/vda rw console=ttyS0 panic=-1 mitigations=off' \
    -drive "file=$work/changes,if=virtio,format=qcow2" -drive "file=$work/disk.tar,if=virtio,format=raw,readonly=on" \
    -nic user,model=virtio-net-pci,restrict=on -device virtio-rng-pci \
    -serial "file:$dir/console.log" -serial stdio < /dev/null
}

# The kernel is a program of this host. Its io_uring loses pages, and its network is a dummy device. It has as many CPUs as the other
# guest, because kubelets with a CPU policy need them: that requires SMP in it, and seccomp on this host. Pages of a guest's process are
# mappings of a process here: at vm.max_map_count (65530, some 256 MB) it hangs and spins.
run_uml() {
  mkdir -p "$work/empty"
  nice -n 19 "$uml" mem=4096M ncpus=2 seccomp=on sysctl.kernel.io_uring_disabled=2 "hostfs=${share:-$work/empty}" \
    "ubda=$work/changes,$dir/disk" "ubdbr=$work/disk.tar" \
    root=/dev/ubda rw security=apparmor systemd.mask=systemd-networkd-wait-online.service panic=-1 \
    con=null console=tty0 con0=null,fd:2 ssl1=null,fd:3 < /dev/null 3>&1 > "$dir/console.log" 2>&1
}

# Two versions of the release, and the image of the pods.
make_releases() {
  [ ! -e "$1/next/SHA256SUMS" ] || return 0
  mkdir -p "$1"
  (
    cd "$checkout"
    node scripts/release/main.ts "$1/old" x64
    PODWRIGHT_VERSION=99.0.0 node scripts/release/main.ts "$1/next" x64
    node scripts/example-image.ts "$1/image.tar"
  )
}

# A container of this host's kernel: systemd in namespaces of its own, with a part of the host's cgroups: v1 if the host has its controllers
# there. The units that would change the host's kernel are masked.
run_container() {
  local name root=$work/root cgroups
  mkdir -p "$root"
  mount -o loop "$work/changes" "$root"
  for name in udevd.service udevd-{control,kernel}.socket {udev-trigger,sysctl,modules-load,binfmt,networkd-wait-online,timesyncd}.service; do
    ln -sf /dev/null "$root/etc/systemd/system/systemd-$name"
  done
  ln -sf /dev/null "$root/etc/systemd/system/apparmor.service"
  mkdir -p "$root/share"
  mapfile -t cgroups < <(findmnt --noheadings --list --output TARGET --types cgroup,cgroup2 | grep '^/sys/fs/cgroup')
  mkdir -p "${cgroups[@]/%//${work##*/}}"
  for name in cpus mems; do
    [ ! -e "/sys/fs/cgroup/cpuset/cpuset.$name" ] ||
      cat "/sys/fs/cgroup/cpuset/cpuset.$name" > "/sys/fs/cgroup/cpuset/${work##*/}/cpuset.$name"
  done
  [ -p "$work/serial" ] || mkfifo "$work/serial"
  exec 4<> "$work/serial" # the line exists while the guest has not opened it
  cat "$work/serial" 4<&- &
  nice -n 19 sh -uc "$CONTAINER" sh "$root" "$work" "${share:-$work/bin}" "${cgroups[@]}" > "$dir/console.log" 2>&1 4<&- || true
  exec 4<&-
  wait
  end_container
}

# Removes what the kernel has of the container.
end_container() {
  local name
  ! mountpoint -q "$work/root" || umount "$work/root"
  for name in /sys/fs/cgroup/{,*/}"${work##*/}"; do [ ! -d "$name" ] || find "$name" -depth -type d -exec rmdir {} +; done
}

# Arguments: the root directory, the directory of the disk and the serial line, the shared directory, the mounts of cgroups.
CONTAINER='root=$1 work=$2 share=$3
shift 3
for cgroup; do echo $$ > "$cgroup/${work##*/}/cgroup.procs"; done
exec unshare --mount --pid --fork --kill-child --uts --ipc --net --cgroup --propagation private sh -euc "$INSIDE" sh "$root" "$work" "$share" "$@"'
export INSIDE='cd "$1"
work=$2 share=$3
shift 3
mount -t proc proc proc
mount -t sysfs sysfs sys
if [ "$*" = /sys/fs/cgroup ]; then mount -t cgroup2 none sys/fs/cgroup; else
  mount -t tmpfs -o mode=755 tmpfs sys/fs/cgroup
  for cgroup; do
    name=${cgroup##*/}
    [ "$name" != unified ] || continue # systemd mounts it
    mkdir "sys/fs/cgroup/$name"
    case $name in systemd) name=none,name=systemd ;; esac
    mount -t cgroup -o "$name" cgroup "sys/fs/cgroup/${cgroup##*/}"
  done
fi
mount -t tmpfs -o mode=755 tmpfs dev
mkdir dev/pts dev/shm dev/mqueue dev/net
mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
for node in null:1:3 zero:1:5 full:1:7 random:1:8 urandom:1:9 tty:5:0 fuse:10:229 net/tun:10:200; do
  IFS=: read -r name major minor << NODE
$node
NODE
  mknod -m 666 "dev/$name" c "$major" "$minor"
done
touch dev/console dev/ttyS1 dev/vdb
mount --bind dev/null dev/console
mount --bind "$work/serial" dev/ttyS1
mount --bind "$work/disk.tar" dev/vdb
mount --bind "$share" share
pivot_root . mnt
umount -l /mnt
exec env -i container=podwright-vm /lib/systemd/systemd --log-target=console --show-status=no < /dev/null'

# First commands of the guest's service in a user-mode Linux: load modules, if any, and create a device for the default route.
uml_devices() {
  cat << 'SCRIPT'
set -e
mkdir -p /lib/modules
[ ! -d /guest/modules ] || ln -s /guest/modules/* /lib/modules/
ip link add uplink0 type dummy 2> /dev/null || { ip link add uplink0 type veth peer uplink1 && ip link set uplink1 up; }
ip address add 10.0.2.15/24 dev uplink0
ip link set uplink0 up
ip route add default via 10.0.2.2
SCRIPT
}

# Other users can create directories and links in /var/tmp.
mkdir -p -m 0755 "$guests"
if [ -L "$guests" ] || [ ! -O "$guests" ] || [ -n "$(find "$guests" -maxdepth 0 -perm /022)" ]; then
  echo "$guests: must be your own directory, not writable by others; remove it, or set PODWRIGHT_VM_DIR to another one" >&2
  exit 1
fi

[ -e "$dir/disk" ] && recipe | cmp -s - "$dir/recipe" || make_guest

# The guest reads the checkout, its packages and this Node.js from a disk that is a tar archive; for --release, two releases in place of
# the checkout and the packages.
work=$(mktemp -d "$dir/run-XXXXXX")
trap 'end_container; rm -rf --one-file-system "$work"' EXIT
mkdir "$work/bin"
cp "$(command -v node)" "$work/bin/node"
printf '%s\n' "$command" > "$work/bin/command"
parts=(-C "$work" bin)
if [ "$accel" != kvm ] && [ "$accel" != tcg ]; then
  uml_devices > "$work/bin/uml-devices"
  [ "$accel" != uml ] || [ ! -d "$(dirname "$uml")/../lib/uml/modules" ] || parts+=(-C "$(cd "$(dirname "$uml")/../lib/uml" && pwd)" modules)
fi
if [ -n "$release" ]; then
  releases=${PODWRIGHT_VM_RELEASES:-$work/releases}
  make_releases "$releases"
  parts+=(-C "$(dirname "$checkout")" --transform="s,^$(basename "$checkout")/,checkout/,")
  parts+=("$(basename "$checkout")"/{package.json,tests/vm/release} -C "$(dirname "$releases")" --exclude='*.rpm' --exclude='*-oci.tar')
  parts+=(--exclude=npm --exclude='*.tar.gz' --transform="s,^$(basename "$releases")/,releases/," "$(basename "$releases")")
else
  parts+=(-C "$(dirname "$checkout")" --exclude=.git --exclude=node_modules/@biomejs --exclude=dist/release)
  parts+=(--transform="s,^$(basename "$checkout"),checkout," "$(basename "$checkout")")
fi
tar -cf "$work/disk.tar" "${parts[@]}"
case $accel in
  uml) ;;
  container) cp --sparse=always "$dir/disk" "$work/changes" ;;
  *) qemu-img create -q -f qcow2 -b "$(realpath "$dir/disk")" -F raw "$work/changes" ;;
esac

# The second boot is that of `exit status 75`.
for _ in 1 2; do
  case $accel in uml | container) "run_$accel" ;; *) run_qemu ;; esac | tee "$work/output"
  status=$(tail -n 1 "$work/output" | tr -d '\r')
  [ "$status" = 'exit status 75' ] || break
done
[ "$status" = 'exit status 0' ] || exit 1
[ $# -gt 0 ] || [ -n "$release" ] || "$0" --release
