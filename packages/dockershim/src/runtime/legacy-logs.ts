import type { Engine } from '../engine/engine.ts';
import { isCriLogDriver } from '../engine/log-driver.ts';
import { FrameReader } from '../engine/output-frames.ts';
import { CONTAINER_TYPE } from '../labels/labels.ts';
import { inspectOwn } from '../labels/own-container.ts';

/** Selects part of a container's log. */
export type LegacyLogQuery = {
  follow?: boolean;
  tailLines?: number;
  sinceMs?: number;
  timestamps?: boolean;
  stream?: 'stdout' | 'stderr';
};

/** Reads logs through the Engine, for containers whose log driver writes no files that kubelets can read. */
export class LegacyLogs {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /**
   * Returns a container's log as text, or `undefined` for the json-file driver, whose log is symlinked to the CRI log path. If `follow` is
   * set, the log ends when the container exits. Throws `not_found`, `unavailable`, or the Engine's error if the log driver does not support
   * reading.
   */
  async read(id: string, query: LegacyLogQuery, signal: AbortSignal): Promise<AsyncIterable<Buffer> | undefined> {
    const attempted = `read the log of container ${id}`;
    const { Config, HostConfig } = await inspectOwn(this.#engine, { type: CONTAINER_TYPE, id }, { attempted, signal });
    if (isCriLogDriver(HostConfig.LogConfig?.Type ?? '')) return undefined;
    const output = await this.#engine.containers.logs(id, engineQuery(query), signal);
    return Config.Tty === true ? output : payloads(output);
  }
}

/** Yields the text of both streams in the order sent by the Engine. */
async function* payloads(output: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const frames = new FrameReader();
  for await (const chunk of output) for (const { bytes } of frames.take(chunk)) yield bytes;
}

/** Converts the query to the Engine's format, where times are fractional seconds since the epoch. */
function engineQuery({ follow = false, tailLines, sinceMs, timestamps = false, stream }: LegacyLogQuery) {
  return {
    stdout: stream !== 'stderr',
    stderr: stream !== 'stdout',
    follow,
    timestamps,
    tail: tailLines ?? ('all' as const),
    since: sinceMs === undefined ? undefined : sinceMs / 1000,
  };
}
