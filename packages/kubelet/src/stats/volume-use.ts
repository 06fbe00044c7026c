import { background, errorMessage, Histogram, type Logger, type Registry, raceAbort } from '@podwright/base';
import { mostChanges, remoteTreeUse, type TreeUse, treeUse } from '@podwright/host';
import type { Pod, Volume } from '@podwright/kube-api';
import { deviceUse, fileSystemOf, remoteFileSystemOf } from './file-system-use.ts';
import { type FsStats, StatsTime, type VolumeStats } from './summary.ts';

/** Maximum age of a volume's last walk (upstream's volumeStatsAggPeriod). */
const VOLUME_USE_CACHED_MS = 60_000;

/** Maximum time for which the walk of a volume that might block on a remote server delays the walks of other volumes. */
const REMOTE_WALK_MS = 1000;

/**
 * Timeout for the first walks of all of a pod's local volumes together, and for the second walk of each volume whose first walk was cut
 * short.
 */
const FIRST_WALKS_MS = 250;
const SECOND_WALK_MS = 3000;

export type VolumeUseParts = {
  /** Returns the host paths of a pod's volumes, by volume name. */
  pathsOf: (podUid: string) => ReadonlyMap<string, string>;
  /** Returns the usage that the CSI driver reports for the volume at a path; `undefined` if the volume has no driver. */
  driverUse?: (path: string) => Promise<Omit<FsStats, 'time'>> | undefined;
  logger: Logger;
  metrics?: Registry;
};

type Measured = { atMs: number; stats: VolumeStats; isPartial: boolean } & TreeChange;

/** What changed while files were counted, and when they last changed (wall-clock time; absent if unknown). */
type TreeChange = Pick<TreeUse, 'changes' | 'changedAtMs'>;

/** The usage of a pod's ephemeral volumes. `isPartial`: some files were not counted. */
export type VolumesNow = TreeChange & { stats: VolumeStats[]; isPartial: boolean };

/**
 * Disk usage of pods' volumes, measured by walking their directory trees. A call starts a walk if the last one is older than a minute;
 * until the walk finishes, callers get the previous values. Walks run one at a time, except those that are waiting for a CSI driver or
 * slowed down by a remote server. A volume's owner controls how long a walk takes, so every volume gets a short walk before any gets a long
 * one.
 */
export class VolumeUse {
  readonly #parts: VolumeUseParts;
  #measured = new Map<string, Measured>();
  #walks: Promise<unknown> = Promise.resolve();
  #secondWalks: Promise<unknown> = Promise.resolve();
  /** Paths of volumes whose walks are pending or running; no other walk is started for them. */
  readonly #waiting = new Set<string>();
  /** Paths of volumes whose last walk was slowed down by a remote server. */
  readonly #slow = new Set<string>();
  readonly #seconds: Histogram<'metric_source'> | undefined;

  constructor(parts: VolumeUseParts) {
    this.#parts = parts;
    this.#seconds =
      parts.metrics &&
      new Histogram({
        name: 'kubelet_volume_metric_collection_duration_seconds',
        help: 'Duration in seconds to calculate volume stats',
        labelNames: ['metric_source'],
        registers: [parts.metrics],
      });
  }

  /** Returns the last measured usage of the pod's volumes. Does not wait for walks, so the first call returns nothing. */
  of(pod: Pod): VolumeStats[] {
    return this.#known(pod, isMeasured);
  }

  /**
   * Whether the usage returned by `of` misses files in an ephemeral volume of the pod, or such a volume has not been measured since
   * `sinceMs` (monotonic).
   */
  isPartial(pod: Pod, sinceMs: number): boolean {
    const paths = this.#parts.pathsOf(pod.metadata.uid);
    return (pod.spec.volumes ?? []).filter(isEphemeral).some(({ name }) => {
      const known = this.#measured.get(paths.get(name) ?? '');
      return paths.has(name) && (known === undefined || known.isPartial || known.atMs < sinceMs);
    });
  }

