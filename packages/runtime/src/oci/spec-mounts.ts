import { posix } from 'node:path';
import type { OciMount } from './spec.ts';
import type { SpecDevice, SpecInput, SpecMount } from './spec-input.ts';

type MountInput = Pick<SpecInput, 'security' | 'namespaces' | 'host'>;

/** On v2 an unprivileged container sees its own cgroups alone. */
export function hasOwnCgroups({ privileged }: SpecInput['security'], { cgroupMode }: SpecInput['host']): boolean {
  return cgroupMode === 'v2' && !privileged;
}

/** The kernel's own file systems that each container has (runtime-spec, config-linux.md: default filesystems). */
function kernelMounts({ security, namespaces, host }: MountInput): OciMount[] {
  const access = security.privileged ? 'rw' : 'ro';
  const strict = ['nosuid', 'noexec', 'nodev'];
  // sysfs tells of a network: only its owner may mount it. The host's is bound privately: systemd shares it with all
  // mount namespaces, and crun binds it from the host's, where the container's mounts below it would then appear.
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
      // Group 5 is `tty` everywhere.
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
 * All mounts in the order in which they are made: the kernel's, without those that a mount of the container covers, then
 * the container's own, parents before what is mounted inside of them.
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

/** Parents before what is inside of them. */
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
 * A bind mount has the restrictions of its source's mount, as long as it is not mounted again with other flags. That crun
 * always does, and runc to make it read-only: what is not among the flags is lost then.
 */
function bindMount({ destination, source, ...mount }: SpecMount): OciMount {
  const kept = mount.sourceRestrictions.filter((option) => option !== 'ro');
  return {
    destination,
    type: 'bind',
    source,
    options: ['rbind', PROPAGATION_OPTIONS[mount.propagation], accessOf(mount), ...kept],
  };
}

function accessOf(mount: Pick<SpecMount, 'readonly' | 'recursiveReadOnly' | 'sourceRestrictions'>): string {
  if (mount.readonly) return mount.recursiveReadOnly ? 'rro' : 'ro';
  return mount.sourceRestrictions.includes('ro') ? 'ro' : 'rw';
}

/** A device node of the host, given to a container that cannot have nodes of its own. */
export function deviceMount({ path, hostPath }: Pick<SpecDevice, 'path' | 'hostPath'>): OciMount {
  return { destination: path, type: 'bind', source: hostPath, options: ['bind', 'rprivate', 'nosuid', 'noexec'] };
}

/** How the root's mounts are connected with the host's: as far as the most open mount needs it. */
export function rootfsPropagation(mounts: SpecMount[]): string | undefined {
  if (mounts.some(({ propagation }) => propagation === 'bidirectional')) return 'rshared';
  if (mounts.some(({ propagation }) => propagation === 'host-to-container')) return 'rslave';
  return undefined;
}
