import { mkdir, realpath } from 'node:fs/promises';
import { posix } from 'node:path';
import { HOST_PATH_DIRECTORY, isErrno, PodwrightError, wrapError } from '@podwright/base';
import { type MountEntry, mountsBelow, readMounts, resolveInRoot, type System } from '@podwright/system';
import { byDepth } from '../oci/spec-mounts.ts';
import type { ContainerMount, ContainerRecord } from '../records/container-record.ts';
import type { SandboxEnvironment } from '../sandbox/sandbox-controller.ts';
import { checkMountPlace, isWithin, KERNEL_PLACES } from './kernel-paths.ts';

/** A bind mount whose source is there. */
export type ResolvedMount = Pick<
  ContainerMount,
  'readonly' | 'recursiveReadOnly' | 'propagation' | 'selinuxRelabel'
> & {
  destination: string;
  source: string;
  /** The image declares it as a volume. */
  isImageVolume?: boolean;
};

/** Where a container's own mounts come from. */
export type MountSources = {
  environment: SandboxEnvironment;
  /** Where the mounts' images are mounted, in their order, and what of them is wanted. */
  imageMounts: { root: string; subPath: string }[];
  /** Where the N-th mount is shown with mapped ids; undefined for one without. */
  mappedMount: (index: number) => string | undefined;
  /** What the image declares as volumes: where, and the directories that hold them. */
  volumes: { destination: string; source: string }[];
};

/**
 * Paths of the volumes that the image declares and that no mount covers. Those in /dev and /sys are left out, which images for
 * systemd declare: the kernel's file systems are there.
 */
export function imageVolumes({ config, image }: ContainerRecord): string[] {
  const covered = new Set(config.mounts.map(({ containerPath }) => posix.resolve(containerPath)));
  const declared = Object.keys(image.config.Volumes ?? {}).map((path) => posix.resolve('/', path));
  const isKernels = (path: string) => ['/dev', '/sys'].some((place) => isWithin(place, path));
  return [...new Set(declared)].filter((path) => path !== '/' && !covered.has(path) && !isKernels(path)).sort();
}

/**
 * Everything that is bind-mounted into a container: the pod's files, the image's volumes, and what was asked for, which wins.
 * A missing host path is made as a directory and symbolic links are followed, as Kubernetes' runtimes do.
 */
export async function resolveMounts(record: ContainerRecord, sources: MountSources): Promise<ResolvedMount[]> {
  const { mounts, security } = record.config;
  const asked = new Set(mounts.map(({ containerPath }) => posix.resolve(containerPath)));
  const own = [
    ...podFiles(sources.environment, security.readonlyRootfs),
    ...sources.volumes.map((volume) => ({ ...PLAIN, ...volume, isImageVolume: true })),
  ].filter(({ destination }) => !asked.has(posix.resolve(destination)));
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
 * What the node adds to pods may be in a mount that has links to the outside in its place: the /etc of a host with systemd-resolved,
 * a /var whose `run` leads to /run. The content of such a mount cannot place anything else.
 */
const ADDED_TO_PODS = [
  '/dev/shm',
  '/etc/hostname',
  '/etc/hosts',
  '/etc/resolv.conf',
  '/var/run/secrets/kubernetes.io/serviceaccount',
];

/**
 * The mounts at the places to which links of the image lead, parents first: OCI runtimes differ in what they do where such a link
 * leads to nothing. They make what is missing of a path without links. `invalid_argument` for a mount that would replace the root
 * or a file system of the kernel, and for one that a link in another mount would place outside of that mount.
 */
export async function atResolvedPlaces(rootfs: string, mounts: ResolvedMount[]): Promise<ResolvedMount[]> {
  const asked = mounts.toSorted(byDepth);
  const resolved = await resolveParentsFirst(rootfs, asked);
  for (const [index, { destination }] of resolved.entries()) await checkMountPlace(asked[index]!, destination);
  // By a link of the image a mount may be below one that was resolved after it. Of two at one place the later one of `mounts` wins.
  const sorted = mounts.map((mount) => resolved[asked.indexOf(mount)]!).toSorted(byDepth);
  const again = await resolveParentsFirst(rootfs, sorted);
  const moved = sorted.find(({ destination }, index) => again[index]!.destination !== destination);
  if (moved === undefined) return sorted;
  throw new PodwrightError(
    'invalid_argument',
    `mount ${moved.source} at ${moved.destination}: a symbolic link is there in another mount; mount it elsewhere`,
  );
}

async function resolveParentsFirst(rootfs: string, mounts: ResolvedMount[]): Promise<ResolvedMount[]> {
  const covers = new Map<string, string | undefined>(KERNEL_PLACES.map((place) => [place, undefined]));
  const resolved: ResolvedMount[] = [];
  for (const mount of mounts) {
    const wanted = posix.resolve('/', mount.destination);
    const path = await resolveInRoot(rootfs, wanted, { covers, mayLeave: ADDED_TO_PODS.includes(wanted) });
    const destination = posix.resolve('/', posix.relative(rootfs, path));
    covers.set(destination, mount.source);
    resolved.push({ ...mount, destination });
  }
  return resolved;
}

/**
 * The mounts with those of the host that are below their sources. OCI runtimes bind these along, but crun 1.8 in a user
 * namespace does not: there each is given by itself, which changes nothing for the others.
 */
export function withMountsBelow(mounts: ResolvedMount[], entries: MountEntry[]): ResolvedMount[] {
  return mounts.flatMap((mount) => {
    const below = mountsBelow(mount.source, entries).filter(({ mountPoint }) => mountPoint !== mount.source);
    const places = [...new Set(below.map(({ mountPoint }) => mountPoint))];
    const readonly = mount.recursiveReadOnly;
    const parts = places.map((source) => {
      const destination = posix.join(mount.destination, source.slice(mount.source.length));
      return { ...mount, source, destination, readonly, selinuxRelabel: false };
    });
    return [mount, ...parts];
  });
}

/** The mounts with what their sources' own mounts do not allow. */
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
 * The path of the host that a mount shows, without symbolic links; a missing one is made as a directory.
 * `failed_precondition` if mounts below it cannot be passed on as asked for.
 */
export async function hostPathOf(mount: ContainerMount): Promise<string> {
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

/** Mounts can only be passed on from and to the host where the mount that holds the source is shared with others. */
export function checkPropagation(mount: ContainerMount, source: string, mounts: MountEntry[]): void {
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
