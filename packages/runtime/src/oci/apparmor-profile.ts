/** What a profile can build on: files of the distribution's policies, and the profile that this process itself has. */
export type AppArmorSurroundings = { abi: boolean; tunables: boolean; base: boolean; daemonProfile: string };

/** The profiles whose processes may send signals to a container's, besides its own. */
const SENDERS = ['unconfined', 'runc', 'crun', 'conmon'];

/** Files of the host that even root in a container must not touch (apparmor.d(5)). */
const DENIED_FILES = [
  '@{PROC}/* w', // files of /proc itself: each acts on the whole host
  '@{PROC}/{[^1-9/],[^1-9/][^0-9/],[^1-9s/][^0-9y/][^0-9s/],[^1-9/][^0-9/][^0-9/][^0-9/]*}/** w', // all but processes and sys
  '@{PROC}/sys/[^k]** w', // all but sys/kernel
  '@{PROC}/sys/kernel/{?,??,[^s][^h][^m]**} w', // all but shared memory, which has its own namespace
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
 * Address families that the seccomp profile refuses (`AF_ALG`, `AF_VSOCK`). Here they are refused to 32-bit programs as
 * well, whose socketcall(2) has the family in memory, where a seccomp filter cannot look.
 */
const DENIED_FAMILIES = ['alg', 'vsock'];

/**
 * The AppArmor profile of containers that ask for none or for the runtime's: equal in effect to the one that Docker and
 * containerd load. It allows what the other walls (namespaces, capabilities, seccomp) allow, but for mounts, foreign
 * signals and traces, and files that act on the host.
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
