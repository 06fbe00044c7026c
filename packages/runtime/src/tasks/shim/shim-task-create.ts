import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PRIVATE_DIRECTORY, PRIVATE_FILE } from '@podwright/base';
import { cgroupPathOf, scopeOf } from '@podwright/host';
import { packOptions, type Shim, type ShimProgram } from '@podwright/shim';
import type { TaskConfig } from '../task-runtime.ts';
import { optionsInScope } from './handler-shims.ts';
import { CREATE_TIMEOUT_MS } from './limits.ts';
import { callShim } from './shim-error.ts';
import { findShim, groupOf } from './shim-group.ts';
import { ioOptions, ShimTask, type ShimTaskDependencies } from './shim-task.ts';
import type { ShimTaskRecord } from './shim-task-files.ts';
import { fifoPaths, makeTaskFifos, TaskIo } from './task-io.ts';

export type ShimTaskCreate = {
  config: TaskConfig;
  program: ShimProgram;
};

/** Writes a task's record and bundle, and has a shim create the task. The caller must clean up after a failure. */
export async function createShimTask(
  dependencies: ShimTaskDependencies,
  { config, program }: ShimTaskCreate,
  signal: AbortSignal,
): Promise<ShimTask> {
  const { files, shims, system } = dependencies;
  const { id, spec, terminal, stdin, stdinOnce, logPath } = config;
  const record: ShimTaskRecord = {
    ...{ id, program, terminal, stdin, stdinOnce, logPath },
    bundle: shims.bundle(id),
    group: groupOf(config),
    cgroupsPath: cgroupPathOf(spec.linux.cgroupsPath),
  };
  await files.write(record);
  const options = ioOptions(dependencies, record);
  await mkdir(options.directory, { recursive: true, mode: PRIVATE_DIRECTORY });
  await writeFile(join(record.bundle, 'config.json'), JSON.stringify(spec), { mode: PRIVATE_FILE });
  record.holder = makeTaskFifos(system, options);
  await options.log?.reopen();
  const io = new TaskIo(options, record.holder);
  try {
    const shim = await findShim(shims, record, signal);
    // not abortable: the task might still be created right after the abort
    record.pid = await create(shim, record);
    await files.write(record);
    signal.throwIfAborted();
    return new ShimTask(dependencies, { record, shim, io });
  } catch (error) {
    io.close();
    throw error;
  }
}

async function create(shim: Shim, record: ShimTaskRecord): Promise<number> {
  const { id, bundle, terminal, stdin, program, cgroupsPath } = record;
  const paths = fifoPaths({ directory: join(bundle, 'io'), terminal, stdin });
  const given = scopeOf(cgroupsPath) === undefined ? program.options : await optionsInScope(program);
  const options = given && packOptions(given);
  const call = shim.tasks.create({ id, bundle, terminal, ...paths, options }, { timeoutMs: CREATE_TIMEOUT_MS });
  return (await callShim(`create task ${id}`, call)).pid;
}