  /** Returns the changes of the pod's ephemeral volumes as of their last measurement. */
  changes(pod: Pod): TreeChange {
    const paths = this.#parts.pathsOf(pod.metadata.uid);
    const volumes = (pod.spec.volumes ?? []).filter((one) => isEphemeral(one) && paths.has(one.name));
    return changeOf(volumes.map(({ name }) => this.#measured.get(paths.get(name)!) ?? { changes: 'none' }));
  }

  /**
   * Measures the pod's ephemeral volumes now, without waiting for other walks. Skips volumes in which a container may mount remote file
   * systems. `changedSinceMs`: see `measureTree`. Rejects if the signal aborts.
   */
  async now(
    pod: Pod,
    options: { timeoutMs: number; signal: AbortSignal; changedSinceMs: number },
  ): Promise<VolumesNow> {
    const paths = this.#parts.pathsOf(pod.metadata.uid);
    const volumes = (pod.spec.volumes ?? []).filter((one) => isEphemeral(one) && paths.has(one.name));
    const walks = volumes.map(async (volume): Promise<VolumesNow> => {
      if (!isLocal(pod, volume)) return { stats: [], isPartial: true, changes: 'none' };
      const path = paths.get(volume.name)!;
      const { bytes, inodes, ...found } = await treeUse(path, options);
      const use = { ...(await fileSystemOf(path)), usedBytes: bytes, inodesUsed: inodes };
      return { stats: [{ ...use, name: volume.name }], ...found };
    });
    const all = await Promise.all(walks);
    return {
      stats: all.flatMap(({ stats }) => stats),
      isPartial: all.some(({ isPartial }) => isPartial),
      ...changeOf(all),
    };
  }

  /** Starts walking the pod's ephemeral volumes and its PVC volumes without a driver, even if they were measured recently. */
  measureNow(pod: Pod): void {
    const paths = this.#parts.pathsOf(pod.metadata.uid);
    for (const volume of (pod.spec.volumes ?? []).filter((one) => isEphemeral(one) || isClaim(one))) {
      const path = paths.get(volume.name);
      if (path !== undefined) this.#walk(pod, volume, path);
    }
  }

  /** Like `of`, but only for the pod's PVC volumes; other volumes are not walked. */
  ofClaims(pod: Pod): VolumeStats[] {
    return this.#known(pod, isClaim);
  }

  #known(pod: Pod, wanted: (volume: Volume) => boolean): VolumeStats[] {
    const paths = this.#parts.pathsOf(pod.metadata.uid);
    return (pod.spec.volumes ?? []).filter(wanted).flatMap((volume) => {
      const path = paths.get(volume.name);
      if (path === undefined) return [];
      const known = this.#measured.get(path);
      if (known === undefined || performance.now() - known.atMs > VOLUME_USE_CACHED_MS) this.#walk(pod, volume, path);
      return known === undefined ? [] : [{ ...known.stats, ...claimOf(volume, pod) }];
    });
  }

  /** Drops the results for volumes of pods that are not in the list. */
  keep(pods: Pod[]): void {
    const paths = new Set(pods.flatMap(({ metadata }) => [...this.#parts.pathsOf(metadata.uid).values()]));
    for (const path of this.#measured.keys()) if (!paths.has(path)) this.#measured.delete(path);
    for (const path of this.#slow) if (!paths.has(path)) this.#slow.delete(path);
  }

  /**
   * Resolves once all walks started so far have finished, except those that are waiting for a CSI driver or slowed down by a remote server.
   */
  async settled(): Promise<void> {
    await this.#walks;
    await this.#secondWalks;
  }

  #walk(pod: Pod, volume: Volume, path: string): void {
    if (this.#waiting.has(path)) return;
    this.#waiting.add(path);
    const reported = this.#parts.driverUse?.(path);
    const isOfNode = reported === undefined && isLocal(pod, volume);
    const isDevice = reported === undefined && isBlock(pod, volume);
    const source = isDevice ? 'block' : volume.nfs === undefined ? 'du' : 'statfs';
    const measure = async (timeoutMs: number) => {
      const use = (await reported) ?? (isDevice ? await deviceUse(path) : undefined);
      if (use !== undefined) return { use, ...UNCHANGED };
      return await measured(path, { isOfNode, byFiles: source === 'du', timeoutMs });
    };
    const walk = async (timeoutMs: number) => {
      const startedAtMs = performance.now();
      let isPartial = false;
      try {
        const found = await measure(timeoutMs);
        isPartial = found.isPartial;
        const stats = { time: new StatsTime(Date.now()), ...found.use, name: volume.name };
        this.#measured.set(path, { atMs: performance.now(), stats, isPartial, ...changeOf([found]) });
      } catch (error) {
        this.#parts.logger.debug({ path, error: errorMessage(error) }, 'a volume could not be measured');
      } finally {
        const tookMs = performance.now() - startedAtMs;
        if (tookMs < REMOTE_WALK_MS) this.#slow.delete(path);
        else if (!isOfNode) this.#slow.add(path);
        this.#seconds?.observe({ metric_source: source }, tookMs / 1000);
        if (isPartial && timeoutMs < SECOND_WALK_MS)
          this.#secondWalks = this.#secondWalks.then(() => walk(SECOND_WALK_MS));
        else this.#waiting.delete(path);
      }
    };
    const first = () => walk(FIRST_WALKS_MS / pod.spec.volumes!.length);
    // a hanging CSI driver or file server must not block the walks of other volumes
    if (reported !== undefined || this.#slow.has(path))
      background(this.#parts.logger, 'a volume could not be measured', first());
    else this.#walks = this.#walks.then(isOfNode ? first : () => briefly(first()));
  }
}

/**
 * The change fields (no changes, fully measured) of volumes whose usage comes from a CSI driver or from statfs(2) instead of a directory
 * walk.
 */
const UNCHANGED = { isPartial: false, changes: 'none', changedAtMs: 0 } as const;

/** Combines the changes of several directory trees: the most severe kind of change, and the latest time. */
function changeOf(all: readonly TreeChange[]): TreeChange {
  const changes = mostChanges(all.map((one) => one.changes));
  const times = all.map(({ changedAtMs }) => changedAtMs);
  const known = times.filter((atMs) => atMs !== undefined);
  return { changes, changedAtMs: known.length < times.length ? undefined : Math.max(0, ...known) };
}

/** Resolves when the walk ends, or after `REMOTE_WALK_MS` if it takes longer; it then continues in the background. */
const briefly = (walk: Promise<void>) => raceAbort(walk, AbortSignal.timeout(REMOTE_WALK_MS)).catch(() => undefined);

/**
 * Measures a volume that has no CSI driver. For an NFS export, returns the usage of its whole file system, because walking it would take
 * too long.
 */
async function measured(
  path: string,
  { isOfNode, byFiles, timeoutMs }: { isOfNode: boolean; byFiles: boolean; timeoutMs: number },
): Promise<{ use: FsStats; isPartial: boolean } & TreeChange> {
  const fileSystem = await (isOfNode ? fileSystemOf(path) : remoteFileSystemOf(path));
  if (!byFiles) return { use: fileSystem, ...UNCHANGED };
  // nothing aborts the walk; it ends on its own or with the process
  const signal = new AbortController().signal;
  const found = await (isOfNode ? treeUse(path, { signal, timeoutMs }) : remoteTreeUse(path));
  const { bytes, inodes, ...rest } = found;
  return { use: { ...fileSystem, usedBytes: bytes, inodesUsed: inodes }, ...rest };
}

/**
 * Whether the volume is in the kubelet's directory and no container mounts a file system there. Walking any other volume may block on a
 * remote server.
 */
export function isLocal({ spec }: Pod, { name, emptyDir, configMap, secret, projected, downwardAPI }: Volume): boolean {
  const mounts = [...spec.containers, ...(spec.initContainers ?? [])].flatMap(({ volumeMounts }) => volumeMounts ?? []);
  return (
    (emptyDir ?? configMap ?? secret ?? projected ?? downwardAPI) !== undefined &&
    !mounts.some((mount) => mount.name === name && mount.mountPropagation === 'Bidirectional')
  );
}

function isBlock({ spec }: Pod, { name }: Volume): boolean {
  return spec.containers.some(({ volumeDevices }) => volumeDevices?.some((device) => device.name === name));
}

function claimOf({ name, persistentVolumeClaim, ephemeral }: Volume, { metadata }: Pod): Pick<VolumeStats, 'pvcRef'> {
  const claim = persistentVolumeClaim?.claimName ?? (ephemeral && `${metadata.name}-${name}`);
  return claim === undefined ? {} : { pvcRef: { name: claim, namespace: metadata.namespace } };
}

/** Whether the volume is measured. As in upstream, hostPath volumes are not. */
function isMeasured(volume: Volume): boolean {
  return volume.hostPath === undefined;
}

/** Whether the volume belongs to a PVC. */
export function isClaim({ persistentVolumeClaim, ephemeral }: Volume): boolean {
  return (persistentVolumeClaim ?? ephemeral) !== undefined;
}

/** Whether the volume's files count toward the pod's ephemeral storage (upstream's IsLocalEphemeralVolume). */
export function isEphemeral({ emptyDir, configMap }: Volume): boolean {
  return (emptyDir !== undefined && (emptyDir.medium ?? '') === '') || configMap !== undefined;
}
