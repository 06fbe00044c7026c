import { styleText } from 'node:util';
import { errorMessage, isNotFound, linesOf, pause } from '@podwright/base';
import type { ContainerStatus, Pod } from '@podwright/kube-api';
import type { NodeClient } from '../client/node-client.ts';
import { isLostConnection, isNoNode } from '../client/unix-http.ts';
import { escapeLine } from '../output/terminal-text.ts';
import { logLine } from './log-text.ts';
import { containerStatuses } from './pod-end.ts';
import { podLabel } from './pod-rows.ts';

/** Maximum length of a log line. Longer lines are split, because a container could write an endless line. */
const MAX_LINE_BYTES = 64 << 10;
/** Number of log lines to show for a container that was already running before this command. */
const OLD_LINES = 10;

/** How long to wait for a restarted node to recover its pods. RESTART_PAUSE_MS is the pause between requests while waiting. */
const RESTART_MS = 10_000;
const RESTART_PAUSE_MS = 100;

/** Colors for log prefixes. Blue and yellow are not used: blue is unreadable on a black background, and yellow on a white one. */
const COLOURS = ['cyan', 'magenta', 'green'] as const;

export type LogFollowerOptions = {
  client: Pick<NodeClient, 'log'>;
  /** Called with each log line, including its prefix. */
  write: (line: string) => void;
  /** Whether each line is prefixed with its pod and container. */
  prefixed: boolean;
  /** The stream that `write` prints the lines to. If it is a terminal, the lines are colored and escaped. */
  stream: NodeJS.WriteStream;
  /** UIDs of pods that existed before this command: only the last lines of their logs are shown. */
  old: ReadonlySet<string>;
  signal: AbortSignal;
};

/** One attempt of a container, and the prefix of its log lines. */
type FollowedLog = { container: string; containerId: string; prefix: string };

type LogStart = { tailLines?: number; sinceTime?: string; skippedLines?: number };

/** Follows the logs of all attempts of all containers of the given pods. */
export class LogFollower {
  readonly #options: LogFollowerOptions;
  /** For each attempt, by container ID: resolves once its log has been shown completely. */
  readonly #attempts = new Map<string, Promise<void>>();
  /**
   * For each container: the prefix of its log lines, and a promise that resolves when the log being shown ends. The container's next
   * attempt waits for it, so that the logs of two attempts are not interleaved.
   */
  readonly #containers = new Map<string, { prefix: string; shown: Promise<void> }>();

  constructor(options: LogFollowerOptions) {
    this.#options = options;
  }

  /** Starts following the logs of the pod's attempts that are not followed yet. */
  update(pod: Pod): void {
    for (const status of containerStatuses(pod)) {
      for (const containerId of attemptsOf(status)) this.#begin(pod, status.name, containerId);
    }
  }

  /** Resolves once every followed log has ended, except those of pods with these UIDs. */
  async drain(except: ReadonlySet<string> = new Set()): Promise<void> {
    const drained = [...this.#containers].filter(([key]) => !except.has(key.slice(0, key.lastIndexOf('/'))));
    await Promise.all(drained.map(([, { shown }]) => shown));
  }

  /**
   * Resolves once the logs of all attempts that have terminated according to this pod status have been shown. Returns `undefined` if there
   * are none.
   */
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
        // the node might be restarting; if so, it still has the rest of the log, which continues after the restart
        lost = error;
        restartedAtMs = performance.now();
        from = isOld ? { sinceTime: new Date().toISOString() } : { skippedLines: progress.lines };
      }
    }
  }

  /** Shows the part of an attempt's log selected by `from`, and counts the shown lines in `progress`. */
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
      // files and pipes get the lines unchanged, as with `kubectl logs`
      write(prefix + (stream.isTTY ? logLine(line) : line));
    }
  }
}

/** Returns the container IDs of the attempts in a container status that have a log: the previous one, then the latest. */
export function attemptsOf({ containerID, state, lastState }: ContainerStatus): string[] {
  const begun = state.running !== undefined || state.terminated !== undefined;
  const ids = [lastState.terminated?.containerID, begun ? (state.terminated?.containerID ?? containerID) : undefined];
  return [...new Set(ids.filter((id) => id !== undefined && id !== ''))] as string[];
}
