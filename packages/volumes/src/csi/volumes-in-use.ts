import { Backoff, raceAbort, sleep, withTimeout } from '@podwright/base';
import { CSI_TIMEOUT_MS } from './limits.ts';

/** How long a pod waits for a volume to be attached before an event reports it (upstream's podAttachAndMountTimeout). */
const ATTACH_TIMEOUT_MS = 123_000;

/** Delays between reports of volumesInUse while a mount is waiting for its volume to be reported. */
const REPORT_BACKOFF = { initialMs: 100, maxMs: 10_000 };

/** The attached volumes that the node uses, by upstream's unique names, and their state according to the node object. */
export class VolumesInUse {
  /** Makes the kubelet report the node's status soon. Absent without an API server. */
  readonly #report: (() => void) | undefined;
  /** True if no controller lists the attached volumes in the node object. The VolumeAttachment's status is then sufficient. */
  readonly #hasNoController: boolean;
  #isLoaded = false;
  /** `volumesInUse` of the first node object that this process has seen, as reported by an earlier kubelet. */
  #reportedBefore: readonly string[] | undefined;
  /** True if the records of an earlier kubelet's volumes are unreadable. */
  #isUnsure = false;
  /** Names of the volumes that pods need or use, by the path of the pod's volume. */
  readonly #requested = new Map<string, string>();
  /** Attached volumes that may be in use, including staged volumes that no pod uses. */
  readonly #inUse = new Set<string>();
  /** The volumes in use and the attached volumes according to the newest node object, and a promise for its next version. */
  #reported = new Set<string>();
  #attached: ReadonlySet<string> = new Set();
  #onReported = Promise.withResolvers<void>();

  /** `hasNoController`: whether no attach/detach controller manages this node. */
  constructor(report?: () => void, { hasNoController = false }: { hasNoController?: boolean } = {}) {
    this.#report = report;
    this.#hasNoController = hasNoController;
  }

  /**
   * Must be called once `keep` has been called for each volume that an earlier kubelet process left mounted. From then on, the reported list
   * of volumes in use is complete.
   */
  loaded(): void {
    this.#isLoaded = true;
    this.#report?.();
  }

  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** Keeps in use everything that the node object lists as in use. Needed if some leftover volumes are unreadable. */
  keepReported(): void {
    this.#isUnsure = true;
    for (const name of this.#reportedBefore ?? []) this.keep(name);
  }

  /** Records that a pod needs the volume at `place`. */
  request(place: string, name: string, { attachable }: { attachable: boolean }): void {
    this.#requested.set(place, name);
    if (attachable) this.keep(name);
    else this.#inUse.delete(name);
  }

  /**
   * Records that the volume must not be detached. If the volume was not in use, it must be reported again, because a report that does not
   * contain it may be in flight.
   */
  keep(name: string): void {
    if (!this.#inUse.has(name)) this.#reported.delete(name);
    this.#inUse.add(name);
  }

  isRequested(name: string): boolean {
    return [...this.#requested.values()].includes(name);
  }

  /** Whether a pod has requested the volume at `place` from this process, so that the volume's record need not be read. */
  isRequestedAt(place: string): boolean {
    return this.#requested.has(place);
  }

  /** Removes all matching paths and returns the names of their volumes. */
  removePlaces(isLeft: (place: string) => boolean): string[] {
    const left = [...this.#requested].filter(([place]) => isLeft(place));
    for (const [place] of left) this.#requested.delete(place);
    return left.map(([, name]) => name);
  }

  /** Records that the volume may be detached, and reports this immediately, so that another node can attach it soon. */
  free(name: string): void {
    // a pod may have requested the volume during the teardown
    if (!this.isRequested(name) && this.#inUse.delete(name)) this.#report?.();
  }

  /** Returns the names of the volumes that must not be detached from the node, for `status.volumesInUse`. */
  names(): string[] {
    return [...this.#inUse].sort();
  }

  /** Processes a version of the node object: its `volumesInUse` and its attached volumes. Versions must arrive in order. */
  reported(names: readonly string[], attached: readonly string[]): void {
    this.#reported = new Set(names);
    this.#attached = new Set(attached);
    if (this.#reportedBefore === undefined) {
      this.#reportedBefore = names;
      if (this.#isUnsure) this.keepReported();
    }
    this.#onReported.resolve();
    this.#onReported = Promise.withResolvers();
  }

  /**
   * Resolves once a single version of the node object lists the volume both as in use and as attached. A controller that detaches a volume
   * first removes it from the attached volumes, and then checks that it is not in use. Rejects with `deadline_exceeded` on timeout.
   */
  async untilAttached(name: string, parent: AbortSignal): Promise<void> {
    if (this.#report === undefined) return;
    await this.#untilReported(name, parent);
    using signal = withTimeout(parent, ATTACH_TIMEOUT_MS, 'wait until it is attached');
    const isAttached = () => this.#reported.has(name) && (this.#hasNoController || this.#attached.has(name));
    while (!isAttached()) await raceAbort(this.#onReported.promise, signal);
  }

  async #untilReported(name: string, parent: AbortSignal): Promise<void> {
    using signal = withTimeout(parent, CSI_TIMEOUT_MS, 'report volumes in use');
    const pauses = new Backoff(REPORT_BACKOFF);
    while (!this.#reported.has(name)) {
      const reported = this.#onReported.promise;
      this.#report!();
      await raceAbort(reported, signal);
      // a rejected report, or one that omitted the volume, does not trigger another one
      if (!this.#reported.has(name)) await sleep(pauses.next(''), signal);
    }
  }
}
