import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { errorCode } from '@podwright/base';
import {
  expectedFormat,
  readStateFiles,
  removeStateFiles,
  type StateFormat,
  type StatePlace,
  startByStateFiles,
} from './state-files.ts';

const root = mkdtempSync(join(tmpdir(), 'state-files-'));
after(() => rmSync(root, { recursive: true }));

const states = {
  runc: { id: 'a', init_process_pid: 7, init_process_start: 1, cgroup_paths: {}, config: {} },
  crun: { pid: 7, 'process-start-time': 1, 'cgroup-path': '/a', rootfs: '/r', bundle: '/b' },
};
const stateFiles = { runc: 'state.json', crun: 'status' };
const formats: StateFormat[] = ['runc', 'crun'];

/** A container's directory, made anew. */
function make(
  stateFormat: StateFormat,
  { state = JSON.stringify(states[stateFormat]), fifo = true, more = [] as string[] },
) {
  const directory = join(root, 'a');
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory);
  writeFileSync(join(directory, stateFiles[stateFormat]), state);
  for (const name of more) writeFileSync(join(directory, name), '');
  if (fifo) execFileSync('mkfifo', [join(directory, 'exec.fifo')]);
  return { place: { root, stateFormat }, directory };
}

for (const stateFormat of formats)
  test(`the files of ${stateFormat} are used only as they are known`, () => {
    const read = (...options: Parameters<typeof make>) => readStateFiles(make(...options).place, 'a')?.waitsForStart;
    assert.equal(read(stateFormat, {}), true);
    assert.equal(read(stateFormat, { fifo: false }), false);
    assert.equal(read(stateFormat, { fifo: false, more: ['exec.fifo'] }), false); // no FIFO
    assert.equal(read(stateFormat, { state: '{"pid": ' }), undefined);
    assert.equal(read(stateFormat, { state: '{"version": 2}' }), undefined);
    make(stateFormat, {});
    assert.equal(readStateFiles({ root }, 'a'), undefined);
    assert.equal(readStateFiles({ root, stateFormat }, 'b'), undefined);
  });

for (const stateFormat of formats)
  test(`of a container of ${stateFormat} nothing is removed if there is a file that is not known`, () => {
    const thrown: string[] = [];
    const remove = (place: StatePlace) => removeStateFiles(place, 'a', (directory) => thrown.push(directory));
    const known = make(stateFormat, {});
    assert.equal(remove(known.place), true);
    assert.deepEqual(thrown, [known.directory]);
    rmSync(known.directory, { recursive: true });
    assert.equal(remove(known.place), false); // the runtime may have it elsewhere
    assert.equal(remove(make(stateFormat, { more: ['lock'] }).place), false);
    assert.equal(remove(make(stateFormat, { state: '' }).place), false);
    assert.equal(thrown.length, 1);
  });

test('what waits at the FIFO is let go on, once', async () => {
  const programs = { runc: 'printf 0 > "$0/exec.fifo"', crun: 'head -c 1 "$0/exec.fifo" > /dev/null' };
  for (const stateFormat of formats) {
    const { place, directory } = make(stateFormat, {});
    const waiting = spawn('sh', ['-c', programs[stateFormat], directory]);
    const ended = once(waiting, 'exit');
    const wait = { id: 'a', alive: () => true, signal: AbortSignal.timeout(20_000) };
    assert.equal(await startByStateFiles(place, wait), true);
    assert.deepEqual(await ended, [0, null]);
    assert.equal(await startByStateFiles(place, wait), false);
  }
});

test('a process that goes on and ends at once is not taken for one that has died before', async () => {
  const { place, directory } = make('runc', {});
  const alive = () => {
    execFileSync('sh', ['-c', 'printf 0 > "$0/exec.fifo"', directory], { timeout: 10_000 });
    return false;
  };
  assert.equal(await startByStateFiles(place, { id: 'a', alive, signal: AbortSignal.timeout(20_000) }), true);
});

test('a process that has died, or does not go on in time, is an error', async () => {
  for (const stateFormat of formats) {
    const dead = { id: 'a', alive: () => false, signal: AbortSignal.timeout(20_000) };
    await assert.rejects(
      startByStateFiles(make(stateFormat, {}).place, dead),
      (error) => errorCode(error) === 'failed_precondition',
    );
    const stuck = { id: 'a', alive: () => true, signal: AbortSignal.timeout(50) };
    await assert.rejects(
      startByStateFiles(make(stateFormat, {}).place, stuck),
      (error) => errorCode(error) === 'deadline_exceeded' || errorCode(error) === 'cancelled',
    );
  }
});

test('a format is expected of the runtimes and versions that are known to have it', () => {
  const check = (name: string, version: string, format: StateFormat | undefined) =>
    assert.equal(expectedFormat({ name, version }), format);
  check('runc', '1.1.5+ds1', 'runc');
  check('crun', '1.8.1', 'crun');
  check('runc', '2.0.0', undefined);
  check('crun', '', undefined);
  check('youki', '1.0.0', undefined);
});
