/** Containers as created by version 0.1.0, which did not commit specs and kept a task's files in the container's bundle. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PRIVATE_FILE } from '@podwright/base';
import type { OciSpec } from '@podwright/oci';
import { ProcessStarter } from '@podwright/system';
import { requireProgram } from '../../packages/host/src/programs/find-program.ts';
import { startTask } from '../../packages/runtime/src/oci-runtime/oci-program.ts';
import { openRecords } from '../../packages/runtime/src/runtime-records.ts';
import { startMonitor } from '../../packages/runtime/src/tasks/oci/conmon.ts';
import { TaskFiles, type TaskRecord } from '../../packages/runtime/src/tasks/oci/task-files.ts';
import { findTaskProcess } from '../../packages/runtime/src/tasks/oci/task-state.ts';
import type { TestPlace } from '../fixtures/runtime-under-test.ts';

const bundleOf = ({ options }: TestPlace, id: string) => join(options.state, 'tasks', id);

/** Empties a created container's bundle, as in version 0.1.0. Returns the spec it contained. */
export function emptyBundle(place: TestPlace, id: string): OciSpec {
  const file = join(bundleOf(place, id), 'config.json');
  const spec = JSON.parse(readFileSync(file, 'utf8')) as OciSpec;
  rmSync(file);
  return spec;
}

/** Starts a created container the way StartContainer did in version 0.1.0, while no runtime is running. Returns its PID. */
export async function startAsBefore(place: TestPlace, id: string): Promise<number> {
  const spec = emptyBundle(place, id);
  const files = new TaskFiles(join(place.options.state, 'oci'));
  const program = { name: 'runc', path: requireProgram('runc') };
  const bundle = bundleOf(place, id);
  const { cgroupsPath } = spec.linux;
  const record: TaskRecord = {
    ...{ id, bundle, program, cgroupsPath, terminal: false, stdin: false, stdinOnce: false, hooks: false },
  };
  await files.write(record);
  writeFileSync(join(bundle, 'config.json'), JSON.stringify(spec), { mode: PRIVATE_FILE });
  const records = openRecords(place.options);
  try {
    const container = records.containers.require(id);
    mkdirSync(dirname(container.logPath), { recursive: true });
    const { start } = new ProcessStarter();
    const conmon = requireProgram('conmon');
    const monitor = { start, conmon, program, files, record, hasUsers: false, logPath: container.logPath };
    const pid = await startMonitor(monitor, AbortSignal.timeout(60_000));
    const alive = () => findTaskProcess(record) !== undefined;
    await startTask(files.runtime(program), {
      id,
      hooks: false,
      alive,
      signal: AbortSignal.timeout(60_000),
    });
    records.containers.put({ ...container, state: { phase: 'running', pid, startedAtMs: Date.now() } });
    return pid;
  } finally {
    records.database.close();
  }
}
