import { Backoff, raceAbort, sleep, withTimeout } from '@podwright/base';
import { CSI_TIMEOUT_MS } from './limits.ts';

/** How long a pod waits for a volume to be attached before an event is recorded (upstream's podAttachAndMountTimeout). */
const ATTACH_TIMEOUT_MS = 123_000;

/** Back-off between reports of volumesInUse while a mount waits for its volume to be included. */
const REPORT_BACKOFF = { initialMs: 100, maxMs: 10_000 };

/** The attached volumes used by the node, by upstream's unique names, and their state according to the Node object. */
export class VolumesInUse {
  /** Triggers an early node status report. `undefined` without an API server. */
  readonly #report: (() => void) | undefined;
  /**
   * True if there is no controller to list attached volumes in the Node object, in which case the VolumeAttachment's status is sufficient.
   */
  readonly #hasNoController: boolean;
  #isLoaded = false;
  /** `volumesInUse` of the first Node object seen by this process, as reported by an earlier kubelet. */
  #reportedBefore: readonly string[] | undefined;
  /** True if an earlier kubelet left volumes whose records are unreadable. */
  #isUnsure = false;
  /** Names of the volumes requested or used by pods, by the volume's path in the pod. */
  readonly #requested = new Map<string, string>();
  /** Attached volumes that may be in use, including staged volumes not used by any pod. */
  readonly #inUse = new Set<string>();
  /** State from the latest Node object: volumes in use, attached volumes, and a promise that resolves on the next version. */
  #reported = new Set<string>();
  #attached: ReadonlySet<string> = new Set();
  #onReported = Promise.withResolvers<void>();

  /** `hasNoController`: whether this node is not managed by an attach/detach controller. */
  constructor(report?: () => void, { hasNoController = false }: { hasNoController?: boolean } = {}) {
    this.#report = report;
    this.#hasNoController = hasNoController;
  }

  /**
   * Must be called once `keep` has been called for all volumes left mounted by an earlier kubelet process. From then on, the reported list
   * of volumes in use is complete.
   */
  loaded(): void {
    this.#isLoaded = true;
    this.#report?.();
  }

  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** Retains all volumes that the Node object lists as in use. Needed if the records of leftover volumes are unreadable. */
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
   * Records that the volume must not be detached. A volume that was not in use has to be reported again, because a report without it may be
   * in flight.
   */
  keep(name: string): void {
    if (!this.#inUse.has(name)) this.#reported.delete(name);
    this.#inUse.add(name);
  }

  isRequested(name: string): boolean {
    return [...this.#requested.values()].includes(name);
  }

  /** Whether this process has requested the volume at `place` for a pod, so that there is no need to read the volume's record. */
  isRequestedAt(place: string): boolean {
    return this.#requested.has(place);
  }

  /** Drops the requests at all paths for which `isLeft` returns true, and returns the names of their volumes. */
  removePlaces(isLeft: (place: string) => boolean): string[] {
    const left = [...this.#requested].filter(([place]) => isLeft(place));
    for (const [place] of left) this.#requested.delete(place);
    return left.map(([, name]) => name);
  }

  /** Records that the volume may be detached. This is reported immediately, so that another node can attach it soon. */
  free(name: string): void {
    // the volume may have been requested for another pod during teardown
    if (!this.isRequested(name) && this.#inUse.delete(name)) this.#report?.();
  }

  /** Returns the names of the volumes that must not be detached, for `status.volumesInUse`. */
  names(): string[] {
    return [...this.#inUse].sort();
  }

  /** Processes a version of the Node object: its `volumesInUse` and its attached volumes. Versions must arrive in order. */
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
   * Resolves once the same version of the Node object lists the volume as both in use and attached. To detach a volume, a controller first
   * removes it from the attached volumes, then checks that it is not in use. Rejects with `deadline_exceeded` on timeout.
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
      // request another report after a pause: none follows on its own if the last one was rejected or did not contain the volume
      if (!this.#reported.has(name)) await sleep(pauses.next(''), signal);
    }
  }
}
