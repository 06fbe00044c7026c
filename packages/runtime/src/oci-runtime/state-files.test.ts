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
  type StateLocation,
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

/** Creates container `a`'s state directory with these state files, replacing an existing one. */
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
  return { location: { root, stateFormat }, directory };
}

for (const stateFormat of formats)
  test(`state files of ${stateFormat} are used only in the supported format`, () => {
    const read = (...options: Parameters<typeof make>) => readStateFiles(make(...options).location, 'a')?.waitsForStart;
    assert.equal(read(stateFormat, {}), true);
    assert.equal(read(stateFormat, { fifo: false }), false);
    assert.equal(read(stateFormat, { fifo: false, more: ['exec.fifo'] }), false); // not a FIFO
    assert.equal(read(stateFormat, { state: '{"pid": ' }), undefined);
    assert.equal(read(stateFormat, { state: '{"version": 2}' }), undefined);
    make(stateFormat, {});
    assert.equal(readStateFiles({ root }, 'a'), undefined);
    assert.equal(readStateFiles({ root, stateFormat }, 'b'), undefined);
  });

for (const stateFormat of formats)
  test(`state files of ${stateFormat} are not removed if there is an unknown file`, () => {
    const thrown: string[] = [];
    const remove = (location: StateLocation) => removeStateFiles(location, 'a', (directory) => thrown.push(directory));
    const known = make(stateFormat, {});
    assert.equal(remove(known.location), true);
    assert.deepEqual(thrown, [known.directory]);
    rmSync(known.directory, { recursive: true });
    assert.equal(remove(known.location), false); // the runtime may have it in another directory
    assert.equal(remove(make(stateFormat, { more: ['lock'] }).location), false);
    assert.equal(remove(make(stateFormat, { state: '' }).location), false);
    assert.equal(thrown.length, 1);
  });

test('a process that waits at the FIFO is released once', async () => {
  const programs = { runc: 'printf 0 > "$0/exec.fifo"', crun: 'head -c 1 "$0/exec.fifo" > /dev/null' };
  for (const stateFormat of formats) {
    const { location, directory } = make(stateFormat, {});
    const waiting = spawn('sh', ['-c', programs[stateFormat], directory]);
    const ended = once(waiting, 'exit');
    const wait = { id: 'a', alive: () => true, signal: AbortSignal.timeout(20_000) };
    assert.equal(await startByStateFiles(location, wait), true);
    assert.deepEqual(await ended, [0, null]);
    assert.equal(await startByStateFiles(location, wait), false);
  }
});

test('a process that exits right after its release is not mistaken for one that died before', async () => {
  const { location, directory } = make('runc', {});
  const alive = () => {
    execFileSync('sh', ['-c', 'printf 0 > "$0/exec.fifo"', directory], { timeout: 10_000 });
    return false;
  };
  assert.equal(await startByStateFiles(location, { id: 'a', alive, signal: AbortSignal.timeout(20_000) }), true);
});

test('a process that has died or is not released in time is an error', async () => {
  for (const stateFormat of formats) {
    const dead = { id: 'a', alive: () => false, signal: AbortSignal.timeout(20_000) };
    await assert.rejects(
      startByStateFiles(make(stateFormat, {}).location, dead),
      (error) => errorCode(error) === 'failed_precondition',
    );
    const stuck = { id: 'a', alive: () => true, signal: AbortSignal.timeout(50) };
    await assert.rejects(
      startByStateFiles(make(stateFormat, {}).location, stuck),
      (error) => errorCode(error) === 'deadline_exceeded' || errorCode(error) === 'cancelled',
    );
  }
});

test('a state file format is assumed only for runtimes and versions known to use it', () => {
  const check = (name: string, version: string, format: StateFormat | undefined) =>
    assert.equal(expectedFormat({ name, version }), format);
  check('runc', '1.1.5+ds1', 'runc');
  check('crun', '1.8.1', 'crun');
  check('runc', '2.0.0', undefined);
  check('crun', '', undefined);
  check('youki', '1.0.0', undefined);
});
