import { readFileSync } from 'node:fs';
import { sleep } from '@podwright/base';
import type { CgroupHierarchy } from '@podwright/host';
import { moveToOwnCgroup } from '../oci-runtime/start-with-migration.ts';
import { RCU_SWITCH } from './rcu-expediting.ts';

/** Duration of the first move of a process to a cgroup on this host. Each pod start includes such a move. */
export type CgroupMoveCost = { ms: number; expedited: boolean };

/** Few, because `doctor` waits for them. The fastest one counts, because other work on the host only makes a move slower. */
const MOVES = 2;
/** A move that follows sooner after another one shares its RCU grace period, and so is not representative. */
const PAUSE_MS = 60;

/**
 * Moves this process to the cgroup that it is already in, and returns the duration of the fastest move. Rejects if the process may
 * not be moved. Other moves on the host at the same time falsify the result.
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
    return '0'; // a kernel without it
  }
}
