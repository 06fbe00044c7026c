import { styleText } from 'node:util';
import { errorMessage, isNotFound, linesOf } from '@podwright/base';
import type { ContainerStatus, Pod } from '@podwright/kubelet';
import type { NodeClient } from '../client/node-client.ts';
import { escapeLine, escapeTerminal } from '../output/terminal-text.ts';
import { podLabel } from './pod-rows.ts';

/** A longer line is shown as several: a container need not end it. */
const MAX_LINE_BYTES = 64 << 10;

const COLOURS = ['cyan', 'magenta', 'blue', 'green', 'yellow'] as const;

/** Follows the logs of every container of some pods, each line prefixed by `pod/container`. */
export class LogFollower {
  readonly #client: NodeClient;
  readonly #signal: AbortSignal;
  readonly #started = new Set<string>();
  readonly #running = new Set<Promise<void>>();

  constructor(client: NodeClient, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  /**
   * Begins to follow what this state of the pod shows as started and is not followed yet; each restart anew. The run
   * before it is shown first if it ended before anybody followed it.
   */
  update(pod: Pod): void {
    for (const status of [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])]) {
      const missed = this.#isNew(pod, status.lastState.terminated?.containerID);
      if (!hasLog(status) || !this.#isNew(pod, status.containerID)) continue;
      const following = this.#follow(pod, status.name, missed).finally(() => this.#running.delete(following));
      this.#running.add(following);
    }
  }

  /** Whether this run of a container was not followed before; from now on it was. */
  #isNew(pod: Pod, containerId: string | undefined): boolean {
    const run = `${pod.metadata.uid}/${containerId}`;
    if (containerId === undefined || this.#started.has(run)) return false;
    this.#started.add(run);
    return true;
  }

  /** Resolves when every log that is being followed has ended. */
  async drain(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #follow(pod: Pod, container: string, withPrevious: boolean): Promise<void> {
    if (withPrevious) await this.#show(pod, { container, previous: true });
    await this.#show(pod, { container, follow: true });
  }

  async #show(pod: Pod, query: { container: string; previous?: boolean; follow?: boolean }): Promise<void> {
    const label = escapeLine(`${podLabel(pod)}/${query.container}`);
    const colour = COLOURS[[...label].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % COLOURS.length]!;
    const prefix = styleText(colour, `${label} | `, { stream: process.stdout });
    try {
      const chunks = await this.#client.log(pod.metadata, query, this.#signal);
      // as they are, like `kubectl logs`: colours are the container's own
      for await (const line of linesOf(chunks, MAX_LINE_BYTES))
        process.stdout.write(`${prefix}${line}
`);
    } catch (error) {
      if (this.#signal.aborted || isNotFound(error)) return;
      process.stderr.write(`${prefix}the log cannot be read: ${escapeTerminal(errorMessage(error))}\n`);
    }
  }
}

const hasLog = (status: ContainerStatus) => status.state.running !== undefined || status.state.terminated !== undefined;
