import type { CgroupHierarchy } from './hierarchy.ts';
import { statsFilesOf } from './stats-files.ts';

/** I/O counters of a cgroup on one block device. */
export type DeviceIo = {
  major: number;
  minor: number;
  readBytes: number;
  writeBytes: number;
  reads: number;
  writes: number;
};

/** Usage of huge pages of one size. Only cgroup v1 reports `peakBytes`. */
export type HugepageStats = { usageBytes: number; peakBytes: number | undefined };

type Counter = Exclude<keyof DeviceIo, 'major' | 'minor'>;
type Counted = { device: string; counter: Counter; value: number };

/** Field names in cgroup v2's `io.stat`, and the counters that they are mapped to. */
const V2_COUNTERS: Record<string, Counter> = {
  rbytes: 'readBytes',
  wbytes: 'writeBytes',
  rios: 'reads',
  wios: 'writes',
};

/**
 * Prefixes of the v1 `blkio` file names, in order of preference: `throttle` covers every device, but kernels without throttling might have
 * only `bfq`.
 */
const V1_POLICIES = ['throttle', 'bfq'];

/** Reads the cgroup's I/O counters by device; returns `undefined` if the host has neither the `io` nor the `blkio` controller. */
export function readIo(hierarchy: CgroupHierarchy, path: string): DeviceIo[] | undefined {
  const v2 = statsFilesOf(hierarchy, path, 'io');
  if (v2?.version === 2) return byDevice(v2Counts(v2.read('io.stat')));
  const v1 = statsFilesOf(hierarchy, path, 'blkio');
  if (v1 === undefined) return undefined;
  for (const policy of V1_POLICIES) {
    const files = ['io_service_bytes', 'io_serviced'].map((name) => v1.read(`blkio.${policy}.${name}_recursive`));
    const [bytes = '', operations = ''] = files;
    const counted = [...v1Counts(bytes, 'readBytes', 'writeBytes'), ...v1Counts(operations, 'reads', 'writes')];
    if (counted.length > 0) return byDevice(counted);
  }
  return [];
}

/** Parses v2's `io.stat`, which has lines such as `8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=5 dios=6`. */
function v2Counts(text: string): Counted[] {
  return text.split('\n').flatMap((line) => {
    const [device = '', ...pairs] = line.split(' ');
    return pairs.flatMap((pair) => {
      const [key = '', value] = pair.split('=');
      const counter = V2_COUNTERS[key];
      return counter === undefined ? [] : [{ device, counter, value: Number(value) }];
    });
  });
}

/** Parses a v1 `blkio` file, which has lines such as `8:0 Read 100`. */
function v1Counts(text: string, read: Counter, write: Counter): Counted[] {
  return [...text.matchAll(/^(\d+:\d+) (Read|Write) (\d+)$/gm)].map(([, device, kind, value]) => ({
    device: device!,
    counter: kind === 'Read' ? read : write,
    value: Number(value),
  }));
}

function byDevice(counted: Counted[]): DeviceIo[] {
  const devices = new Map<string, DeviceIo>();
  for (const { device, counter, value } of counted) {
    const [major, minor] = device.split(':').map(Number) as [number, number];
    const known = devices.get(device) ?? { major, minor, readBytes: 0, writeBytes: 0, reads: 0, writes: 0 };
    devices.set(device, { ...known, [counter]: known[counter] + value });
  }
  return [...devices.values()];
}

/** Reads the cgroup's huge page usage by page size; returns `undefined` if the host has no `hugetlb` controller. */
export function readHugepages(hierarchy: CgroupHierarchy, path: string): Record<string, HugepageStats> | undefined {
  const files = statsFilesOf(hierarchy, path, 'hugetlb');
  if (files === undefined) return undefined;
  const [usage, peak] = files.version === 1 ? ['usage_in_bytes', 'max_usage_in_bytes'] : ['current', undefined];
  const found: Record<string, HugepageStats> = {};
  for (const name of files.names()) {
    const size = new RegExp(`^hugetlb\\.(\\d+[KMG]B)\\.${usage}$`).exec(name)?.[1];
    if (size === undefined) continue;
    const usageBytes = files.readNumber(name) ?? 0;
    const peakBytes = peak === undefined ? undefined : files.readNumber(`hugetlb.${size}.${peak}`);
    found[size] = { usageBytes, peakBytes };
  }
  return found;
}
