/**
 * The child process of the crash tests. `node crash-child.fixture.ts FILE STAGE N` runs steps until the store reaches the stage for the Nth
 * time, then kills itself. Prints the number and revision of each completed step. The store uses durability `power` for the stages of a
 * sync.
 */
import { writeSync } from 'node:fs';
import { applyStep, VOLATILE } from './crash-steps.fixture.ts';
import { openSqliteStore } from './sqlite-store.ts';

/** Returns a failpoint that kills the process when the store reaches the stage for the Nth time. */
function killAt(stage: string, times: number): (at: string) => void {
  let remaining = times;
  return (at) => {
    if (at !== stage) return;
    remaining -= 1;
    if (remaining === 0) process.kill(process.pid, 'SIGKILL');
  };
}

const [path = '', stage = '', times] = process.argv.slice(2);
const durability = stage.startsWith('sync/') ? 'power' : 'process';
const store = openSqliteStore(path, { volatile: [VOLATILE], durability, failpoint: killAt(stage, Number(times)) });
for (let step = 0; ; step++) {
  applyStep(store, step);
  await store.untilDurable();
  writeSync(1, `${step} ${store.revision}\n`);
  if (stage.startsWith('backup/')) await store.backup(`${path}.backup`);
}
