import type { OciProgram } from '../../packages/runtime/src/oci-runtime/oci-program.ts';
import { commitSpec } from '../../packages/runtime/src/tasks/bundle.ts';
import { openShims, openTasks, type Scratch, testSpec } from './fixture.ts';

/** A program that a test kills: keeps creating tasks `task-0`, `task-1`, …, each with a command on a terminal. */
const scratch = JSON.parse(process.argv[2]!) as Scratch;
const program = JSON.parse(process.argv[3]!) as OciProgram | 'shim';
const tasks = program === 'shim' ? await openShims(scratch) : await openTasks(scratch, program);
process.stdout.write('ready\n');
for (let index = 0; ; index++) {
  const id = `task-${index}`;
  const bundle = `${scratch.directory}/bundles/${id}`;
  const spec = testSpec(scratch, id, ['sleep', '1000']);
  const config = { id, bundle, spec, terminal: false, stdin: false, stdinOnce: false, logPath: '', handler: '' };
  commitSpec(bundle, spec);
  await tasks.create(config, AbortSignal.timeout(30_000));
  await tasks.start(id);
  process.stdout.write(`started ${id}\n`);
  const exec = { command: ['sleep', '1000'], terminal: true, signal: AbortSignal.timeout(30_000) };
  tasks.exec(id, exec).catch((error) => process.stderr.write(`${error}\n`));
}
