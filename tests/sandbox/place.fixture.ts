import { join } from 'node:path';
import { silentLogger } from '@podwright/base';
import { discoverCgroups } from '@podwright/host';
import { findProgram, requireProgram } from '../../packages/host/src/programs/find-program.ts';
import { readKernelAbilities } from '../../packages/runtime/src/host/kernel.ts';
import { InfraProcess } from '../../packages/runtime/src/sandbox/infra-process.ts';
import { HostInitRoot } from '../../packages/runtime/src/sandbox/infra-roots.ts';
import { SandboxDirectories } from '../../packages/runtime/src/sandbox/sandbox-directories.ts';
import { SandboxNamespaces } from '../../packages/runtime/src/sandbox/sandbox-namespaces.ts';
import { OciTaskRuntime } from '../../packages/runtime/src/tasks/oci/oci-task-runtime.ts';
import { loadSystem } from '../../packages/system/src/system.ts';
import { ociFastPaths } from '../fixtures/fast-paths.ts';

/** Dependencies shared by all sandbox controllers. */
export function makeSandboxParts(state: string) {
  const system = loadSystem();
  const logger = silentLogger;
  return {
    logger,
    namespaces: SandboxNamespaces.open({ system, logger, state }),
    directories: SandboxDirectories.open({ system, root: join(state, 'root'), state }),
  };
}

/** Dependencies of sandbox controllers that run an infra process, using runc. */
export async function makeInfraParts(state: string) {
  const cgroups = await discoverCgroups();
  const tasks = await OciTaskRuntime.open({
    state: join(state, 'oci'),
    conmon: requireProgram('conmon'),
    program: { name: 'runc', path: requireProgram('runc') },
    handlers: {},
    cgroups,
    logger: silentLogger,
    fastPaths: ociFastPaths,
  });
  const { minimumOomScoreAdj } = await readKernelAbilities(cgroups);
  return {
    ...makeSandboxParts(state),
    process: new InfraProcess({ tasks, state }),
    roots: HostInitRoot.open({ state, program: () => findProgram('catatonit') }),
    cgroupsPath: (_: unknown, id: string) => `/pwt-${id.slice(0, 12)}`,
    oomScoreAdj: Math.max(-998, minimumOomScoreAdj),
    close: async () => tasks.close(),
  };
}
