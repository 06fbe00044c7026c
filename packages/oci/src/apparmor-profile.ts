/**
 * Host properties that the profile depends on: which of the distribution's policy files exist, and the name of the profile that confines
 * the daemon.
 */
export type AppArmorSurroundings = { abi: boolean; tunables: boolean; base: boolean; daemonProfile: string };

/** Profiles whose processes may send signals to a container's processes, in addition to the container's own profile. */
const SENDERS = ['unconfined', 'runc', 'crun', 'conmon'];

/** Host files that even root in a container must not access (apparmor.d(5)). */
const DENIED_FILES = [
  '@{PROC}/* w', // files directly in /proc affect the whole host
  '@{PROC}/{[^1-9/],[^1-9/][^0-9/],[^1-9s/][^0-9y/][^0-9s/],[^1-9/][^0-9/][^0-9/][^0-9/]*}/** w', // everything except processes and sys
  '@{PROC}/sys/[^k]** w', // everything except sys/kernel
  '@{PROC}/sys/kernel/{?,??,[^s][^h][^m]**} w', // everything except shm*, which is per IPC namespace
  '@{PROC}/sysrq-trigger rwklx',
  '@{PROC}/kcore rwklx',
  '/sys/[^f]*/** wklx',
  '/sys/f[^s]*/** wklx',
  '/sys/fs/[^c]*/** wklx',
  '/sys/fs/c[^g]*/** wklx',
  '/sys/fs/cg[^r]*/** wklx',
  '/sys/firmware/** rwklx',
  '/sys/devices/virtual/powercap/** rwklx',
  '/sys/kernel/security/** rwklx',
];

/**
 * Address families that the seccomp profile denies (`AF_ALG`, `AF_VSOCK`). AppArmor also denies them to 32-bit programs, whose
 * socketcall(2) passes the family in memory, which a seccomp filter cannot read.
 */
const DENIED_FAMILIES = ['alg', 'vsock'];

/**
 * Builds the AppArmor profile for containers that request no profile or RuntimeDefault. It is equivalent to Docker's and containerd's, and
 * permits everything that namespaces, capabilities and seccomp permit, except mounts, signals and ptrace from or to other profiles, and
 * access to files that affect the whole host.
 */
export function defaultAppArmorProfile(name: string, surroundings: AppArmorSurroundings): string {
  const { abi, tunables, base, daemonProfile } = surroundings;
  const peers = [...new Set([...SENDERS, daemonProfile])];
  const lines = [
    ...(abi ? ['abi <abi/3.0>,'] : []),
    tunables ? '#include <tunables/global>' : '@{PROC}=/proc/',
    `profile ${name} flags=(attach_disconnected,mediate_deleted) {`,
    ...(base ? ['  #include <abstractions/base>'] : []),
    '  network,',
    ...DENIED_FAMILIES.map((family) => `  deny network ${family},`),
    '  capability,',
    '  file,',
    '  umount,',
    ...peers.map((peer) => `  signal (receive) peer=${peer},`),
    `  signal (send,receive) peer=${name},`,
    `  ptrace (trace,tracedby,read,readby) peer=${name},`,
    '  deny mount,',
    ...DENIED_FILES.map((rule) => `  deny ${rule},`),
    '}',
  ];
  return lines.map((line) => `${line}\n`).join('');
}
