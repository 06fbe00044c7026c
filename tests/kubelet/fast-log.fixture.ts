/** A container that logs quickly, and the sizes of its rotated logs. */
import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { sleep, withTimeout } from '@podwright/base';

/** A shell script that logs about 50 MB per second, in steps of 10 ms. It sleeps after about 150 MB in total. */
export const FAST_WRITER = [
  'line=0123456789012345678901234567890123456789012345678901234567890123456789',
  'yes $line | head -c 330000 > /tmp/step',
  'for step in $(seq 300); do cat /tmp/step; usleep 9000; done',
  'exec sleep 1000',
].join('; ');
const BYTES_A_MS = 50_000;
const PATIENCE_MS = 60_000;

/** Sizes of a container's rotated logs, as fractions of the maximum log size. */
export type FastLog = { shares: number[]; stallShare: number };

/**
 * Watches a container's rotated logs until its current log has not grown for a second. `stallShare` is how much is written during this
 * host's longest scheduling delay.
 */
export async function watchFastLog(directory: string, maxSizeBytes: number): Promise<FastLog> {
  const stalls = monitorEventLoopDelay({ resolution: 1 });
  stalls.enable();
  const sizes = new Map<string, number>();
  using signal = withTimeout(undefined, PATIENCE_MS, 'wait for the end of the log');
  for (let grewAtMs = performance.now(), last = -1; performance.now() - grewAtMs < 1000; await sleep(10, signal)) {
    const rotated = readdirSync(directory).filter((name) => /^0\.log\.\d{8}-\d{6}(\.\d+)?$/.test(name));
    for (const name of rotated) sizes.set(name, sizeOf(join(directory, name)) ?? sizes.get(name)!);
    const size = sizeOf(join(directory, '0.log')) ?? -1;
    if (size !== last) grewAtMs = performance.now();
    last = size;
  }
  stalls.disable();
  const shares = [...sizes.values()].map((size) => size / maxSizeBytes);
  return { shares, stallShare: ((stalls.max / 1e6) * BYTES_A_MS) / maxSizeBytes };
}

/** Asserts that most logs exceed the limit by at most 10 %, and that none exceeds it by more unless the host stalled. */
export function assertNearLimit({ shares, stallShare }: FastLog): void {
  const summary = `${shares.map((share) => share.toFixed(2)).join(' ')}, stalls ${stallShare.toFixed(2)}`;
  assert.ok(shares.length > 8, summary);
  const sorted = shares.toSorted((a, b) => a - b);
  assert.ok(sorted[Math.floor(sorted.length / 2)]! < 1.1, summary);
  assert.ok(sorted.at(-1)! < 1.1 + 2 * stallShare, summary);
}

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}
