import { styleText } from 'node:util';
import { errorMessage, isNotFound, linesOf } from '@podwright/base';
import type { ContainerStatus, Pod } from '@podwright/kube-api';
import type { NodeClient } from '../client/node-client.ts';
import { escapeLine } from '../output/terminal-text.ts';
import { logLine } from './log-text.ts';
import { containerStatuses } from './pod-end.ts';
import { podLabel } from './pod-rows.ts';

/** A longer line is shown as several: a container need not end it. */
const MAX_LINE_BYTES = 64 << 10;
/** Of a container that ran before anybody followed it. */
const OLD_LINES = 10;

/** No blue and no yellow: the one cannot be read on black, the other on white. */
const COLOURS = ['cyan', 'magenta', 'green'] as const;

export type LogFollowerOptions = {
  client: Pick<NodeClient, 'log'>;
  /** Takes each line, prefixed. */
  write: (line: string) => void;
  /** Whether each line begins with its pod and container. */
  prefixed: boolean;
  /** Where the lines are shown: whether they are coloured, and what is escaped. */
  stream: NodeJS.WriteStream;
  /** Pods whose logs began long ago, by UID: only their last lines are shown. */
  old: ReadonlySet<string>;
  signal: AbortSignal;
};

/** Follows the log of every attempt of every container of some pods, each line prefixed by `pod/container` if asked for. */
export class LogFollower {
  readonly #options: LogFollowerOptions;
  /** The end of what is shown of each attempt, by container ID. */
  readonly #attempts = new Map<string, Promise<void>>();
  /** The prefix of each container, and the end of what is being shown of it: attempts do not mix. */
  readonly #containers = new Map<string, { prefix: string; shown: Promise<void> }>();

  constructor(options: LogFollowerOptions) {
    this.#options = options;
  }

  /** Begins to follow the attempts that this state of the pod tells of and that are not followed yet. */
  update(pod: Pod): void {
    for (const status of containerStatuses(pod)) {
      for (const containerId of attemptsOf(status)) this.#begin(pod, status.name, containerId);
    }
  }

  /** Resolves when every log that is being followed has ended, but for those of pods with these UIDs. */
  async drain(except: ReadonlySet<string> = new Set()): Promise<void> {
    const drained = [...this.#containers].filter(([key]) => !except.has(key.slice(0, key.lastIndexOf('/'))));
    await Promise.all(drained.map(([, { shown }]) => shown));
  }

  /** Resolves when the logs of the attempts that this state of the pod reports as ended are shown; `undefined` if there are none. */
  endsShown(pod: Pod): Promise<unknown> | undefined {
    const ends = containerStatuses(pod).flatMap(({ state, lastState }) => [state.terminated, lastState.terminated]);
    const shown = ends.flatMap((end) => this.#attempts.get(end?.containerID ?? '') ?? []);
    return shown.length === 0 ? undefined : Promise.all(shown);
  }

  #begin(pod: Pod, container: string, containerId: string): void {
    if (this.#attempts.has(containerId)) return;
    const key = `${pod.metadata.uid}/${container}`;
    const known = this.#containers.get(key) ?? { prefix: this.#prefix(pod, container), shown: Promise.resolve() };
    const shown = known.shown.then(() => this.#show(pod, { container, containerId, prefix: known.prefix }));
    this.#attempts.set(containerId, shown);
    this.#containers.set(key, { ...known, shown });
  }

  #prefix(pod: Pod, container: string): string {
    if (!this.#options.prefixed) return '';
    const colour = COLOURS[this.#containers.size % COLOURS.length]!;
    return styleText(colour, `${escapeLine(`${podLabel(pod)}/${container}`)} | `, { stream: this.#options.stream });
  }

  async #show(pod: Pod, log: { container: string; containerId: string; prefix: string }): Promise<void> {
    const { client, write, stream, old, signal } = this.#options;
    const { container, containerId, prefix } = log;
    const tailLines = old.has(pod.metadata.uid) ? OLD_LINES : undefined;
    try {
      const chunks = await client.log(pod.metadata, { container, containerId, follow: true, tailLines }, signal);
      // in files and pipes as they are, like `kubectl logs`
      for await (const line of linesOf(chunks, MAX_LINE_BYTES)) write(prefix + (stream.isTTY ? logLine(line) : line));
    } catch (error) {
      if (signal.aborted || isNotFound(error)) return;
      write(`${prefix}the log cannot be read: ${escapeLine(errorMessage(error))}`);
    }
  }
}

/** IDs of the attempts that have a log, as the status tells them: the one before, then the newest. */
export function attemptsOf({ containerID, state, lastState }: ContainerStatus): string[] {
  const begun = state.running !== undefined || state.terminated !== undefined;
  const ids = [lastState.terminated?.containerID, begun ? (state.terminated?.containerID ?? containerID) : undefined];
  return [...new Set(ids.filter((id) => id !== undefined && id !== ''))] as string[];
}
