import { sleep } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import { LEAST_USAGE_WINDOW_MS } from './limits.ts';

/** Maximum age of the first of the two samples that a usage report is computed from. */
const USAGE_SAMPLE_CACHED_MS = 30_000;

/** A container's CPU usage in nanocores, averaged over the measurement window, and its memory working set. */
export type ContainerUse = { cpuNanoCores: number; memoryBytes: number };

/** Usage by container ID, and the length of the CPU measurement window. */
export type UsageReport = { containers: Map<string, ContainerUse>; atMs: number; windowMs: number };

type Sample = {
  atMs: number;
  /** When the sample was taken (monotonic). */
  monotonicMs: number;
  containers: Map<string, { cpuNanoseconds: bigint; cpuAtNs: bigint; memoryBytes: number }>;
};

/** Computes the usage of containers from two samples of the CRI's statistics, the first of which may be from an earlier call. */
export class ContainerUsage {
  readonly #cri: CriClient;
  #last: Sample | undefined;

  constructor(cri: CriClient) {
    this.#cri = cri;
  }

  /** Returns the containers' current usage. Takes at least `LEAST_USAGE_WINDOW_MS` unless another call was made recently. */
  async report(signal: AbortSignal): Promise<UsageReport> {
    const fresh = this.#last !== undefined && performance.now() - this.#last.monotonicMs < USAGE_SAMPLE_CACHED_MS;
    const before = fresh ? this.#last! : await this.#sample(signal);
    const remainingMs = LEAST_USAGE_WINDOW_MS - (performance.now() - before.monotonicMs);
    if (remainingMs > 0) await sleep(remainingMs, signal);
    const now = await this.#sample(signal);
    this.#last = now;
    return { ...usesBetween(before, now), atMs: now.atMs };
  }

  async #sample(signal: AbortSignal): Promise<Sample> {
    const { stats } = await this.#cri.runtime.listContainerStats({}, { signal });
    const containers = new Map<string, { cpuNanoseconds: bigint; cpuAtNs: bigint; memoryBytes: number }>();
    for (const { attributes, cpu, memory } of stats) {
      if (attributes === undefined) continue;
      containers.set(attributes.id, {
        cpuNanoseconds: cpu?.usageCoreNanoSeconds?.value ?? 0n,
        cpuAtNs: cpu?.timestamp ?? 0n,
        memoryBytes: Number(memory?.workingSetBytes?.value ?? 0n),
      });
    }
    return { atMs: Date.now(), monotonicMs: performance.now(), containers };
  }
}

/** Computes the usage between two samples. A container that started in between is only in the later one, so it has no CPU usage yet. */
function usesBetween(before: Sample, now: Sample): Pick<UsageReport, 'containers' | 'windowMs'> {
  const containers = new Map<string, ContainerUse>();
  for (const [id, { cpuNanoseconds, cpuAtNs, memoryBytes }] of now.containers) {
    const first = before.containers.get(id) ?? { cpuNanoseconds, cpuAtNs };
    const elapsedNs = Number(cpuAtNs - first.cpuAtNs);
    const usedNs = Math.max(0, Number(cpuNanoseconds - first.cpuNanoseconds));
    containers.set(id, { cpuNanoCores: elapsedNs > 0 ? Math.round((usedNs / elapsedNs) * 1e9) : 0, memoryBytes });
  }
  return { containers, windowMs: Math.round(now.monotonicMs - before.monotonicMs) };
}
