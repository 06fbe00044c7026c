import { styleText } from 'node:util';
import { errorMessage, isNotFound } from '@podwright/base';
import type { ContainerStatus, Pod } from '@podwright/kubelet';
import type { NodeClient } from '../client/node-client.ts';
import { podLabel } from './pod-rows.ts';

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

  /** Begins to follow what this state of the pod shows as started and is not followed yet; each restart anew. */
  update(pod: Pod): void {
    for (const status of [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])]) {
      const run = `${pod.metadata.uid}/${status.name}/${status.containerID}`;
      if (!hasLog(status) || this.#started.has(run)) continue;
      this.#started.add(run);
      const following = this.#follow(pod, status.name).finally(() => this.#running.delete(following));
      this.#running.add(following);
    }
  }

  /** Resolves when every log that is being followed has ended. */
  async drain(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #follow(pod: Pod, container: string): Promise<void> {
    const label = `${podLabel(pod)}/${container}`;
    const colour = COLOURS[[...label].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % COLOURS.length]!;
    const prefix = styleText(colour, `${label} | `, { stream: process.stdout });
    try {
      const chunks = await this.#client.log(pod.metadata, { container, follow: true }, this.#signal);
      for await (const line of linesOf(chunks)) process.stdout.write(`${prefix}${line}\n`);
    } catch (error) {
      if (this.#signal.aborted || isNotFound(error)) return;
      process.stderr.write(`${prefix}the log cannot be read: ${errorMessage(error)}\n`);
    }
  }
}

const hasLog = (status: ContainerStatus) => status.state.running !== undefined || status.state.terminated !== undefined;

/** Splits chunks into lines; a last line without a newline counts. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      yield rest.toString('utf8', 0, end);
      rest = rest.subarray(end + 1);
    }
  }
  if (rest.length > 0) yield rest.toString('utf8');
}
