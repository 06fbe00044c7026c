/**
 * Enforces the capacity of claims whose files are in directories of the node. These files outlive the pods that wrote them: without a
 * limit, a pod could fill the disk, and evicting it would not free the space.
 */
import { errorMessage, type Logger } from '@podwright/base';
import { type TreeUse, treeUse } from '@podwright/host';
import { isCriticalPod, type Pod } from '@podwright/kube-api';
import {
  claimKey,
  claimUseText,
  type DirectoryClaim,
  type DirectoryClaims,
  isOverCapacity,
  limitedClaims,
  overCapacityText,
  type PodVolumeUse,
  type UsedClaim,
  writableClaims,
} from './claim-capacity.ts';
import { ClaimWalks } from './claim-walks.ts';

/**
 * Time limits for measuring a claim's directory, in milliseconds: before a pod starts, before an eviction, and when searching for the
 * largest claims.
 */
const START_WALK_MS = 500;
const EVICTION_WALK_MS = 2000;
/** How long pods waiting for the same claim share a measurement, in milliseconds. */
const SHARED_MS = 5000;
const LARGEST_WALK_MS = 1000;
/**
 * Maximum age of a volume's statistics (usually a minute old), and how long they may be missing, in milliseconds. After that, the claim
 * itself is measured, because a pod can prevent the regular measurement by constantly moving directories.
 */
const MAX_AGE_MS = 150_000;
const MAX_UNKNOWN_MS = 60_000;
/** How many claims to measure at most when searching for the largest ones, and how many of the largest to name to the user. */
const MAX_MEASURED = 100;
const MAX_NAMED = 3;

export type ClaimLimitsDependencies = {
  /** Returns the claims whose files are in directories on this node. */
  list: () => Promise<readonly DirectoryClaim[]>;
  /**
   * Whether pods that exceed a claim's capacity are evicted and kept from starting. If not, the limits are only used to name the largest
   * claims.
   */
  isEnforced: boolean;
  /** How long a claim's usage may be missing from the statistics, in ms. Default: a minute; less in tests. */
  maxUnknownMs?: number;
  logger: Logger;
};

/** A pod to evict because of a claim. `signal`: value of the `eviction_signal` label in metrics. */
export type ClaimExcess = { pod: Pod; excess: { signal: string; message: string } };

export class ClaimLimits {
  readonly #deps: ClaimLimitsDependencies;
  /** Measures claims whose usage is missing from pod statistics. */
  readonly #walks: ClaimWalks;
  /** When a claim's usage was first missing from the statistics, by path. Times are monotonic. */
  readonly #unknownSince = new Map<string, number>();
  /** Latest measurements shared by pods that are waiting to start, by path of the claim's directory. */
  readonly #atStart = new Map<string, { untilMs: number; use: Promise<TreeUse | undefined> }>();

  constructor(deps: ClaimLimitsDependencies) {
    this.#deps = deps;
    this.#walks = new ClaimWalks((claim, options) => this.#measure(claim, options));
  }

