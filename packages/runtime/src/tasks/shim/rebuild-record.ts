import { existsSync } from 'node:fs';
import { readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isNotFound } from '@podwright/base';
import { cgroupPathOf } from '@podwright/host';
import type { ShimProgram, Shims } from '@podwright/shim';
import { readSpec } from '../bundle.ts';
import { findShimProcesses, groupOf, shimIdOf } from './shim-group.ts';
import type { ShimTaskRecord } from './shim-task-files.ts';

/**
 * Rebuilds as much of a damaged record as is needed to kill and remove the task. Its log path and stdin settings are unknown, so its stdio
 * cannot be served. Returns `undefined` if its OCI spec is missing. `programs` are the handlers' shims.
 */
export async function rebuildShimRecord(
  shims: Shims,
  id: string,
  programs: ShimProgram[],
): Promise<ShimTaskRecord | undefined> {
  const bundle = shims.bundle(id);
  const spec = readSpec(bundle);
  if (spec === undefined) return undefined;
  const shimId = shimIdOf(shims, { id, group: groupOf({ spec }) });
  const [shimPid] = shimId === undefined ? [] : await findShimProcesses(shims, shimId);
  const path = shimPid === undefined ? undefined : await readlink(`/proc/${shimPid}/exe`).catch(() => undefined);
  const program = programs.find((known) => known.path === path) ?? (path === undefined ? programs[0] : { path });
  if (program === undefined) return undefined;
  return {
    ...{ id, bundle, program, group: groupOf({ spec }), cgroupsPath: cgroupPathOf(spec.linux.cgroupsPath) },
    ...{ terminal: spec.process.terminal, stdin: existsSync(join(bundle, 'io/stdin')), stdinOnce: false, logPath: '' },
    holder: 0, // it is found by its directory when the task is removed
    pid: await pidOf(shims, { id, bundle }),
  };
}

/** Returns the PID of the task's first process; 0 if its shim is dead; `undefined` if the shim does not have the task. */
async function pidOf(shims: Shims, { id, bundle }: { id: string; bundle: string }): Promise<number | undefined> {
  const shim = await shims.load(bundle);
  if (shim === undefined) return 0;
  return await shim.tasks.state({ id }).then(
    ({ pid }) => pid,
    (error) => {
      if (!isNotFound(error)) throw error;
      return undefined;
    },
  );
}
