import { errorMessage, type Logger, PodwrightError, pause, raceAbort, withTimeout } from '@podwright/base';
import { LINK_END_POLL_MS, LINK_END_TIMEOUT_MS, LINKS_END_GRACE_MS } from '../../time-limits.ts';
import type { HostLinks } from './host-links.ts';
import { hostLinkName, shaperLinkName } from './link-names.ts';

export type ReleasedLinksOptions = {
  bridge: string;
  links: HostLinks;
  /** Called once all links of a sandbox have been removed. */
  onEnd(sandboxId: string): void;
  logger: Logger;
};

type Release = { hurry: AbortController; ended: Promise<void> };

const CLOSED = new PodwrightError('cancelled', 'the network is closed');

/**
 * Links of pods that are being removed. The kernel removes a link together with the pod's network namespace, some time after the namespace
 * is released; removing it by name would take at least 20 ms. If the namespace stays in use, its link is removed by name after a timeout.
 */
export class ReleasedLinks {
  readonly #options: ReleasedLinksOptions;
  readonly #releases = new Map<string, Release>();

  constructor(options: ReleasedLinksOptions) {
    this.#options = options;
  }

  /** Whether the sandbox's link is being released. */
  has(sandboxId: string): boolean {
    return this.#releases.has(sandboxId);
  }

  /** Starts waiting for the kernel to remove the sandbox's link, if there is one. */
  begin(sandboxId: string): void {
    if (!this.#releases.has(sandboxId)) this.#start(sandboxId);
  }

  /** Removes the sandbox's link immediately. */
  async removeNow(sandboxId: string): Promise<void> {
    const { hurry, ended } = this.#releases.get(sandboxId) ?? this.#start(sandboxId);
    hurry.abort();
    await ended;
  }

  /** Immediately removes all links that are being released. */
  async removeAllNow(): Promise<void> {
    await Promise.all([...this.#releases.keys()].map((id) => this.removeNow(id)));
  }

  /** Waits until one of the links being released is gone. Returns false if none is being released. */
  async waitForOne(signal: AbortSignal): Promise<boolean> {
    if (this.#releases.size === 0) return false;
    const ends = [...this.#releases.values()].map(({ ended }) => ended.catch(() => undefined));
    await raceAbort(Promise.race(ends), signal);
    return true;
  }

  /** Waits briefly for links whose namespaces are being removed, then gives up. The rest are handled at the next start. */
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
      this.#options.logger.error({ sandbox: sandboxId, error: errorMessage(error) }, 'cannot remove the link of a pod');
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
    const hasEnded = link === undefined || (await this.#endsByItself(name, hurry));
    if (hurry.reason === CLOSED) return;
    if (!hasEnded) await links.remove([name]);
    onEnd(sandboxId);
  }

  async #endsByItself(name: string, hurry: AbortSignal): Promise<boolean> {
    using signal = withTimeout(hurry, LINK_END_TIMEOUT_MS, `wait for the end of link ${name}`);
    for (let pauseMs = LINK_END_POLL_MS; !signal.aborted; pauseMs *= 1.5) {
      await pause(pauseMs, signal);
      const [link] = await this.#options.links.findLater(name);
      if (link === undefined) return true;
    }
    return false;
  }
}
