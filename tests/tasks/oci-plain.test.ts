/** Tasks of OCI runtimes without fast paths, handled entirely by the OCI runtime's commands. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fastOci, type OciFastPaths, plainOci } from '../../packages/runtime/src/oci-runtime/oci-fast-paths.ts';
import type { OciProgram } from '../../packages/runtime/src/oci-runtime/oci-program.ts';
import { commitSpec } from '../../packages/runtime/src/tasks/bundle.ts';
import { taskRuntimeSuite } from '../../packages/runtime/src/tasks/task-runtime.suite.ts';
import { makeScratch, openTasks, runc, type Scratch, taskHarness, testSpec, workingCrun } from './fixture.ts';

const bound = () => AbortSignal.timeout(60_000);

taskRuntimeSuite('oci with crun, without fast paths', () => taskHarness(workingCrun, plainOci));

/** Returns runc in a wrapper that logs the commands it is called with. `program` has the fast paths that a probe of runc would find. */
function loggedRunc({ directory }: Scratch): { program: OciProgram; calls: () => string[] } {
  const [place, log] = [join(directory, 'logged'), join(directory, 'calls')];
  mkdirSync(place);
  const path = join(place, 'runc');
  // finds runc's command among its arguments: `--root DIRECTORY` precedes it, and conmon adds more options before that
  const script = `#!/bin/sh
for word; do case $word in create|start|delete|state|exec) echo "$word" >>${log}; break;; esac; done
exec ${runc.path} "$@"\n`;
  writeFileSync(path, script, { mode: 0o755 });
  writeFileSync(log, '');
  const calls = () => {
    const lines = readFileSync(log, 'utf8').split('\n').slice(0, -1);
    writeFileSync(log, '');
    return lines;
  };
  return { program: { ...runc, path }, calls };
}

const others = { fast: plainOci, plain: fastOci };
for (const fastPaths of [fastOci, plainOci])
  test(`a task that was created with the ${fastPaths.name} paths can be started and deleted with the others`, async () => {
    const scratch = makeScratch();
    const { program, calls } = loggedRunc(scratch);
    const within = async (
      used: OciFastPaths,
      work: (tasks: Awaited<ReturnType<typeof openTasks>>) => Promise<void>,
    ) => {
      const tasks = await openTasks(scratch, program, { fastPaths: used });
      await work(tasks).finally(() => tasks.close());
    };
    const bundle = join(scratch.directory, 'bundle');
    const spec = testSpec(scratch, 'task', ['sleep', '1000']);
    commitSpec(bundle, spec);
    const config = { bundle, spec, terminal: false, stdin: false, stdinOnce: false, logPath: '', handler: '' };
    const other = others[fastPaths.name as keyof typeof others];
    const used = (command: string) => (other === plainOci ? [command] : []);
    // without fast paths, `state` is called as well, a number of times that depends on timing
    const seen = () => calls().filter((command) => other === fastOci || command !== 'state');
    try {
      await within(fastPaths, async (tasks) => void (await tasks.create({ ...config, id: 'task' }, bound())));
      assert.deepEqual(calls(), ['create']);
      await within(other, async (tasks) => {
        await tasks.start('task');
        assert.equal((await tasks.state('task')).status, 'running');
      });
      assert.deepEqual(seen(), used('start'));
      await within(other, (tasks) => tasks.delete('task'));
      assert.deepEqual(seen(), used('delete'));
      await within(other, async (tasks) => assert.deepEqual(await tasks.list(), []));
    } finally {
      await scratch.remove();
    }
  });
