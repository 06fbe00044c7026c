/** Waits for the space of removed files and evicted pods to be freed, which file systems and container runtimes do in the background. */
import { pause } from '@podwright/base';
import { isOfDisk, type Threshold, thresholdsMet } from '@podwright/kubelet-configuration';
import type { PodStatsByDisk } from '../stats/pod-stats.ts';
import type { EvictedSpace, SpaceCheck } from './evicted-space.ts';
import { EVICTION_CLEAN_UP_MS, EVICTION_LOOK_MS } from './limits.ts';
import type { NodeSignals } from './node-signals.ts';

/**
 * Number of consecutive checks without newly freed space after which removed files count as completely freed. More than one, because file
 * systems free space in the background.
 */
const EVICTION_CHECKS_IN_VAIN = 4;

/**
 * Number of consecutive checks without newly freed space after which the space of evicted pods counts as freed if their usage, or the
 * growth of other pods, is unknown. Counted only after the pods and their files have been removed.
 */
const EVICTION_IDLE_CHECKS = 14;

/**
 * How long to wait while this process is still deleting files. Evicting more pods would not help: their files would be deleted only after
 * these.
 */
const EVICTION_DELETION_MS = 120_000;

export type SpaceWaitDependencies = {
  signals: Pick<NodeSignals, 'observe'>;
  /** Whether this process, which may include the container runtime, is still deleting the files of containers and volumes. */
  isDeleting?: () => boolean;
};

type Input = SpaceWaitDependencies & {
  /** Measures the disk usage of the pods that have not been evicted. */
  otherUse: () => Promise<PodStatsByDisk[]>;
  stopping: AbortSignal;
};

/** The space of evicted pods to wait for. `isRemoving`: whether the pods or their containers are still being removed. */
export type SpaceOfEvicted = { space: EvictedSpace; isRemoving: () => boolean };

/**
 * Waits until the space of removed files and, if given, evicted pods has been freed. Returns the thresholds that are still met. Rejects if
 * the signals cannot be observed.
 */
export async function awaitSpace(
  input: Input,
  thresholds: readonly Threshold[],
  evicted?: SpaceOfEvicted,
): Promise<Threshold[]> {
  const { signals, isDeleting = () => false, stopping } = input;
  const startedAtMs = performance.now();
  const waitMs = () => (evicted !== undefined && isDeleting() ? EVICTION_DELETION_MS : EVICTION_CLEAN_UP_MS);
  const most = new Map<Threshold, bigint>();
  let idleChecks = 0;
  for (let checksInVain = 0; ; ) {
    const observations = await signals.observe();
    const met = thresholdsMet(thresholds, observations, { withReclaim: true });
    const onDisk = met.filter(({ signal }) => isOfDisk(signal));
    const freer = onDisk.filter((one) => observations.get(one.signal)!.available > (most.get(one) ?? -1n));
    for (const one of freer) most.set(one, observations.get(one.signal)!.available);
    checksInVain = freer.length > 0 ? 0 : checksInVain + 1;
    idleChecks = freer.length > 0 || isDeleting() || evicted?.isRemoving() ? 0 : idleChecks + 1;
    if (onDisk.length === 0 || performance.now() > startedAtMs + waitMs() || stopping.aborted) return met;
    if (checksInVain >= EVICTION_CHECKS_IN_VAIN) {
      const check = { signals: onDisk.map(({ signal }) => signal), observations };
      const isUnknownFreed = idleChecks >= EVICTION_IDLE_CHECKS;
      if (evicted === undefined || (await isFreed(input, evicted.space, { ...check, isUnknownFreed }))) return met;
      checksInVain = 0;
    }
    await pause(EVICTION_LOOK_MS, stopping);
  }
}

/**
 * Whether the space of evicted pods is free. If it does not seem to be, measures the other pods too, because they might fill a disk as fast
 * as it is freed.
 */
async function isFreed(
  { otherUse }: Input,
  space: EvictedSpace,
  check: Omit<SpaceCheck, 'otherUse'>,
): Promise<boolean> {
  if (!check.isUnknownFreed && !space.isKnown(check.signals)) return false;
  if (space.isFreed(check)) return true;
  return space.isFreed({ ...check, otherUse: await otherUse() });
}
