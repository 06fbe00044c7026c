import { PodwrightError } from '@podwright/base';
import type { OciProcess } from './spec.ts';

/** Linux capabilities by number (capabilities(7)): bit n of a mask corresponds to the name at index n. */
export const ALL_CAPABILITIES = [
  'CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE',
  'NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN',
  'SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE',
  'MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE',
]
  .join(' ')
  .split(' ')
  .map((name) => `CAP_${name}`);

/** A container's default capabilities, the same as in Docker and containerd. */
export const DEFAULT_CAPABILITIES = [
  'CHOWN DAC_OVERRIDE FSETID FOWNER MKNOD NET_RAW SETGID SETUID SETFCAP SETPCAP NET_BIND_SERVICE SYS_CHROOT KILL',
  'AUDIT_WRITE',
]
  .join(' ')
  .split(' ')
  .map((name) => `CAP_${name}`);

/** The requested capabilities. In names, the prefix `CAP_` is optional. `ALL` means all of `available`. */
export type CapabilityRequest = {
  privileged: boolean;
  add: string[];
  drop: string[];
  addAmbient: string[];
  /** This process's bounding set. Other capabilities cannot be granted. */
  available: string[];
};

/**
 * Computes the capability sets of a container's init process. Applies `ALL` before individual names, so that adding ALL and dropping one
 * capability works, and vice versa. Throws `failed_precondition` if an added capability is not available.
 */
export function computeCapabilities(request: CapabilityRequest): NonNullable<OciProcess['capabilities']> {
  const { available } = request;
  const given = new Set(request.privileged ? available : grantedCapabilities(request));
  const bounding = ALL_CAPABILITIES.filter((name) => given.has(name));
  const ambient = request.addAmbient.map(capabilityName);
  requireAvailable(ambient, available);
  return {
    bounding,
    effective: bounding,
    permitted: bounding,
    // Ambient capabilities must be inheritable. If there are none, the set stays empty (CVE-2022-24769).
    inheritable: ambient,
    ambient,
  };
}

function grantedCapabilities({ add, drop, addAmbient, available }: CapabilityRequest): string[] {
  const isAll = (name: string) => name.toUpperCase() === 'ALL';
  const added = [...add, ...addAmbient].filter((name) => !isAll(name)).map(capabilityName);
  const dropped = new Set(drop.filter((name) => !isAll(name)).map(capabilityName));
  requireAvailable(
    added.filter((name) => !dropped.has(name)),
    available,
  );
  const start = drop.some(isAll) ? [] : add.some(isAll) ? available : intersect(DEFAULT_CAPABILITIES, available);
  return [...start, ...added].filter((name) => !dropped.has(name));
}

function requireAvailable(names: string[], available: string[]): void {
  const missing = names.filter((name) => !available.includes(name));
  if (missing.length > 0)
    throw new PodwrightError(
      'failed_precondition',
      `add capabilities ${missing.join(', ')}: the runtime itself does not have them on this host`,
    );
}

function capabilityName(name: string): string {
  const upper = name.toUpperCase();
  const full = upper.startsWith('CAP_') ? upper : `CAP_${upper}`;
  if (!ALL_CAPABILITIES.includes(full))
    throw new PodwrightError('invalid_argument', `there is no capability ${JSON.stringify(name)}`);
  return full;
}

/** Returns the capability names in a hexadecimal mask from /proc/PID/status. */
export function capabilitiesOfMask(hexadecimal: string): string[] {
  const mask = BigInt(`0x${hexadecimal.trim()}`);
  return ALL_CAPABILITIES.filter((_, number) => (mask >> BigInt(number)) & 1n);
}

const intersect = (left: string[], right: string[]) => left.filter((name) => right.includes(name));
