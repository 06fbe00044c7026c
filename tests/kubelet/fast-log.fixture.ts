/** A container that writes fast, and how large its rotated logs become. */
import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { sleep, withTimeout } from '@podwright/base';

/** A shell script that writes some 50 MB of log a second, in steps of 10 ms, until it has written 150 MB; then it waits. */
export const FAST_WRITER = [
  'line=0123456789012345678901234567890123456789012345678901234567890123456789',
  'yes $line | head -c 330000 > /tmp/step',
  'for step in $(seq 300); do cat /tmp/step; usleep 9000; done',
  'exec sleep 1000',
].join('; ');
const BYTES_A_MS = 50_000;
const PATIENCE_MS = 60_000;

/** The sizes of the logs that are rotated while it writes, as shares of their limit. */
export type FastLog = { shares: number[]; stallShare: number };

/**
 * Looks at a container's rotated logs, each of which stays as it is until the next is rotated, until its log has not grown for a
 * second. `stallShare` is what is written while this host lets a process wait that wants to run, at its worst.
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

/** Each within a tenth above the limit, but for what the host itself is to blame for; most of them in any case. */
export function assertNearLimit({ shares, stallShare }: FastLog): void {
  const told = `${shares.map((share) => share.toFixed(2)).join(' ')}, stalls ${stallShare.toFixed(2)}`;
  assert.ok(shares.length > 8, told);
  const sorted = shares.toSorted((a, b) => a - b);
  assert.ok(sorted[Math.floor(sorted.length / 2)]! < 1.1, told);
  assert.ok(sorted.at(-1)! < 1.1 + 2 * stallShare, told);
}

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}
