/**
 * Records when the last graceful shutdown started and ended, in upstream's metrics and in upstream's file `graceful_node_shutdown_state` in
 * the kubelet's root directory.
 */
import { join } from 'node:path';
import { errorMessage, Gauge, isErrno, type Logger, type Registry } from '@podwright/base';
import { readJsonFile, writeFileAtomic } from '@podwright/host';
import { formatTime } from '@podwright/kube-api';
import { MAX_SHUTDOWN_RECORD_BYTES } from './limits.ts';

const FILE = 'graceful_node_shutdown_state';
/** Go's zero time, which stands for "never". */
const NEVER = '0001-01-01T00:00:00Z';

type Times = { startMs: number | undefined; endMs: number | undefined };

export class ShutdownRecord {
  readonly #path: string;
  readonly #logger: Logger;
  readonly #metrics: { start: Gauge; end: Gauge } | undefined;

  constructor(rootDir: string, logger: Logger, registry: Registry | undefined) {
    this.#path = join(rootDir, FILE);
    this.#logger = logger;
    this.#metrics = registry && shutdownMetrics(registry);
  }

  /** Loads the times saved by an earlier process into the metrics. */
  async load(): Promise<void> {
    try {
      const times = await readJsonFile(this.#path, MAX_SHUTDOWN_RECORD_BYTES);
      const { startTime, endTime } = (times ?? {}) as Record<string, unknown>;
      this.#show({ startMs: milliseconds(startTime), endMs: milliseconds(endTime) });
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return;
      const fields = { path: this.#path, error: errorMessage(error) };
      this.#logger.warn(fields, 'the times of the last shutdown cannot be read');
    }
  }

  async save(times: Times): Promise<void> {
    this.#show(times);
    const written = (ms: number | undefined) => (ms === undefined ? NEVER : formatTime(ms));
    const text = JSON.stringify({ startTime: written(times.startMs), endTime: written(times.endMs) });
    await writeFileAtomic(this.#path, text).catch((error: unknown) => {
      this.#logger.warn({ path: this.#path, error: errorMessage(error) }, 'the times of the shutdown cannot be saved');
    });
  }

  #show({ startMs = 0, endMs = 0 }: Times): void {
    this.#metrics?.start.set(Math.floor(startMs / 1000));
    this.#metrics?.end.set(Math.floor(endMs / 1000));
  }
}

function milliseconds(time: unknown): number | undefined {
  const ms = typeof time === 'string' && time !== NEVER ? Date.parse(time) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

function shutdownMetrics(registry: Registry) {
  const registers = [registry];
  return {
    start: new Gauge({
      name: 'kubelet_graceful_shutdown_start_time_seconds',
      help: 'Last graceful shutdown start time since unix epoch in seconds',
      registers,
    }),
    end: new Gauge({
      name: 'kubelet_graceful_shutdown_end_time_seconds',
      help: 'Last graceful shutdown end time since unix epoch in seconds',
      registers,
    }),
  };
}
