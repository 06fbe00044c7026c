import { styleText } from 'node:util';
import { errorMessage, isNotFound, linesOf, pause } from '@podwright/base';
import type { ContainerStatus, Pod } from '@podwright/kube-api';
import type { NodeClient } from '../client/node-client.ts';
import { isLostConnection, isNoNode } from '../client/unix-http.ts';
import { escapeLine } from '../output/terminal-text.ts';
import { logLine } from './log-text.ts';
import { containerStatuses } from './pod-end.ts';
import { podLabel } from './pod-rows.ts';

/** A longer line is split: a container may write an endless one. */
const MAX_LINE_BYTES = 64 << 10;
/** How many lines are shown of the log of a container that ran before this command. */
const OLD_LINES = 10;

/** How long a node that has restarted may take to find its pods again, and the pause between the requests meanwhile. */
const RESTART_MS = 10_000;
const RESTART_PAUSE_MS = 100;

/** No blue and no yellow: they are unreadable on black or on white. */
const COLOURS = ['cyan', 'magenta', 'green'] as const;

export type LogFollowerOptions = {
  client: Pick<NodeClient, 'log'>;
  /** Receives each line with its prefix. */
  write: (line: string) => void;
  /** Whether each line starts with its pod and container. */
  prefixed: boolean;
  /** The stream on which `write` shows the lines; on a terminal they are coloured and escaped. */
  stream: NodeJS.WriteStream;
  /** UIDs of pods that existed before this command: only the last lines of their logs are shown. */
  old: ReadonlySet<string>;
  signal: AbortSignal;
};

/** One attempt of a container, and the prefix of its lines. */
type FollowedLog = { container: string; containerId: string; prefix: string };

/** Which lines of a log are shown. */
type LogStart = { tailLines?: number; sinceTime?: string; skippedLines?: number };

/** Follows the logs of all attempts of all containers of the given pods. */
export class LogFollower {
  readonly #options: LogFollowerOptions;
  /** By container ID: resolves when the log of the attempt is shown completely. */
  readonly #attempts = new Map<string, Promise<void>>();
  /**
   * By container: the prefix, and a promise that resolves at the end of the log being shown. The next attempt waits for it, so that
   * attempts do not mix.
   */
  readonly #containers = new Map<string, { prefix: string; shown: Promise<void> }>();

  constructor(options: LogFollowerOptions) {
    this.#options = options;
  }

  /** Starts to follow the attempts in this state of the pod that are not followed yet. */
  update(pod: Pod): void {
    for (const status of containerStatuses(pod)) {
      for (const containerId of attemptsOf(status)) this.#begin(pod, status.name, containerId);
    }
  }

  /** Resolves when every followed log has ended, except for those of pods with these UIDs. */
  async drain(except: ReadonlySet<string> = new Set()): Promise<void> {
    const drained = [...this.#containers].filter(([key]) => !except.has(key.slice(0, key.lastIndexOf('/'))));
    await Promise.all(drained.map(([, { shown }]) => shown));
  }

  /** Resolves when the logs are shown of all attempts that have ended by this state of the pod; `undefined` if there are none. */
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

  async #show(pod: Pod, log: FollowedLog): Promise<void> {
    const { write, old, signal } = this.#options;
    const isOld = old.has(pod.metadata.uid);
    const progress = { lines: 0 };
    let from: LogStart = { tailLines: isOld ? OLD_LINES : undefined };
    let restartedAtMs = Number.NEGATIVE_INFINITY;
    for (let lost: unknown; ; ) {
      try {
        return await this.#follow(pod, log, { from, progress });
      } catch (error) {
        if (signal.aborted) return;
        if (isNotFound(error)) {
          if (performance.now() - restartedAtMs > RESTART_MS) return;
          await pause(RESTART_PAUSE_MS, signal);
          continue;
        }
        if (!isLostConnection(error)) {
          const why = lost !== undefined && isNoNode(error) ? lost : error;
          return write(`${log.prefix}the log cannot be read: ${escapeLine(errorMessage(why))}`);
        }
        // the node may restart; then it still has the rest of the log
        lost = error;
        restartedAtMs = performance.now();
        from = isOld ? { sinceTime: new Date().toISOString() } : { skippedLines: progress.lines };
      }
    }
  }

  /** Shows the lines of the log that `from` selects, and counts them in `progress`. */
  async #follow(
    { metadata }: Pod,
    { container, containerId, prefix }: FollowedLog,
    { from: { skippedLines = 0, ...start }, progress }: { from: LogStart; progress: { lines: number } },
  ): Promise<void> {
    const { client, write, stream, signal } = this.#options;
    const chunks = await client.log(metadata, { container, containerId, follow: true, ...start }, signal);
    let index = 0;
    for await (const line of linesOf(chunks, MAX_LINE_BYTES)) {
      if (index++ < skippedLines) continue;
      progress.lines++;
      // files and pipes get the lines unchanged, as from `kubectl logs`
      write(prefix + (stream.isTTY ? logLine(line) : line));
    }
  }
}

/** Container IDs of the attempts in a status that have a log: the previous one, then the newest. */
export function attemptsOf({ containerID, state, lastState }: ContainerStatus): string[] {
  const begun = state.running !== undefined || state.terminated !== undefined;
  const ids = [lastState.terminated?.containerID, begun ? (state.terminated?.containerID ?? containerID) : undefined];
  return [...new Set(ids.filter((id) => id !== undefined && id !== ''))] as string[];
}