  /**
   * Returns why the pod must not start yet: one of its containers can write to a claim that exceeds its capacity. Returns `undefined` if
   * the pod may start, or if the usage cannot be measured in time.
   */
  async refusalOf(pod: Pod, signal: AbortSignal): Promise<string | undefined> {
    if (!this.#deps.isEnforced || isCriticalPod(pod) || writableClaims(pod).size === 0) return undefined;
    for (const used of limitedClaims(pod, await this.#claims())) {
      const use = await this.#useAtStart(used.claim);
      signal.throwIfAborted();
      if (use === undefined || !isOverCapacity(used.claim, use.bytes)) continue;
      return `${overCapacityText(used, use.bytes)}Expand or delete the claim, or remove files`;
    }
    return undefined;
  }

  /** Measures a claim once for all pods waiting for it, because a hundred walks at once would block the event loop. */
  #useAtStart(claim: DirectoryClaim): Promise<TreeUse | undefined> {
    const nowMs = performance.now();
    for (const [path, { untilMs }] of this.#atStart) if (untilMs <= nowMs) this.#atStart.delete(path);
    const known = this.#atStart.get(claim.path);
    if (known !== undefined) return known.use;
    const { signal } = new AbortController(); // pods share the walk, which is short
    const use = this.#measure(claim, { signal, timeoutMs: START_WALK_MS });
    this.#atStart.set(claim.path, { untilMs: nowMs + SHARED_MS, use });
    return use;
  }

  /**
   * Finds the pods to evict: those that can write to a claim that exceeds its capacity. `statsOf` returns the latest pod statistics, which
   * determine the claims to measure again.
   */
  async excesses(
    pods: readonly Pod[],
    statsOf: (pods: readonly Pod[]) => Promise<readonly PodVolumeUse[]>,
    signal: AbortSignal,
  ): Promise<ClaimExcess[]> {
    const using = this.#deps.isEnforced ? pods.filter((pod) => writableClaims(pod).size > 0) : [];
    if (using.length === 0) return [];
    const [claims, stats] = await Promise.all([this.#claims(), statsOf(using)]);
    this.#forgetOthers(claims);
    const measured = new Map<string, TreeUse | undefined>(); // many pods may use the same claim
    const bytesOf = async ({ claim }: UsedClaim, knownBytes: number): Promise<number> => {
      if (!measured.has(claim.path))
        measured.set(claim.path, await this.#measure(claim, { signal, timeoutMs: EVICTION_WALK_MS }));
      const use = measured.get(claim.path);
      return use === undefined || use.isPartial ? Math.max(knownBytes, use?.bytes ?? 0) : use.bytes;
    };
    const found: ClaimExcess[] = [];
    for (const pod of using) {
      const known = stats.find(({ podRef }) => podRef.uid === pod.metadata.uid);
      const uses = limitedClaims(pod, claims).map((used) => ({ used, knownBytes: this.#known(used, known, signal) }));
      for (const { used, knownBytes } of uses.filter((one) => isOverCapacity(one.used.claim, one.knownBytes))) {
        const bytes = await bytesOf(used, knownBytes); // the known usage may be a minute old
        if (!isOverCapacity(used.claim, bytes)) continue;
        found.push({ pod, excess: { signal: 'claim.capacity', message: overCapacityText(used, bytes) } });
        break;
      }
    }
    return found;
  }

  /** Returns text naming the largest claims, for users who have to free disk space; '' if there are none. */
  async largest(signal: AbortSignal): Promise<string> {
    const uses: { claim: DirectoryClaim; bytes: number }[] = [];
    for (const claim of [...(await this.#claims()).values()].slice(0, MAX_MEASURED)) {
      const use = await this.#measure(claim, { signal, timeoutMs: LARGEST_WALK_MS });
      if (use !== undefined) uses.push({ claim, bytes: use.bytes });
    }
    const largest = uses.sort((a, b) => b.bytes - a.bytes).slice(0, MAX_NAMED);
    return largest.map(({ claim, bytes }) => claimUseText(claim, bytes)).join(', ');
  }

  #forgetOthers(claims: DirectoryClaims): void {
    const paths = new Set([...claims.values()].map(({ path }) => path));
    this.#walks.keep(paths);
    for (const path of this.#unknownSince.keys()) if (!paths.has(path)) this.#unknownSince.delete(path);
  }

  /** Returns the usage according to the pod's statistics. If it is missing or stale, the claim is measured in the background. */
  #known({ volume, claim }: UsedClaim, stats: PodVolumeUse | undefined, signal: AbortSignal): number {
    const { usedBytes, time } = stats?.volume?.find(({ name }) => name === volume) ?? {};
    const { path } = claim;
    if (usedBytes !== undefined) {
      this.#unknownSince.delete(path);
      if (time === undefined || Date.now() - time.getTime() < MAX_AGE_MS) return usedBytes;
    } else {
      const sinceMs = this.#unknownSince.get(path) ?? performance.now();
      this.#unknownSince.set(path, sinceMs);
      if (performance.now() - sinceMs < (this.#deps.maxUnknownMs ?? MAX_UNKNOWN_MS)) return 0;
    }
    return this.#walks.useOf(claim, signal) ?? usedBytes ?? 0;
  }

  async #claims(): Promise<DirectoryClaims> {
    try {
      return new Map((await this.#deps.list()).map((claim) => [claimKey(claim), claim]));
    } catch (error) {
      this.#deps.logger.debug({ error: errorMessage(error) }, 'failed to list the claims of the node');
      return new Map();
    }
  }

  async #measure(
    { path }: DirectoryClaim,
    options: { signal: AbortSignal; timeoutMs: number },
  ): Promise<TreeUse | undefined> {
    try {
      return await treeUse(path, options);
    } catch (error) {
      options.signal.throwIfAborted();
      this.#deps.logger.debug({ path, error: errorMessage(error) }, 'failed to measure a claim');
      return undefined;
    }
  }
}
