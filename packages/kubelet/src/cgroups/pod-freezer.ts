/** Freezes a pod's processes briefly, so that its files do not change while they are measured. */
import { type CgroupHierarchy, type FrozenCgroup, freezeCgroup } from '@podwright/host';

/**
 * How long to remember that a pod was frozen, so that a probe that failed during the freeze can be ignored. Longer than any probe takes.
 */
const REMEMBERED_MS = 600_000;

export class PodFreezer {
  readonly #hierarchy: CgroupHierarchy | undefined;
  readonly #freeze: typeof freezeCgroup;
  /** When each pod was last thawed, by UID (monotonic time); infinity while the pod is frozen. */
  readonly #thawedAtMs = new Map<string, number>();

  /** `freeze` replaces the function that freezes a cgroup, for tests. */
  constructor(hierarchy: CgroupHierarchy | undefined, freeze = freezeCgroup) {
    this.#hierarchy = hierarchy;
    this.#freeze = freeze;
  }

  /**
   * Freezes the pod's cgroup until the returned object is disposed of, but not for much longer than `maxMs`. Returns `undefined` if the
   * cgroup is unknown ('') or cannot be frozen.
   */
  async freeze(podUid: string, cgroup: string, maxMs: number): Promise<FrozenCgroup | undefined> {
    if (this.#hierarchy === undefined || cgroup === '') return undefined;
    this.#forget();
    this.#thawedAtMs.set(podUid, Number.POSITIVE_INFINITY);
    const thawed = () => void this.#thawedAtMs.set(podUid, performance.now());
    try {
      const frozen = await this.#freeze(this.#hierarchy, cgroup, { maxMs });
      if (frozen === undefined) {
        thawed();
        return undefined;
      }
      const dispose = async () => {
        try {
          await frozen[Symbol.asyncDispose]();
        } finally {
          thawed();
        }
      };
      return { frozenAtMs: frozen.frozenAtMs, [Symbol.asyncDispose]: dispose };
    } catch (error) {
      thawed();
      throw error;
    }
  }

  /** Whether the pod is frozen now or was at any time since `sinceMs` (monotonic). */
  wasFrozen(podUid: string, sinceMs: number): boolean {
    return (this.#thawedAtMs.get(podUid) ?? Number.NEGATIVE_INFINITY) >= sinceMs;
  }

  #forget(): void {
    const oldMs = performance.now() - REMEMBERED_MS;
    for (const [uid, atMs] of this.#thawedAtMs) if (atMs < oldMs) this.#thawedAtMs.delete(uid);
  }
}
