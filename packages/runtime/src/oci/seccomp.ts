import { PodwrightError } from '@podwright/base';
import {
  ALLOWED_SYSCALLS,
  seccompArchitectures,
  syscallsOfArchitecture,
  syscallsOfCapability,
} from './seccomp-syscalls.ts';
import type { OciSeccomp } from './spec.ts';

const ENOSYS = 38;
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const NAMESPACE_FLAGS = 0x7e020000;
/**
 * The address families of socket(2), as masks and values of its first argument: all up to 63 but `AF_ALG` (38) and `AF_VSOCK`
 * (40). The kernel looks at 32 bits of that argument, a comparison of seccomp at 64, so that "not 40" would let pass
 * 0x100000028. For the same reason no upper bit may matter here: the calling convention leaves them undefined.
 */
const SOCKET_FAMILIES: [mask: number, value: number][] = [
  [0xffffffe0, 0], // 0 to 31
  [0xfffffffc, 32], // 32 to 35
  [0xfffffffe, 36], // 36 and 37
  [0xffffffff, 39],
  [0xffffffff, 41],
  [0xfffffffe, 42], // 42 and 43
  [0xfffffffc, 44], // 44 to 47
  [0xfffffff0, 48], // 48 to 63; the newest family of Linux 6.18 is 45
];
/** Execution domains that programs ask for: Linux, BSD-like 32 bit, UNAME26, both, and "tell me which". */
const PERSONALITIES = [0x0, 0x8, 0x20000, 0x20008, 0xffffffff];

/**
 * The RuntimeDefault seccomp profile: what containerd 2.3 allows a container by default, which depends on its
 * capabilities. All else fails with EPERM. Not allowed although old profiles have it: io_uring, sockets of the kernel's
 * cryptography (CVE-2026-31431), and vsock sockets, which reach the host of a virtual machine past every network rule. 32-bit
 * programs can still make both by socketcall(2): its arguments are in memory, where a filter cannot look, and without it
 * many of them (Go's, old C libraries') have no network at all. There the AppArmor profile refuses them.
 */
export function defaultSeccompProfile(capabilities: string[], architecture: NodeJS.Architecture): OciSeccomp {
  const allow = (names: string[]) => ({ names, action: 'SCMP_ACT_ALLOW' as const });
  const has = (name: string) => capabilities.includes(name);
  const opened = Object.entries(syscallsOfCapability).flatMap(([name, syscalls]) => (has(name) ? syscalls : []));
  const plain = [...ALLOWED_SYSCALLS, ...(syscallsOfArchitecture[architecture] ?? []), ...opened];
  const syscalls: OciSeccomp['syscalls'] = [
    allow([...new Set(plain)]),
    ...SOCKET_FAMILIES.map(([mask, value]) => ({
      ...allow(['socket']),
      args: [{ index: 0, value: mask, valueTwo: value, op: 'SCMP_CMP_MASKED_EQ' as const }],
    })),
    ...PERSONALITIES.map((value) => ({
      ...allow(['personality']),
      args: [{ index: 0, value, op: 'SCMP_CMP_EQ' as const }],
    })),
  ];
  if (!has('CAP_SYS_ADMIN')) {
    // s390x has clone's flags as its second argument.
    const index = architecture === 's390x' ? 1 : 0;
    syscalls.push(
      { ...allow(['clone']), args: [{ index, value: NAMESPACE_FLAGS, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' }] },
      // Its flags are in memory, where a filter cannot look: ENOSYS makes the C library take clone instead.
      { names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS },
    );
  }
  return {
    defaultAction: 'SCMP_ACT_ERRNO',
    architectures: seccompArchitectures[architecture] ?? [],
    syscalls,
  };
}

/** The largest profile that is read. */
export const MAX_SECCOMP_PROFILE_BYTES = 1 << 20;

/**
 * A profile of a file, as the OCI has it. The fields that only Docker's profiles have (`includes`, `archMap`) are refused
 * rather than dropped: without them the profile would mean something else. `invalid_argument` if it is no profile.
 */
export function parseSeccompProfile(text: string, origin: string): OciSeccomp {
  const refuse = (reason: string, cause?: unknown): never => {
    throw new PodwrightError('invalid_argument', `read seccomp profile ${origin}: ${reason}`, { cause });
  };
  let profile: unknown;
  try {
    profile = JSON.parse(text);
  } catch (error) {
    return refuse('it is not JSON', error);
  }
  if (typeof profile !== 'object' || profile === null || !('defaultAction' in profile))
    return refuse('it has no defaultAction');
  const { syscalls = [] } = profile as { syscalls?: unknown };
  if (!Array.isArray(syscalls)) return refuse('its syscalls are not a list');
  for (const field of ['includes', 'excludes'])
    if (syscalls.some((rule) => rule !== null && typeof rule === 'object' && field in rule && hasKeys(rule[field])))
      return refuse(`${field} is Docker's own extension; write the rules out`);
  return profile as OciSeccomp;
}

const hasKeys = (value: unknown) => typeof value === 'object' && value !== null && Object.keys(value).length > 0;
