/** Converts node usage samples to graph values. Pure functions. */
import type { UsageSample } from '../api/dashboard.ts';

const HOUR_MS = 3_600_000;

/** Adds newer usage samples, and drops samples that are more than an hour older than the newest one. */
export function withSamples(before: readonly UsageSample[], more: readonly UsageSample[]): readonly UsageSample[] {
  const last = before.at(-1)?.time ?? Number.NEGATIVE_INFINITY;
  const newer = more.filter(({ time }) => time > last);
  if (newer.length === 0) return before;
  const from = newer.at(-1)!.time - HOUR_MS;
  return [...before, ...newer].filter(({ time }) => time >= from);
}

export type Series = {
  /** Times of the values, in Unix seconds. A gap in the samples is marked by a time with null values, which interrupts the lines. */
  times: number[];
  cpuCores: (number | null)[];
  memoryBytes: (number | null)[];
  diskBytes: (number | null)[];
  imageBytes: (number | null)[];
  /** Network traffic in bytes per second, computed from the counters of two consecutive samples. */
  receivedRate: (number | null)[];
  sentRate: (number | null)[];
};

/** Returns the values of all graphs. `periodMs`: the sampling period. */
export function seriesOf(samples: readonly UsageSample[], periodMs: number): Series {
  const series: Series = {
    times: [],
    cpuCores: [],
    memoryBytes: [],
    diskBytes: [],
    imageBytes: [],
    receivedRate: [],
    sentRate: [],
  };
  const add = (timeMs: number, values: (number | null)[]) => {
    series.times.push(timeMs / 1000);
    const [cpu = null, memory = null, disk = null, images = null, received = null, sent = null] = values;
    series.cpuCores.push(cpu);
    series.memoryBytes.push(memory);
    series.diskBytes.push(disk);
    series.imageBytes.push(images);
    series.receivedRate.push(received);
    series.sentRate.push(sent);
  };
  samples.forEach((sample, index) => {
    const before = samples[index - 1];
    const isAfterGap = before !== undefined && sample.time - before.time > 3 * periodMs;
    if (isAfterGap) add(before.time + periodMs, []);
    const known = isAfterGap ? undefined : before;
    add(sample.time, [
      // nodes report a CPU usage of 0 until they have taken two measurements
      sample.cpuNanoCores === 0 ? null : sample.cpuNanoCores / 1e9,
      sample.memoryWorkingSetBytes,
      sample.rootfs.usedBytes,
      sample.images.usedBytes,
      rate(known, sample, 'receivedBytes'),
      rate(known, sample, 'sentBytes'),
    ]);
  });
  return series;
}

/** Returns the rate of a counter in bytes per second, or null if there is no previous sample or the counter was reset. */
function rate(
  before: UsageSample | undefined,
  sample: UsageSample,
  name: 'receivedBytes' | 'sentBytes',
): number | null {
  if (before === undefined) return null;
  const grown = sample.network[name] - before.network[name];
  const seconds = (sample.time - before.time) / 1000;
  return grown < 0 || seconds <= 0 ? null : grown / seconds;
}
