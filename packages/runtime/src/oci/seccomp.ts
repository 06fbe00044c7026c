import { PodwrightError } from '@podwright/base';
import {
  allowedSyscalls,
  seccompArchitectures,
  syscallsOfArchitecture,
  syscallsOfCapability,
} from './seccomp-syscalls.ts';
import type { OciSeccomp } from './spec.ts';

const ENOSYS = 38;
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const namespaceFlags = 0x7e020000;
const AF_VSOCK = 40;
/** Execution domains that programs ask for: Linux, BSD-like 32 bit, UNAME26, both, and "tell me which". */
const personalities = [0x0, 0x8, 0x20000, 0x20008, 0xffffffff];

/**
 * The RuntimeDefault seccomp profile: what Docker and containerd allow a container by default, which depends on its
 * capabilities. All else fails with EPERM. Not allowed although old profiles have it: io_uring, and vsock sockets, which
 * reach the host of a virtual machine past every network rule.
 */
export function defaultSeccompProfile(capabilities: string[], architecture: NodeJS.Architecture): OciSeccomp {
  const allow = (names: string[]) => ({ names, action: 'SCMP_ACT_ALLOW' as const });
  const has = (name: string) => capabilities.includes(name);
  const opened = Object.entries(syscallsOfCapability).flatMap(([name, syscalls]) => (has(name) ? syscalls : []));
  const plain = [...allowedSyscalls, 'ptrace', ...(syscallsOfArchitecture[architecture] ?? []), ...opened];
  const syscalls: OciSeccomp['syscalls'] = [
    allow([...new Set(plain)]),
    { ...allow(['socket']), args: [{ index: 0, value: AF_VSOCK, op: 'SCMP_CMP_NE' }] },
    ...personalities.map((value) => ({
      ...allow(['personality']),
      args: [{ index: 0, value, op: 'SCMP_CMP_EQ' as const }],
    })),
  ];
  if (!has('CAP_SYS_ADMIN')) {
    // s390x has clone's flags as its second argument.
    const index = architecture === 's390x' ? 1 : 0;
    syscalls.push(
      { ...allow(['clone']), args: [{ index, value: namespaceFlags, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' }] },
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
export const maxSeccompProfileBytes = 1 << 20;

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
