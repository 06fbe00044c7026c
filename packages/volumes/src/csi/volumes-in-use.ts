import { Backoff, raceAbort, sleep, withTimeout } from '@podwright/base';
import { CSI_TIMEOUT_MS } from './limits.ts';

/** How long a pod waits for a volume to be attached before it says so (upstream's podAttachAndMountTimeout). */
const ATTACH_TIMEOUT_MS = 123_000;

/** Pauses between reports of the volumes in use that a mount waits for. */
const REPORT_BACKOFF = { initialMs: 100, maxMs: 10_000 };

/** Which attached volumes the node uses, by upstream's names of them, and what the API server knows of that. */
export class VolumesInUse {
  /** Has the node tell the API server soon; absent without one. */
  readonly #report: (() => void) | undefined;
  /** Nobody says in the node object what is attached: that a VolumeAttachment says so must do. */
  readonly #isUntold: boolean;
  #isLoaded = false;
  /** What an earlier kubelet told, by the first version of the node object that was seen. */
  #toldBefore: readonly string[] | undefined;
  /** It cannot be read which volumes an earlier kubelet has left. */
  #isUnsure = false;
  /** Names of the volumes that pods want or have, by their places. */
  readonly #wanted = new Map<string, string>();
  /** Those that are attached to the node, as long as they may be used: also staged ones that no pod has any more. */
  readonly #inUse = new Set<string>();
  /** Those of which the API server knows that, those that are attached by what it says, and who waits for more. */
  #reported = new Set<string>();
  #attached: ReadonlySet<string> = new Set();
  #onReported = Promise.withResolvers<void>();

  /** `isUntold`: no controller attaches volumes to this node. */
  constructor(report?: () => void, { isUntold = false }: { isUntold?: boolean } = {}) {
    this.#report = report;
    this.#isUntold = isUntold;
  }

  /** All that an earlier kubelet has left is kept now, and can be told. */
  loaded(): void {
    this.#isLoaded = true;
    this.#report?.();
  }

  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** All that an earlier kubelet told stays in use until it is freed: of some that it left it cannot be read which they are. */
  keepTold(): void {
    this.#isUnsure = true;
    for (const name of this.#toldBefore ?? []) this.keep(name);
  }

  /** A pod is to have the volume at a place. */
  want(place: string, name: string, { attachable }: { attachable: boolean }): void {
    this.#wanted.set(place, name);
    if (attachable) this.keep(name);
    else this.#inUse.delete(name);
  }

  /** It must not be detached. What is not in use yet the API server is to be told anew: a report without it may be on its way. */
  keep(name: string): void {
    if (!this.#inUse.has(name)) this.#reported.delete(name);
    this.#inUse.add(name);
  }

  isWanted(name: string): boolean {
    return [...this.#wanted.values()].includes(name);
  }

  /** Which volume a pod wants at a place is known, whatever can be read there. */
  isWantedAt(place: string): boolean {
    return this.#wanted.has(place);
  }

  /** Nobody wants these places any more; returns the names of the volumes that were to be there. */
  leave(isLeft: (place: string) => boolean): string[] {
    const left = [...this.#wanted].filter(([place]) => isLeft(place));
    for (const [place] of left) this.#wanted.delete(place);
    return left.map(([, name]) => name);
  }

  /** It may be detached: the sooner the API server hears of that, the sooner another node can have it. */
  free(name: string): void {
    // a pod may have come to want it while it was taken away
    if (!this.isWanted(name) && this.#inUse.delete(name)) this.#report?.();
  }

  /** Those that must not be detached from the node, for its status. */
  names(): string[] {
    return [...this.#inUse].sort();
  }

  /** What one version of the node object says: of `names`, and of what is attached. Versions come in order. */
  reported(names: readonly string[], attached: readonly string[]): void {
    this.#reported = new Set(names);
    this.#attached = new Set(attached);
    if (this.#toldBefore === undefined) {
      this.#toldBefore = names;
      if (this.#isUnsure) this.keepTold();
    }
    this.#onReported.resolve();
    this.#onReported = Promise.withResolvers();
  }

  /**
   * Resolves once one version of the node object has the volume both in use and attached: whoever detaches it says first that it is
   * not attached, and looks then whether it is in use. Rejects with `deadline_exceeded`.
   */
  async untilAttached(name: string, parent: AbortSignal): Promise<void> {
    if (this.#report === undefined) return;
    await this.#untilReported(name, parent);
    using signal = withTimeout(parent, ATTACH_TIMEOUT_MS, 'wait until it is attached');
    const isAttached = () => this.#reported.has(name) && (this.#isUntold || this.#attached.has(name));
    while (!isAttached()) await raceAbort(this.#onReported.promise, signal);
  }

  async #untilReported(name: string, parent: AbortSignal): Promise<void> {
    using signal = withTimeout(parent, CSI_TIMEOUT_MS, 'tell which volumes are in use');
    const pauses = new Backoff(REPORT_BACKOFF);
    while (!this.#reported.has(name)) {
      const reported = this.#onReported.promise;
      this.#report!();
      await raceAbort(reported, signal);
      // a report that was refused, or whose volume was dropped, tells nothing new by itself
      if (!this.#reported.has(name)) await sleep(pauses.next(''), signal);
    }
  }
}
