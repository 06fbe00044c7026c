# Prints facts of a container's environment and permissions, one per line, as KEY<tab>VALUE. Needs only busybox.
fact() { printf '%s\t%s\n' "$1" "$2"; }
# Whether a path can be opened for writing, or a file can be created in it; access(2) differs between shells.
writable() {
  if [ -d "$1" ]; then mkdir "$1/.new" && rmdir "$1/.new" && echo writable
  elif [ -f "$1" ]; then true >> "$1" && echo writable
  fi 2>/dev/null
}

grep -E '^(Umask|Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp|Sig(Blk|Ign)|Cpus_allowed_list|Speculation)' /proc/self/status |
  while IFS=: read -r key value; do fact "status $key" "$(echo $value)"; done
tail -n +2 /proc/self/limits | while read -r line; do fact "limit $(echo "$line" | cut -c1-25)" "$(echo "$line" | cut -c27-)"; done
for file in oom_score_adj loginuid sessionid attr/current uid_map gid_map setgroups coredump_filter timerslack_ns personality; do
  fact "self $file" "$(echo $(cat /proc/self/$file 2>/dev/null | tr -d '\0'))"
done
fact 'init cmdline' "$(tr '\0\n' '  ' < /proc/1/cmdline | cut -c1-20)"
for ns in /proc/self/ns/*; do fact "namespace ${ns##*/}" "$(readlink "$ns")"; done
while read -r id parent device root point options rest; do
  fact "mount $point" "root=$root $options $(echo "$rest" | sed 's/.*- //')"
done < /proc/self/mountinfo
while read -r line; do fact "cgroup ${line%:*}" "${line##*:}"; done < /proc/self/cgroup
fact 'devices cgroup' "$(echo $(sort /sys/fs/cgroup/devices/devices.list 2>/dev/null))"
find /dev | sort | while read -r node; do
  fact "dev $node" "$(stat -c '%F %t:%T %a %u:%g' "$node")$(readlink "$node" | sed 's/^/ -> /')"
done
env | sort | while IFS='=' read -r name value; do fact "env $name" "$value"; done
fact cwd "$(pwd)"
fact hostname "$(hostname)"
for fd in /proc/1/fd/*; do fact "fd ${fd##*/}" "$(readlink "$fd" | sed 's/[0-9]*]$/N]/')"; done
for file in / /etc /etc/hosts /etc/hostname /etc/resolv.conf /etc/mtab /tmp /dev/shm /dev/termination-log /run /var/run/secrets; do
  fact "file $file" "$(stat -c '%F %a %u:%g' "$file" 2>/dev/null) $(writable "$file")"
done
# Readable and writable files of the kernel, without those of processes, which vary.
find /proc -mindepth 1 -maxdepth 2 ! -path '/proc/[0-9]*' ! -path '/proc/self*' ! -path '/proc/thread-self*' | sort | while read -r file; do
  if [ -d "$file" ]; then can=$(ls -A "$file" 2>/dev/null | wc -l)
  else can=$(timeout 2 head -c 1 "$file" 2>/dev/null | wc -c); fi
  fact "proc $file" "$can $(writable "$file")"
done
find /sys -maxdepth 3 ! -path '/sys/fs/cgroup/*' | sort | while read -r file; do
  [ -f "$file" ] && true >> "$file" && fact "sys writable" "$file"
done 2>/dev/null
for folder in /sys/firmware /sys/fs /sys/kernel /sys/devices/virtual/powercap /sys/kernel/debug /sys/kernel/security; do
  fact "sys $folder" "$(ls -A $folder 2>/dev/null | wc -l)"
done
for folder in /sys/fs/cgroup /sys/fs/cgroup/*; do
  fact "cgroup folder $folder" "$(ls -A $folder | grep -c .) $(writable $folder)"
done
for key in kernel.hostname kernel.msgmax kernel.shmmax net.ipv4.ip_forward net.ipv4.ip_unprivileged_port_start \
  net.ipv4.ping_group_range net.ipv6.conf.all.disable_ipv6 net.core.somaxconn user.max_user_namespaces; do
  fact "sysctl $key" "$(echo $(sysctl -n $key 2>/dev/null))"
done
try() { if timeout 5 "$@" > /dev/null 2>&1; then echo works; else echo fails; fi; }
fact 'try user namespace' "$(try unshare -U true)"
fact 'try mount namespace' "$(try unshare -m true)"
fact 'try mount' "$(try mount -t tmpfs none /tmp)"
fact 'try remount of /proc' "$(try mount -o remount,rw /proc/sys)"
fact 'try unmount of a mask' "$(try umount /proc/kcore)"
fact 'try mknod of a disk' "$(try mknod /tmp/disk b 8 0)"
fact 'try mknod of memory' "$(try mknod /tmp/mem c 1 1)"
fact 'try to read memory' "$(try head -c 1 /tmp/mem)"
fact 'try chroot' "$(try chroot / true)"
fact 'try kernel log' "$(try dmesg)"
fact 'try clock' "$(try date -s @0)"
fact 'try host name' "$(try hostname other)"
fact 'try priority' "$(try nice -n -5 true | tr -d '\n')"
fact 'try loop device' "$(try losetup /dev/loop0 /etc/hosts)"
fact 'try swap' "$(try swapon /etc/hosts)"
fact 'try raw socket' "$(try ping -c 1 -W 1 127.0.0.1)"
fact 'try new interface' "$(try ip link add dummy9 type dummy)"
fact 'try own cgroup' "$(try mkdir /sys/fs/cgroup/memory/x /sys/fs/cgroup/x)"
fact end 'of facts'
