import { stat, statfs } from 'node:fs/promises';
import { type CgroupHierarchy, readCgroupUse } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import type { DiskLayout, Signal } from '@podwright/kubelet-configuration';
import { STATISTICS_TIMEOUT_MS } from '../stats/limits.ts';
import { processLimits } from '../stats/node-stats.ts';
import type { Observation, Observations } from './observed-signals.ts';

/** The runtime's directories stay where they are, but for a runtime that was set up anew. */
const IMAGE_PLACES_KEPT_MS = 300_000;

export type NodeSignalsOptions = {
  cri: Pick<CriClient, 'image'>;
  hierarchy: CgroupHierarchy | undefined;
  /** Memory of the node. */
  memoryBytes: number;
  /** The cgroup of all pods, '' if the runtime chooses. */
  podsCgroup: string;
  /** The kubelet's directory, by which nodefs is known. */
  rootDir: string;
};

/** Directories of the runtime, as far as they are here; what containers write is with the images where it says nothing else. */
type ImagePlaces = { images?: string; containers?: string };

/**
 * How much there is of what a node may run short of, from upstream's sources: working sets of cgroups, file systems, and what the
 * kernel counts of processes. It costs a few reads, whatever runs.
 */
export class NodeSignals {
  readonly #options: NodeSignalsOptions;
  #places: { of: ImagePlaces; askedAtMs: number } | undefined;

  constructor(options: NodeSignalsOptions) {
    this.#options = options;
  }

  /** Of a runtime that has its images nowhere that is here, all counts as on one disk. Rejects with the runtime's error. */
  async diskLayout(): Promise<DiskLayout> {
    const { images, containers } = await this.#imagePlaces();
    if (images === undefined || containers === undefined) return 'shared';
    const [kubelet, ofImages, ofContainers] = await Promise.all(
      [this.#options.rootDir, images, containers].map(device),
    );
    if (ofImages !== ofContainers) return 'split';
    return kubelet === ofImages ? 'shared' : 'images';
  }

  /** What cannot be looked at now is absent. */
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

  /** The part of `observe` that is of disks: a statfs(2) each. */
  async observeDisks(): Promise<Observations> {
    const places: ImagePlaces = await this.#imagePlaces().catch(() => ({}));
    return new Map([
      ...(await fileSystem('nodefs', this.#options.rootDir)),
      ...(await fileSystem('imagefs', places.images)),
      ...(await fileSystem('containerfs', places.containers)),
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

  /** The runtime measures all of its images to tell where they are, so it is not asked each time. */
  async #imagePlaces(): Promise<ImagePlaces> {
    const known = this.#places;
    if (known !== undefined && performance.now() - known.askedAtMs < IMAGE_PLACES_KEPT_MS) return known.of;
    const timeoutMs = STATISTICS_TIMEOUT_MS;
    const { imageFilesystems, containerFilesystems } = await this.#options.cri.image.imageFsInfo({}, { timeoutMs });
    const [images, containers = images] = await Promise.all(
      [imageFilesystems[0], containerFilesystems[0]].map((one) => ifHere(one?.fsId?.mountpoint ?? '')),
    );
    this.#places = { of: { images, containers }, askedAtMs: performance.now() };
    return this.#places.of;
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
