import { readFileSync } from 'node:fs';
import { type CgroupHierarchy, sleep } from '@podwright/base';
import { moveToOwnCgroup } from '../oci-runtime/start-with-migration.ts';
import { RCU_SWITCH } from './rcu-expediting.ts';

/** What the first move of a process to a cgroup costs on this host, which each start of a pod has. */
export type CgroupMoveCost = { ms: number; expedited: boolean };

/** `doctor` waits for them; other work on the host only makes a move slower, so the fastest one counts. */
const MOVES = 2;
/** A move that follows another one sooner does not wait for a grace period of its own. */
const PAUSE_MS = 60;

/** Measures moves of this process to the cgroup that it is in; the fastest. Rejects where it may not be moved. No other process should be moved meanwhile. */
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
