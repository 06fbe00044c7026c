import { mkdir, realpath } from 'node:fs/promises';
import { posix } from 'node:path';
import { HOST_PATH_DIRECTORY, isErrno, PodwrightError, wrapError } from '@podwright/base';
import { byDepth } from '@podwright/oci';
import { type MountEntry, mountsBelow, readMounts, resolveInRoot, type System } from '@podwright/system';
import { serverMounts } from '@podwright/system/mountinfo';
import type { ContainerMount, ContainerRecord } from '../records/container-record.ts';
import type { SandboxEnvironment } from '../sandbox/sandbox-controller.ts';
import { checkMountTarget, isWithin, KERNEL_DIRECTORIES } from './kernel-paths.ts';

/** A bind mount whose source exists on the host. */
export type ResolvedMount = Pick<
  ContainerMount,
  'readonly' | 'recursiveReadOnly' | 'propagation' | 'selinuxRelabel'
> & {
  destination: string;
  source: string;
  /** Whether the mount is a volume declared by the image. */
  isImageVolume?: boolean;
};

/** Sources of a container's mounts, other than requested host paths. */
export type MountSources = {
  environment: SandboxEnvironment;
  /** The mount point and the requested subpath of each image mount, in request order. */
  imageMounts: { root: string; subPath: string }[];
  /**
   * Returns the path of the ID-mapped mount for the mount at position `index` in the request; `undefined` if that mount is not ID-mapped.
   */
  mappedMount: (index: number) => string | undefined;
  /** Volumes declared by the image, with the directories that hold their contents. */
  volumes: { destination: string; source: string }[];
};

/**
 * Returns the paths of volumes declared by the image, minus those replaced by a requested mount. Skips volumes in /dev and /sys (systemd
 * images declare some), because kernel file systems are mounted there.
 */
export function imageVolumes({ config, image }: ContainerRecord): string[] {
  const covered = new Set(config.mounts.map(({ containerPath }) => posix.resolve(containerPath)));
  const declared = Object.keys(image.config.Volumes ?? {}).map((path) => posix.resolve('/', path));
  const isKernels = (path: string) => ['/dev', '/sys'].some((directory) => isWithin(directory, path));
  return [...new Set(declared)].filter((path) => path !== '/' && !covered.has(path) && !isKernels(path)).sort();
}

/**
 * Returns all of a container's bind mounts: the pod's files, the image's volumes and the requested mounts. A requested mount replaces any
 * other mount with the same destination. As in other CRI runtimes, missing host paths are created as directories, and symbolic links are
 * followed.
 */
export async function resolveMounts(record: ContainerRecord, sources: MountSources): Promise<ResolvedMount[]> {
  const { mounts, security } = record.config;
  const requested = new Set(mounts.map(({ containerPath }) => posix.resolve(containerPath)));
  const own = [
    ...podFiles(sources.environment, security.readonlyRootfs),
    ...sources.volumes.map((volume) => ({ ...PLAIN, ...volume, isImageVolume: true })),
  ].filter(({ destination }) => !requested.has(posix.resolve(destination)));
  const resolved: ResolvedMount[] = [];
  let image = 0;
  for (const [index, mount] of mounts.entries()) {
    const { containerPath: destination, readonly, recursiveReadOnly, propagation, selinuxRelabel } = mount;
    const source =
      mount.image === ''
        ? (sources.mappedMount(index) ?? (await hostPathOf(mount)))
        : await imagePath(sources.imageMounts[image++]!);
    resolved.push({ destination, source, readonly, recursiveReadOnly, propagation, selinuxRelabel });
  }
  return [...own, ...resolved];
}

/**
 * Destinations of mounts that the kubelet and the container runtime add to pods. Unlike other destinations, these are allowed to lead out
 * of another mount through a symbolic link in it, for example `resolv.conf` in a mounted /etc from a host with systemd-resolved, or `run`
 * in a mounted /var.
 */
const ADDED_TO_PODS = [
  '/dev/shm',
  '/etc/hostname',
  '/etc/hosts',
  '/etc/resolv.conf',
  '/var/run/secrets/kubernetes.io/serviceaccount',
];

/**
 * Resolves the image's symbolic links in mount destinations, and sorts the mounts, parents first. OCI runtimes treat dangling links
 * differently, but all of them create the missing components of a link-free path. Throws `invalid_argument` for a mount over the root or a
 * kernel file system, and for a mount whose destination leaves another mount through a symbolic link.
 */
export async function resolveDestinations(rootfs: string, mounts: ResolvedMount[]): Promise<ResolvedMount[]> {
  const requested = mounts.toSorted(byDepth);
  const resolved = await resolveParentsFirst(rootfs, requested);
  for (const [index, { destination }] of resolved.entries()) await checkMountTarget(requested[index]!, destination);
  // Resolve all destinations again, in sorted order: because of a symbolic link in the image, a mount's resolved destination can be under
  // that of a mount that was resolved after it. If two mounts have the same destination, the later one in `mounts` wins.
  const sorted = mounts.map((mount) => resolved[requested.indexOf(mount)]!).toSorted(byDepth);
  const again = await resolveParentsFirst(rootfs, sorted);
  const moved = sorted.find(({ destination }, index) => again[index]!.destination !== destination);
  if (moved === undefined) return sorted;
  throw new PodwrightError(
    'invalid_argument',
    `mount ${moved.source} at ${moved.destination}: the path leads through a symbolic link in another mount; mount it elsewhere`,
  );
}

