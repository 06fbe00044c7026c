import { PodwrightError } from '@podwright/base';
import {
  ALLOWED_SYSCALLS,
  seccompArchitectures,
  syscallsOfArchitecture,
  syscallsOfCapability,
} from './seccomp-syscalls.ts';
import type { OciSeccomp } from './spec.ts';

const ENOSYS = 38;
/** Flags of clone(2) that create namespaces: CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const NAMESPACE_FLAGS = 0x7e020000;
/**
 * The allowed address families, as masks and values for the first argument of socket(2): all families up to 63 except `AF_ALG` (38) and
 * `AF_VSOCK` (40). The kernel uses the lower 32 bits of the argument, but a seccomp rule compares all 64, so a rule "not 40" would allow
 * 0x100000028. The masks therefore ignore the upper bits, which the calling convention leaves undefined.
 */
const SOCKET_FAMILIES: [mask: number, value: number][] = [
  [0xffffffe0, 0], // families 0 to 31
  [0xfffffffc, 32], // families 32 to 35
  [0xfffffffe, 36], // families 36 and 37
  [0xffffffff, 39],
  [0xffffffff, 41],
  [0xfffffffe, 42], // families 42 and 43
  [0xfffffffc, 44], // families 44 to 47
  [0xfffffff0, 48], // families 48 to 63; the newest family of Linux 6.18 is 45
];
/**
 * Allowed arguments of personality(2): PER_LINUX, PER_LINUX32, UNAME26, PER_LINUX32 with UNAME26, and 0xffffffff, which only queries the
 * current personality.
 */
const PERSONALITIES = [0x0, 0x8, 0x20000, 0x20008, 0xffffffff];

/**
 * Builds the RuntimeDefault seccomp profile: the system calls that containerd 2.3 allows by default with these capabilities. All others
 * fail with EPERM. Unlike older profiles, it denies io_uring, AF_ALG sockets (CVE-2026-31431), and vsock sockets, which reach a virtual
 * machine's host while bypassing all network rules. 32-bit programs can still create both kinds of sockets with socketcall(2): a filter
 * cannot read its arguments, which are in memory, and denying it would leave many programs (Go, old C libraries) without a network. The
 * AppArmor profile denies the sockets in that case.
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
    // On s390x, clone takes its flags as the second argument.
    const index = architecture === 's390x' ? 1 : 0;
    syscalls.push(
      { ...allow(['clone']), args: [{ index, value: NAMESPACE_FLAGS, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' }] },
      // A filter cannot read clone3's flags, which are in memory. ENOSYS makes the C library fall back to clone.
      { names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS },
    );
  }
  return {
    defaultAction: 'SCMP_ACT_ERRNO',
    architectures: seccompArchitectures[architecture] ?? [],
    syscalls,
  };
}

export const MAX_SECCOMP_PROFILE_BYTES = 1 << 20;

/**
 * Parses a seccomp profile in OCI format. `includes` and `excludes`, which exist only in Docker's profiles, are rejected rather than
 * dropped, because without them the profile would have a different meaning. Throws `invalid_argument` if the profile is invalid.
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
