import { posix } from 'node:path';
import type { OciMount } from './spec.ts';
import type { SpecDevice, SpecInput, SpecMount } from './spec-input.ts';

type MountInput = Pick<SpecInput, 'security' | 'namespaces' | 'host'>;

/** Whether the container gets its own cgroup namespace. With cgroup v2, every unprivileged container does. */
export function hasOwnCgroups({ privileged }: SpecInput['security'], { cgroupMode }: SpecInput['host']): boolean {
  return cgroupMode === 'v2' && !privileged;
}

/** Returns the kernel file systems that are mounted in each container (runtime-spec, config-linux.md: default filesystems). */
function kernelMounts({ security, namespaces, host }: MountInput): OciMount[] {
  const access = security.privileged ? 'rw' : 'ro';
  const strict = ['nosuid', 'noexec', 'nodev'];
  // sysfs shows the devices of a network namespace, and only the owner of that namespace may mount it. In all other cases the host's sysfs
  // is bind-mounted with private propagation: systemd makes the host's mount shared, and crun binds it from the host's mount namespace, so
  // the container's mounts under it would otherwise show up on the host.
  const ownSysfs = namespaces.user === undefined || namespaces.network.kind !== 'host';
  return [
    { destination: '/proc', type: 'proc', source: 'proc', options: strict },
    {
      destination: '/dev',
      type: 'tmpfs',
      source: 'tmpfs',
      options: ['nosuid', 'strictatime', 'mode=755', 'size=65536k'],
    },
    {
      destination: '/dev/pts',
      type: 'devpts',
      source: 'devpts',
      // gid=5 is the group `tty` in all distributions
      options: ['nosuid', 'noexec', 'newinstance', 'ptmxmode=0666', 'mode=0620', 'gid=5'],
    },
    { destination: '/dev/mqueue', type: 'mqueue', source: 'mqueue', options: strict },
    ownSysfs
      ? { destination: '/sys', type: 'sysfs', source: 'sysfs', options: [...strict, access] }
      : { destination: '/sys', type: 'bind', source: '/sys', options: ['rbind', 'rprivate', ...strict, 'rro'] },
    {
      destination: '/sys/fs/cgroup',
      type: 'cgroup',
      source: 'cgroup',
      options: [...strict, 'relatime', access, ...(hasOwnCgroups(security, host) ? [] : host.cgroupMountOptions)],
    },
  ];
}

/**
 * Returns all mounts in the order in which they are created: first the kernel file systems, unless one of the container's own mounts
 * replaces them, then the container's own mounts, parents first.
 */
export function computeMounts({
  mounts,
  devices,
  ...input
}: MountInput & Pick<SpecInput, 'mounts' | 'devices'>): OciMount[] {
  const own = mounts.map((mount) => ({ ...mount, destination: posix.resolve('/', mount.destination) }));
  const covered = (destination: string) =>
    own.some((mount) => mount.destination === destination || destination.startsWith(`${mount.destination}/`));
  const kernel = kernelMounts(input).filter(({ destination }) => !covered(destination));
  const nodes = input.namespaces.user === undefined ? [] : devices.map(deviceMount);
  return [...kernel, ...[...own.map(bindMount), ...nodes].toSorted(byDepth)];
}

/** A compare function that sorts parents before the mounts inside them. */
export function byDepth(left: { destination: string }, right: { destination: string }): number {
  return depth(left.destination) - depth(right.destination);
}

const depth = (path: string) => path.split('/').filter((part) => part !== '').length;

const PROPAGATION_OPTIONS = {
  private: 'rprivate',
  'host-to-container': 'rslave',
  bidirectional: 'rshared',
} as const;

/**
 * A bind mount inherits the restrictions of the mount that its source is on, but only until it is remounted. crun always remounts it, and
 * runc does so to make it read-only, so the options must include the restrictions.
 */
function bindMount({ destination, source, ...mount }: SpecMount): OciMount {
  const restrictions = mount.sourceRestrictions.filter((option) => option !== 'ro');
  return {
    destination,
    type: 'bind',
    source,
    options: ['rbind', PROPAGATION_OPTIONS[mount.propagation], accessOf(mount), ...restrictions],
  };
}

function accessOf(mount: Pick<SpecMount, 'readonly' | 'recursiveReadOnly' | 'sourceRestrictions'>): string {
  if (mount.readonly) return mount.recursiveReadOnly ? 'rro' : 'ro';
  return mount.sourceRestrictions.includes('ro') ? 'ro' : 'rw';
}

/** Builds a bind mount of a host device node into a container in a user namespace, where mknod is not permitted. */
export function deviceMount({ path, hostPath }: Pick<SpecDevice, 'path' | 'hostPath'>): OciMount {
  return { destination: path, type: 'bind', source: hostPath, options: ['bind', 'rprivate', 'nosuid', 'noexec'] };
}

/** Returns the propagation of the container's root mount: the widest one that any of its mounts requires. */
export function rootfsPropagation(mounts: SpecMount[]): string | undefined {
  if (mounts.some(({ propagation }) => propagation === 'bidirectional')) return 'rshared';
  if (mounts.some(({ propagation }) => propagation === 'host-to-container')) return 'rslave';
  return undefined;
}
