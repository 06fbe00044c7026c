import { stat, statfs } from 'node:fs/promises';
import type { CriClient } from '@podwright/cri';
import { type CgroupHierarchy, readCgroupUse } from '@podwright/host';
import type { DiskLayout, Observation, Observations, Signal } from '@podwright/kubelet-configuration';
import { STATISTICS_TIMEOUT_MS } from '../stats/limits.ts';
import { processLimits } from '../stats/node-stats.ts';

/** How long the container runtime's directories are cached; they change only when the runtime is reconfigured. */
const IMAGE_PATHS_CACHED_MS = 300_000;

export type NodeSignalsOptions = {
  cri: Pick<CriClient, 'image'>;
  hierarchy: CgroupHierarchy | undefined;
  /** The node's memory, in bytes. */
  memoryBytes: number;
  /** The parent cgroup of all pods; '' if the container runtime picks one. */
  podsCgroup: string;
  /** The kubelet's root directory, which is on nodefs. */
  rootDir: string;
};

/**
 * The container runtime's directories; absent if not on this host. Container layers are stored with the images unless the runtime reports a
 * separate directory.
 */
type ImagePaths = { images?: string; containers?: string };

/**
 * Reads the eviction signals from the same sources as upstream: cgroup working sets, file systems, and the kernel's process count. Takes
 * only a few reads, regardless of the number of pods.
 */
export class NodeSignals {
  readonly #options: NodeSignalsOptions;
  #paths: { of: ImagePaths; readAtMs: number } | undefined;

  constructor(options: NodeSignalsOptions) {
    this.#options = options;
  }

  /**
   * Detects the disk layout. Also `shared` if the container runtime's image directory is not on this host. Rejects with the runtime's
   * error.
   */
  async diskLayout(): Promise<DiskLayout> {
    const { images, containers } = await this.#imagePaths();
    if (images === undefined || containers === undefined) return 'shared';
    const [kubelet, ofImages, ofContainers] = await Promise.all(
      [this.#options.rootDir, images, containers].map(device),
    );
    if (ofImages !== ofContainers) return 'split';
    return kubelet === ofImages ? 'shared' : 'images';
  }

  /** Observes all eviction signals. Signals that cannot be read are absent from the result. */
  async observe(): Promise<Observations> {
    const disks = await this.observeDisks();
    const atMs = performance.now();
    const found: [Signal, Observation | undefined][] = [
      ...this.#memory(atMs),
      ...disks,
      ['pid.available', await processes(atMs)],
    ];
    return new Map(found.flatMap(([signal, one]) => (one === undefined ? [] : [[signal, one]])));
  }

  /** Observes only the disk signals, with one statfs(2) per file system. */
  async observeDisks(): Promise<Observations> {
    const paths: ImagePaths = await this.#imagePaths().catch(() => ({}));
    return new Map([
      ...(await fileSystem('nodefs', this.#options.rootDir)),
      ...(await fileSystem('imagefs', paths.images)),
      ...(await fileSystem('containerfs', paths.containers)),
    ]);
  }

  #memory(atMs: number): [Signal, Observation | undefined][] {
    const { hierarchy, memoryBytes, podsCgroup } = this.#options;
    if (hierarchy === undefined) return [];
    const of = (path: string, capacityBytes?: number) => {
      const { memory } = readCgroupUse(hierarchy, path);
      const capacity = capacityBytes ?? memory?.limitBytes;
      if (memory === undefined || capacity === undefined) return undefined;
      const available = BigInt(Math.max(0, Math.floor(capacity - memory.workingSetBytes)));
      return { available, capacity: BigInt(Math.floor(capacity)), atMs };
    };
    return [
      ['memory.available', of('/', memoryBytes)],
      ['allocatableMemory.available', podsCgroup === '' ? undefined : of(podsCgroup)],
    ];
  }

  /** The container runtime's directories. Cached, because ImageFsInfo makes the container runtime measure all of its images. */
  async #imagePaths(): Promise<ImagePaths> {
    const known = this.#paths;
    if (known !== undefined && performance.now() - known.readAtMs < IMAGE_PATHS_CACHED_MS) return known.of;
    const timeoutMs = STATISTICS_TIMEOUT_MS;
    const { imageFilesystems, containerFilesystems } = await this.#options.cri.image.imageFsInfo({}, { timeoutMs });
    const [images, containers = images] = await Promise.all(
      [imageFilesystems[0], containerFilesystems[0]].map((one) => ifHere(one?.fsId?.mountpoint ?? '')),
    );
    this.#paths = { of: { images, containers }, readAtMs: performance.now() };
    return this.#paths.of;
  }
}

async function ifHere(path: string): Promise<string | undefined> {
  const isHere =
    path !== '' &&
    (await stat(path).then(
      () => true,
      () => false,
    ));
  return isHere ? path : undefined;
}

async function device(path: string): Promise<bigint> {
  return (await stat(path, { bigint: true })).dev;
}

async function fileSystem(
  name: 'nodefs' | 'imagefs' | 'containerfs',
  path: string | undefined,
): Promise<[Signal, Observation][]> {
  const found = path === undefined ? undefined : await statfs(path, { bigint: true }).catch(() => undefined);
  if (found === undefined) return [];
  const { bsize, blocks, bavail, files, ffree } = found;
  const atMs = performance.now();
  return [
    [`${name}.available`, { available: bavail * bsize, capacity: blocks * bsize, atMs }],
    [`${name}.inodesFree`, { available: ffree, capacity: files, atMs }],
  ];
}

async function processes(atMs: number): Promise<Observation | undefined> {
  const { maxpid, curproc } = await processLimits();
  if (maxpid === undefined || curproc === undefined) return undefined;
  return { available: BigInt(maxpid - curproc), capacity: BigInt(maxpid), atMs };
}
