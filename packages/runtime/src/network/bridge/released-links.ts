import { errorMessage, type Logger, PodwrightError, raceAbort, sleep, withTimeout } from '@podwright/base';
import { LINK_END_POLL_MS, LINK_END_TIMEOUT_MS, LINKS_END_GRACE_MS } from '../../time-limits.ts';
import type { HostLinks } from './host-links.ts';
import { hostLinkName, shaperLinkName } from './link-names.ts';

export type ReleasedLinksOptions = {
  bridge: string;
  links: HostLinks;
  /** Called when nothing of the sandbox's links is left. */
  onEnd(sandboxId: string): void;
  logger: Logger;
};

type Release = { hurry: AbortController; ended: Promise<void> };

/** Why nobody waits for a link's end any more. */
const CLOSED = new PodwrightError('cancelled', 'the network is closed');

/**
 * Links of pods that are being taken down. A link ends with the pod's network namespace, a while after that is given up: to
 * remove it by name would take 20 ms and more. One whose namespace somebody keeps is removed after a while.
 */
export class ReleasedLinks {
  readonly #options: ReleasedLinksOptions;
  readonly #releases = new Map<string, Release>();

  constructor(options: ReleasedLinksOptions) {
    this.#options = options;
  }

  /** Whether the sandbox's link is awaited. */
  has(sandboxId: string): boolean {
    return this.#releases.has(sandboxId);
  }

  /** Begins to wait for the end of the sandbox's link; no error if there is none. */
  begin(sandboxId: string): void {
    if (!this.#releases.has(sandboxId)) this.#start(sandboxId);
  }

  /** Removes the sandbox's link now. */
  async now(sandboxId: string): Promise<void> {
    const { hurry, ended } = this.#releases.get(sandboxId) ?? this.#start(sandboxId);
    hurry.abort();
    await ended;
  }

  /** Removes all that are awaited. */
  async allNow(): Promise<void> {
    await Promise.all([...this.#releases.keys()].map((id) => this.now(id)));
  }

  /** Waits until one of those that are awaited has ended; false if there is none. */
  async one(signal: AbortSignal): Promise<boolean> {
    if (this.#releases.size === 0) return false;
    const ends = [...this.#releases.values()].map(({ ended }) => ended.catch(() => undefined));
    await raceAbort(Promise.race(ends), signal);
    return true;
  }

  /** Waits a moment for those that end by themselves, and for none any more then: the next start does. */
  async close(): Promise<void> {
    using signal = withTimeout(undefined, LINKS_END_GRACE_MS, 'wait for the ends of links');
    const ends = [...this.#releases.values()].map(({ ended }) => ended);
    await raceAbort(Promise.allSettled(ends), signal).catch(() => undefined);
    for (const { hurry } of this.#releases.values()) hurry.abort(CLOSED);
    this.#releases.clear();
  }

  #start(sandboxId: string): Release {
    const hurry = new AbortController();
    const ended = this.#end(sandboxId, hurry.signal).finally(() => this.#releases.delete(sandboxId));
    ended.catch((error) => {
      if (hurry.signal.reason === CLOSED) return;
      this.#options.logger.error({ sandbox: sandboxId, error: errorMessage(error) }, 'the link of a pod stays behind');
    });
    const release = { hurry, ended };
    this.#releases.set(sandboxId, release);
    return release;
  }

  async #end(sandboxId: string, hurry: AbortSignal): Promise<void> {
    const { bridge, links, onEnd } = this.#options;
    const [name, shaper] = [hostLinkName(bridge, sandboxId), shaperLinkName(bridge, sandboxId)] as const;
    const [link, shaping] = await links.findLater(name, shaper);
    if (shaping !== undefined) await links.remove([shaper]);
    const gone = link === undefined || (await this.#endsByItself(name, hurry));
    if (hurry.reason === CLOSED) return;
    if (!gone) await links.remove([name]);
    onEnd(sandboxId);
  }

  async #endsByItself(name: string, hurry: AbortSignal): Promise<boolean> {
    using signal = withTimeout(hurry, LINK_END_TIMEOUT_MS, `wait for the end of link ${name}`);
    for (let pauseMs = LINK_END_POLL_MS; !signal.aborted; pauseMs *= 1.5) {
      await sleep(pauseMs, signal).catch(() => undefined);
      const [link] = await this.#options.links.findLater(name);
      if (link === undefined) return true;
    }
    return false;
  }
}
