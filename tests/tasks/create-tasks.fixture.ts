import type { OciProgram } from '../../packages/runtime/src/tasks/oci-program.ts';
import { openShims, openTasks, type Scratch, testSpec } from './fixture.ts';

/** Run as a program of its own, to be killed: creates and starts the tasks `task-0`, `task-1`, … until its end. */
const scratch = JSON.parse(process.argv[2]!) as Scratch;
const program = JSON.parse(process.argv[3]!) as OciProgram | 'shim';
const tasks = program === 'shim' ? await openShims(scratch) : await openTasks(scratch, program);
process.stdout.write('ready\n');
for (let index = 0; ; index++) {
  const id = `task-${index}`;
  const bundle = `${scratch.directory}/bundles/${id}`;
  const spec = testSpec(scratch, id, ['sleep', '1000']);
  const config = { id, bundle, spec, terminal: false, stdin: false, stdinOnce: false, logPath: '', handler: '' };
  await tasks.create(config, AbortSignal.timeout(30_000));
  await tasks.start(id);
  process.stdout.write(`started ${id}\n`);
}
