import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { cgroupExists, discoverCgroups } from '@podwright/host';
import { fastOci } from '../../packages/runtime/src/oci-runtime/oci-fast-paths.ts';
import type { OciProgram } from '../../packages/runtime/src/oci-runtime/oci-program.ts';
import { probeOciRuntime } from '../../packages/runtime/src/oci-runtime/oci-runtimes.ts';
import { commitSpec } from '../../packages/runtime/src/tasks/bundle.ts';
import {
  makeScratch,
  newMark,
  openTasks,
  processesWith,
  runc,
  type Scratch,
  testSpec,
  workingCrun,
} from './fixture.ts';

const bound = () => AbortSignal.timeout(60_000);
const runtimes: [string, (scratch: Scratch) => Promise<OciProgram>][] = [
  ['runc', async () => runc],
  ['crun', workingCrun],
];

for (const [name, find] of runtimes) {
  test(`a trial shows that the state files of ${name} have the expected format`, async () => {
    const scratch = makeScratch();
    try {
      assert.equal((await probe(scratch, (await find(scratch)).name)).stateFormat, name);
    } finally {
      await scratch.remove();
    }
  });

  test(`a ${name} with state files elsewhere starts and deletes tasks by its commands, also if a record says otherwise`, async () => {
    const scratch = makeScratch();
    try {
      const path = wrapper(scratch, await find(scratch), { copies: false });
      assert.equal((await probe(scratch, path)).stateFormat, undefined);
      await liveAndDelete(scratch, { name, path });
      await liveAndDelete(scratch, { name, path, stateFormat: name as 'runc' | 'crun' });
    } finally {
      await scratch.remove();
    }
  });

  test(`a ${name} with the expected state file, but without its FIFO, is detected by the trial`, async () => {
    const scratch = makeScratch();
    try {
      const path = wrapper(scratch, await find(scratch), { copies: true });
      const program = await probe(scratch, path);
      assert.equal(program.stateFormat, undefined);
      await liveAndDelete(scratch, program);
    } finally {
      await scratch.remove();
    }
  });
}

/** Creates and starts a task, runs a command in it, deletes it, and asserts that nothing is left of it. */
async function liveAndDelete(scratch: Scratch, program: OciProgram): Promise<void> {
  const tasks = await openTasks(scratch, program, { fastPaths: fastOci });
  const mark = newMark();
  const config = { bundle: join(scratch.directory, 'bundle'), spec: testSpec(scratch, 'other', ['sleep', mark]) };
  try {
    const options = { terminal: false, stdin: false, stdinOnce: false, logPath: '', handler: '' };
    commitSpec(config.bundle, config.spec);
    const { pid } = await tasks.create({ id: 'other', ...config, ...options }, bound());
    assert.deepEqual(await tasks.state('other'), { status: 'created', pid });
    await tasks.start('other');
    assert.deepEqual(await tasks.state('other'), { status: 'running', pid });
    assert.equal(String((await tasks.execSync('other', ['echo', 'here'], { signal: bound() })).stdout), 'here\n');
  } finally {
    await tasks.delete('other');
    tasks.close();
  }
  assert.deepEqual(processesWith(mark), []);
  assert.deepEqual(readdirSync(config.bundle), ['config.json']);
  const left = readdirSync(join(scratch.directory, 'state', program.name), { recursive: true });
  assert.deepEqual(
    left.filter((path) => String(path).includes('other')),
    [],
  );
  assert.equal(await cgroupExists(await discoverCgroups(), config.spec.linux.cgroupsPath), false);
}

/**
 * Writes a wrapper for the OCI runtime that keeps its state in a different directory; with `copies`, the wrapper also copies the state file
 * to the path where the task runtime looks for it.
 */
function wrapper(
  { directory }: Scratch,
  { name, path, args = [] }: OciProgram,
  { copies }: { copies: boolean },
): string {
  const place = join(directory, 'elsewhere');
  mkdirSync(place);
  const quoted = [path, ...args].map((argument) => `'${argument}'`).join(' ');
  const copy = copies
    ? `case "$1" in
      create) ${quoted} --root "$root/private" "$@" || exit; for id; do :; done
        mkdir "$root/$id"; cp "$root/private/$id/"[s]tat* "$root/$id"; exit;;
      delete) for id; do :; done; rm -r "$root/$id";;
    esac`
    : '';
  const script = `#!/bin/sh
    [ "$1" = --root ] || exec ${quoted} "$@"
    root=$2; shift 2; mkdir -p "$root/private"
    ${copy}
    exec ${quoted} --root "$root/private" "$@"\n`;
  writeFileSync(join(place, name), script, { mode: 0o755 });
  return join(place, name);
}

async function probe({ directory, cgroupParent }: Scratch, nameOrPath: string): Promise<OciProgram> {
  const place = join(directory, 'probe');
  const cgroups = await discoverCgroups();
  const options = { directory: place, cacheDirectory: place, cgroupParent, cgroups, bootId: '', fastPaths: fastOci };
  const finding = await probeOciRuntime(nameOrPath, options);
  assert.ok(finding?.works, JSON.stringify(finding));
  return finding.program;
}
