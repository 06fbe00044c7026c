import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { discoverCgroups, silentLogger } from '@podwright/base';
import { PinnedController } from '../../packages/runtime/src/sandbox/pinned-controller.ts';
import { testSandboxController } from '../../packages/runtime/src/sandbox/sandbox.suite.ts';
import { SandboxFolders } from '../../packages/runtime/src/sandbox/sandbox-folders.ts';
import { SandboxNamespaces } from '../../packages/runtime/src/sandbox/sandbox-namespaces.ts';
import { SharedPidInit } from '../../packages/runtime/src/sandbox/shared-pid-init.ts';
import { unmountTree } from '../../packages/runtime/src/sys/mountinfo.ts';
import { loadSystem } from '../../packages/runtime/src/sys/system.ts';
import { OciTaskRuntime } from '../../packages/runtime/src/tasks/oci-task-runtime.ts';

await testSandboxController(async () => {
  const state = mkdtempSync('/tmp/pwt-pinned-');
  const system = loadSystem();
  const program = { name: 'runc', path: 'runc' };
  const cgroups = await discoverCgroups();
  const logger = silentLogger;
  const tasks = await OciTaskRuntime.open({
    state: join(state, 'oci'),
    conmon: 'conmon',
    program,
    handlers: {},
    cgroups,
    logger,
  });
  const init = new SharedPidInit({
    tasks,
    logger,
    state,
    program: async () => 'catatonit',
    cgroupsPath: (_, id) => `/${id}`,
  });
  return {
    controller: new PinnedController({
      namespaces: new SandboxNamespaces({ system, logger, state }),
      folders: new SandboxFolders({ system, state }),
      init,
    }),
    close: async () => {
      tasks.close();
      unmountTree(system, state);
      rmSync(state, { recursive: true });
    },
  };
});
