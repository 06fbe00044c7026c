/** A third-party plugin with a task runtime: Podwright's own, under a different name and with separate state. */
import { discoverCgroups } from '@podwright/host';
import type { TaskRuntime, ThirdPartyPlugin } from '@podwright/runtime/plugin';
import { requireProgram } from '../../packages/host/src/programs/find-program.ts';
import { OciTaskRuntime } from '../../packages/runtime/src/tasks/oci/oci-task-runtime.ts';

const plugin: ThirdPartyPlugin<Record<string, never>, 'task-runtime'> = {
  apiVersion: 1,
  type: 'task-runtime',
  async init({ id, state, logger }): Promise<TaskRuntime> {
    const cgroups = await discoverCgroups();
    const [own, conmon] = [{ name: 'runc', path: requireProgram('runc') }, requireProgram('conmon')];
    const tasks = await OciTaskRuntime.open({ state, conmon, program: own, handlers: {}, cgroups, logger });
    return Object.defineProperty(tasks, 'name', { value: id });
  },
  close: (tasks) => tasks.close(),
};

export default plugin;
