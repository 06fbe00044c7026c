import { readFileSync } from 'node:fs';
import { sleep } from '@podwright/base';
import type { CgroupHierarchy } from '@podwright/host';
import { moveToOwnCgroup } from '../oci-runtime/start-with-migration.ts';
import { RCU_SWITCH } from './rcu-expediting.ts';

/** How long the first move of a process to a cgroup takes on this host. Every pod start includes such a move. */
export type CgroupMoveCost = { ms: number; expedited: boolean };

/**
 * Number of moves to measure. The fastest one counts, because other work on the host can only slow a move down. The number is small because
 * `podwright doctor` waits for the result.
 */
const MOVES = 2;
/** Pause before each move. A move right after another one would share its RCU grace period and be unusually fast. */
const PAUSE_MS = 60;

/**
 * Repeatedly moves this process to the cgroup it is already in, and returns the duration of the fastest move. Rejects if the process may
 * not be moved. Concurrent moves elsewhere on the host distort the result.
 */
export async function measureCgroupMove(cgroups: CgroupHierarchy): Promise<CgroupMoveCost> {
  const times: number[] = [];
  for (let move = 0; move < MOVES; move++) {
    await sleep(PAUSE_MS);
    const begin = performance.now();
    await moveToOwnCgroup(cgroups);
    times.push(performance.now() - begin);
  }
  return { ms: Math.min(...times), expedited: readSwitch() !== '0' };
}

function readSwitch(): string {
  try {
    return readFileSync(RCU_SWITCH, 'utf8').trim();
  } catch {
    return '0'; // this kernel has no such switch
  }
}
