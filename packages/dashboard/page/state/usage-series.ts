/** The machine's samples of the last hour as lines of graphs. Pure. */
import type { UsageSample } from '../api/dashboard.ts';

const HOUR_MS = 3_600_000;

/** Adds newer samples, and drops those that are older than an hour. */
export function withSamples(before: readonly UsageSample[], more: readonly UsageSample[]): readonly UsageSample[] {
  const last = before.at(-1)?.time ?? Number.NEGATIVE_INFINITY;
  const newer = more.filter(({ time }) => time > last);
  if (newer.length === 0) return before;
  const from = newer.at(-1)!.time - HOUR_MS;
  return [...before, ...newer].filter(({ time }) => time >= from);
}

export type Series = {
  /** Unix seconds; a gap in which no sample was taken has a time without values. */
  times: number[];
  cpuCores: (number | null)[];
  memoryBytes: (number | null)[];
  diskBytes: (number | null)[];
  imageBytes: (number | null)[];
  /** Bytes in a second, from the counters of two samples. */
  receivedRate: (number | null)[];
  sentRate: (number | null)[];
};

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
      // the node reports it from its second measurement on
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

/** A counter that has become smaller began again at 0. */
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
