import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { discoverCgroups, silentLogger } from '@podwright/base';
import { readKernelAbilities } from '../../packages/runtime/src/host/kernel.ts';
import { findProgram, requireProgram } from '../../packages/runtime/src/host/programs.ts';
import { InfraProcess } from '../../packages/runtime/src/sandbox/infra-process.ts';
import { HostInitRoot } from '../../packages/runtime/src/sandbox/infra-roots.ts';
import { SandboxFolders } from '../../packages/runtime/src/sandbox/sandbox-folders.ts';
import { SandboxNamespaces } from '../../packages/runtime/src/sandbox/sandbox-namespaces.ts';
import { unmountTree } from '../../packages/runtime/src/sys/mountinfo.ts';
import { loadSystem } from '../../packages/runtime/src/sys/system.ts';
import { OciTaskRuntime } from '../../packages/runtime/src/tasks/oci-task-runtime.ts';

/** What sandbox controllers are made of, in a folder of its own, with runc. */
export type SandboxPlace = Awaited<ReturnType<typeof makeSandboxPlace>>;

export async function makeSandboxPlace() {
  const state = mkdtempSync('/tmp/pwt-sandbox-');
  const system = loadSystem();
  const logger = silentLogger;
  const cgroups = await discoverCgroups();
  const tasks = await OciTaskRuntime.open({
    state: join(state, 'oci'),
    conmon: await requireProgram('conmon'),
    program: { name: 'runc', path: await requireProgram('runc') },
    handlers: {},
    cgroups,
    logger,
  });
  const { minimumOomScoreAdj } = await readKernelAbilities(cgroups);
  return {
    state,
    system,
    tasks,
    namespaces: new SandboxNamespaces({ system, logger, state }),
    folders: new SandboxFolders({ system, state }),
    process: new InfraProcess({ tasks, state }),
    roots: new HostInitRoot({ state, program: () => findProgram('catatonit') }),
    cgroupsPath: (_: unknown, id: string) => `/${id}`,
    oomScoreAdj: Math.max(-998, minimumOomScoreAdj),
    close: async () => {
      tasks.close();
      unmountTree(system, state);
      rmSync(state, { recursive: true });
    },
  };
}
