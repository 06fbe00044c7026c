import type { Engine } from '../engine/engine.ts';
import { isCriLogDriver } from '../engine/log-driver.ts';
import { FrameReader } from '../engine/output-frames.ts';
import { CONTAINER_TYPE } from '../labels/labels.ts';
import { inspectOwn } from '../labels/own-container.ts';

/** Selects a part of a log. */
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
   * A container's log as text; `undefined` for the driver json-file, whose log is linked to the CRI log path. With `follow`, it ends with
   * the container. Throws `not_found`, `unavailable`, and the Engine's error for a driver that cannot be read.
   */
  async read(id: string, query: LegacyLogQuery, signal: AbortSignal): Promise<AsyncIterable<Buffer> | undefined> {
    const attempted = `read the log of container ${id}`;
    const { Config, HostConfig } = await inspectOwn(this.#engine, { type: CONTAINER_TYPE, id }, { attempted, signal });
    if (isCriLogDriver(HostConfig.LogConfig?.Type ?? '')) return undefined;
    const output = await this.#engine.containers.logs(id, engineQuery(query), signal);
    return Config.Tty === true ? output : payloads(output);
  }
}

/** The text of both streams, in the order in which the Engine sends it. */
async function* payloads(output: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const frames = new FrameReader();
  for await (const chunk of output) for (const { bytes } of frames.take(chunk)) yield bytes;
}

/** Converts the query to the Engine's, whose times are in seconds since 1970, with fractions. */
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
