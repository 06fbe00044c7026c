import { Backoff, raceAbort, sleep, withTimeout } from '@podwright/base';
import { CSI_TIMEOUT_MS } from './limits.ts';

/** How long a pod waits for a volume to be attached before an event reports it (upstream's podAttachAndMountTimeout). */
const ATTACH_TIMEOUT_MS = 123_000;

/** Delays between reports of volumesInUse while a mount waits for one. */
const REPORT_BACKOFF = { initialMs: 100, maxMs: 10_000 };

/** Attached volumes that the node uses, by upstream's unique names, and the API server's view of them. */
export class VolumesInUse {
  /** Makes the kubelet report the node's status soon; absent without an API server. */
  readonly #report: (() => void) | undefined;
  /** True if the node object does not list attached volumes: then the VolumeAttachment's status is enough. */
  readonly #hasNoController: boolean;
  #isLoaded = false;
  /** Volumes in use that an earlier kubelet reported: the volumes in use in the first version of the node object that was seen. */
  #reportedBefore: readonly string[] | undefined;
  /** True if some volumes of an earlier kubelet are unreadable. */
  #isUnsure = false;
  /** Names of volumes that pods need or have, by path. */
  readonly #requested = new Map<string, string>();
  /** Attached volumes that may be used, including staged ones without a pod. */
  readonly #inUse = new Set<string>();
  /** Volumes in use and attached volumes in the newest node object, and a promise of the next version. */
  #reported = new Set<string>();
  #attached: ReadonlySet<string> = new Set();
  #onReported = Promise.withResolvers<void>();

  /** `hasNoController`: no attach/detach controller manages this node. */
  constructor(report?: () => void, { hasNoController = false }: { hasNoController?: boolean } = {}) {
    this.#report = report;
    this.#hasNoController = hasNoController;
  }

  /** Call it when all volumes of an earlier kubelet are marked by `keep`, so that reports are complete. */
  loaded(): void {
    this.#isLoaded = true;
    this.#report?.();
  }

  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** Some leftover volumes are unreadable, so keep everything that the node object lists as in use. */
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
   * Records that the volume must not be detached. A volume that was not in use must be reported again: a report without it may be on its
   * way.
   */
  keep(name: string): void {
    if (!this.#inUse.has(name)) this.#reported.delete(name);
    this.#inUse.add(name);
  }

  isRequested(name: string): boolean {
    return [...this.#requested.values()].includes(name);
  }

  /** Whether the volume of a pod at `place` is known without reading its record. */
  isRequestedAt(place: string): boolean {
    return this.#requested.has(place);
  }

  /** Removes all paths that match; returns the names of their volumes. */
  removePlaces(isLeft: (place: string) => boolean): string[] {
    const left = [...this.#requested].filter(([place]) => isLeft(place));
    for (const [place] of left) this.#requested.delete(place);
    return left.map(([, name]) => name);
  }

  /** Records that the volume may be detached. Reported at once, so that another node can have it soon. */
  free(name: string): void {
    // a pod may have requested it during the teardown
    if (!this.isRequested(name) && this.#inUse.delete(name)) this.#report?.();
  }

  /** Volumes that must not be detached from the node, for `status.volumesInUse`. */
  names(): string[] {
    return [...this.#inUse].sort();
  }

  /** One version of the node object: its `volumesInUse` and its attached volumes. Call it in order of versions. */
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
   * Resolves once one version of the node object lists the volume as in use and as attached: a controller that detaches a volume
   * first removes it from the attached ones, and then checks that it is not in use. Rejects with `deadline_exceeded`.
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
      // a refused report, or one whose volume was dropped, does not trigger another one
      if (!this.#reported.has(name)) await sleep(pauses.next(''), signal);
    }
  }
}