async function resolveParentsFirst(rootfs: string, mounts: ResolvedMount[]): Promise<ResolvedMount[]> {
  const covers = new Map<string, string | undefined>(KERNEL_DIRECTORIES.map((path) => [path, undefined]));
  const resolved: ResolvedMount[] = [];
  for (const mount of mounts) {
    const requested = posix.resolve('/', mount.destination);
    const path = await resolveInRoot(rootfs, requested, { covers, mayLeave: ADDED_TO_PODS.includes(requested) });
    const destination = posix.resolve('/', posix.relative(rootfs, path));
    covers.set(destination, mount.source);
    resolved.push({ ...mount, destination });
  }
  return resolved;
}

/**
 * Adds the host mounts under each source as separate mounts, because crun 1.8 does not bind recursively in a user namespace. With other OCI
 * runtimes, this makes no difference.
 */
export function withMountsBelow(mounts: ResolvedMount[], entries: MountEntry[]): ResolvedMount[] {
  return mounts.flatMap((mount) => {
    const below = mountsBelow(mount.source, entries).filter(({ mountPoint }) => mountPoint !== mount.source);
    const sources = [...new Set(below.map(({ mountPoint }) => mountPoint))];
    const readonly = mount.recursiveReadOnly;
    const parts = sources.map((source) => {
      const destination = posix.join(mount.destination, source.slice(mount.source.length));
      return { ...mount, source, destination, readonly, selinuxRelabel: false };
    });
    return [mount, ...parts];
  });
}

/** Adds the restrictive mount options, such as `noexec`, of the mount containing each source. */
export async function withSourceRestrictions<T extends { source: string }>(
  mounts: T[],
  system: System,
): Promise<(T & { sourceRestrictions: string[] })[]> {
  const found = mounts.map(async (mount) => ({
    ...mount,
    sourceRestrictions: await system.mountRestrictions(mount.source),
  }));
  return await Promise.all(found);
}

const PLAIN = { readonly: false, recursiveReadOnly: false, propagation: 'private', selinuxRelabel: true } as const;

function podFiles({ files, shm }: SandboxEnvironment, readonly: boolean): ResolvedMount[] {
  return [
    { ...PLAIN, readonly, destination: '/etc/hostname', source: files.hostname },
    { ...PLAIN, readonly, destination: '/etc/hosts', source: files.hosts },
    { ...PLAIN, readonly, destination: '/etc/resolv.conf', source: files.resolvConf },
    { ...PLAIN, selinuxRelabel: shm !== '/dev/shm', destination: '/dev/shm', source: shm },
  ];
}

function imagePath({ root, subPath }: MountSources['imageMounts'][number]): Promise<string> {
  return resolveInRoot(root, subPath);
}

/**
 * Returns a mount's host path with symbolic links resolved. A missing path is created as a directory. Throws `failed_precondition` if the
 * path does not allow the requested mount propagation.
 */
export async function hostPathOf(mount: ContainerMount): Promise<string> {
  await serverMounts.requireResponse(mount.hostPath);
  const source = await existing(mount.hostPath);
  if (mount.propagation !== 'private') checkPropagation(mount, source, readMounts());
  return source;
}

async function existing(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw wrapError(`find host path ${path}`, error, 'invalid_argument');
  }
  try {
    await mkdir(path, { recursive: true, mode: HOST_PATH_DIRECTORY });
    return await realpath(path);
  } catch (error) {
    throw wrapError(`make host path ${path}`, error, 'failed_precondition');
  }
}

/** Checks that the mount containing the source is shared, or for host-to-container propagation at least a slave. */
export function checkPropagation(
  mount: Pick<ContainerMount, 'hostPath' | 'propagation'>,
  source: string,
  mounts: MountEntry[],
): void {
  const holder = mounts
    .filter(({ mountPoint }) => mountPoint === '/' || source === mountPoint || source.startsWith(`${mountPoint}/`))
    .reduce((deepest, entry) => (entry.mountPoint.length >= deepest.mountPoint.length ? entry : deepest));
  const kinds = mount.propagation === 'bidirectional' ? ['shared'] : ['shared', 'master'];
  if (holder.propagation.some((tag) => kinds.includes(tag.split(':')[0]!))) return;
  throw new PodwrightError(
    'failed_precondition',
    `mount ${mount.hostPath} with propagation ${mount.propagation}: it is on ${holder.mountPoint}, which is a ` +
      `${kinds.length === 1 ? 'mount that is not shared' : 'private mount'}; run mount --make-rshared ${holder.mountPoint}`,
  );
}
