/** Tests that kill a process at each stage of a write and of a backup, and at arbitrary times. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, suite, test } from 'node:test';
import { applyStep, contentOf, partsOf, VOLATILE } from './crash-steps.fixture.ts';
import { MemoryStore } from './memory-store.ts';
import { openSqliteStore } from './sqlite-store.ts';

const CHILD = new URL('./crash-child.fixture.ts', import.meta.url).pathname;

type Answered = { steps: number; revision: number };

/** Runs the child process until it is killed. If `killAfter` is set, kills it after that number of completed steps. */
async function crash(path: string, { stage, times, killAfter }: { stage: string; times: number; killAfter?: number }) {
  const child = spawn(process.execPath, [CHILD, path, stage, String(times)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  const answered: Answered = { steps: 0, revision: 0 };
  for await (const line of createInterface({ input: child.stdout })) {
    const [step, revision] = line.split(' ').map(Number);
    Object.assign(answered, { steps: step! + 1, revision });
    if (answered.steps === killAfter) child.kill('SIGKILL');
  }
  const [, signal] = await ended;
  assert.equal(signal, 'SIGKILL');
  return answered;
}

/**
 * Returns the contents that the store might have after the crash: those after the completed steps, and those after each part of the next
 * step.
 */
function possibleContents({ steps }: Answered): string[][] {
  const store = new MemoryStore();
  for (let step = 0; step < steps; step++) applyStep(store, step);
  const contents = [contentOf(store)];
  for (const part of partsOf(steps)) {
    part(store);
    contents.push(contentOf(store));
  }
  return contents;
}

function checkFile(path: string, answered: Answered): void {
  const store = openSqliteStore(path, { volatile: [VOLATILE] });
  const content = contentOf(store);
  assert.ok(possibleContents(answered).some((possible) => possible.join() === content.join()));
  assert.ok(store.revision > answered.revision, `${store.revision} was given before the crash`);
  assert.deepEqual(store.list(VOLATILE).objects, []);
  applyStep(store, 1_000);
  store.close();
}

suite('a store in a file is whole after kill -9', () => {
  let scratch: string;
  before(() => {
    scratch = mkdtempSync(join(tmpdir(), 'podwright-store-'));
  });
  after(() => rmSync(scratch, { recursive: true, force: true }));

  const record = ['record/begun', 'record/written', 'record/committed', 'record/space-returned'];
  for (const stage of [...record, 'sync/begun', 'sync/ended'])
    test(`at ${stage}`, async () => {
      const path = join(scratch, stage.replace('/', '-'), 'objects.db');
      checkFile(path, await crash(path, { stage, times: 2 }));
    });

  for (const killAfter of [7, 25])
    test(`at any time after step ${killAfter}`, async () => {
      const path = join(scratch, `any-${killAfter}`, 'objects.db');
      checkFile(path, await crash(path, { stage: 'none', times: 0, killAfter }));
    });

  for (const stage of ['backup/copied', 'backup/complete'])
    test(`at ${stage}: the last backup stays whole`, async () => {
      const directory = join(scratch, stage.replace('/', '-'));
      const path = join(directory, 'objects.db');
      const answered = await crash(path, { stage, times: 3 });
      checkFile(`${path}.backup`, { ...answered, steps: answered.steps - 1 });
      checkFile(path, answered);
      const store = openSqliteStore(path);
      await store.backup(`${path}.backup`);
      store.close();
      assert.deepEqual(readdirSync(directory).sort(), ['objects.db', 'objects.db.backup']);
    });
});
