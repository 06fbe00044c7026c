import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describeUndoFailures, PodwrightError, Undo, VERSION } from '@podwright/base';
import { removeCgroup, Trash } from '@podwright/host';
import { CDI_DIRECTORIES } from '@podwright/oci';
import { createPortDialer, type System, unmountUnder } from '@podwright/system';
import { cgroupsPathBelow, taskCgroupBelow } from './containers/cgroups-path.ts';
import { CONTAINER_STATE, ContainerFiles } from './containers/container-files.ts';
import { ContainerSpecs } from './containers/container-specs.ts';
import { AppArmor } from './host/apparmor.ts';
import { chooseOciRuntime } from './oci-runtime/oci-runtimes.ts';
import type { RuntimeOptions } from './options.ts';
import { chooseSnapshotter } from './plugin/choose-snapshotter.ts';
import { handlerFeatures } from './plugin/handler-features.ts';
import type { PluginGraph } from './plugin/plugin-graph.ts';
import type { RuntimePluginTypes } from './plugin/runtime-plugins.ts';
import { describeHandlers, type UsableHandlers, usableHandlers } from './plugin/usable-handlers.ts';
import { runtimeReadiness } from './readiness.ts';
import type { RuntimeParts, RuntimeRecords } from './runtime-parts.ts';
import { SandboxControllers } from './sandbox/sandbox-controllers.ts';
import type { SandboxNamespaces } from './sandbox/sandbox-namespaces.ts';
import { CgroupStatistics } from './statistics/cgroup-statistics.ts';
import type { TaskRuntime } from './tasks/task-runtime.ts';
import { TaskRuntimes } from './tasks/task-runtimes.ts';

/** Subdirectory of the state directory into which exited containers' directories are moved, to be deleted in the background. */
const STATE_TRASH = 'trash';

/** Dependencies of a container runtime's parts, other than plugins. */
export type PartsEnvironment = {
  options: RuntimeOptions;
  records: RuntimeRecords;
  system: System;
  namespaces: SandboxNamespaces;
};

/** Builds the container runtime's parts from its plugin instances. */
export function composeParts(
  { options, records, system, namespaces }: PartsEnvironment,
  graph: PluginGraph<RuntimePluginTypes>,
): RuntimeParts {
  const { root, state, logger, cgroupParent } = options;
  const host = graph.get('host', 'linux');
  const network = graph.get('network', 'pods');
  const snapshotter = chooseSnapshotter(options.snapshotter, graph);
  const handlers = usableHandlers(options, graph);
  const tasks = routeTasks(handlers, graph.all('task-runtime'));
  const controllers = new SandboxControllers({
    controllers: [...graph.all('sandbox-controller').values()],
    handlers: new Map([...handlers.usable].map(([name, { sandbox }]) => [name, sandbox])),
    unavailable: handlers.unavailable,
  });
  const trash = new Trash(join(root, 'trash'), logger);
  const stateTrash = new Trash(join(state, STATE_TRASH), logger);
  const files = ContainerFiles.open({ system, snapshotter, trash, stateTrash, root, state });
  const features = handlerFeatures(handlers.usable, host, graph.all('sandbox-controller'));
  return {
    images: graph.get('images', 'store'),
    nriPlugins: graph.all('nri').get('plugins'),
    files,
    tasks,
    network,
    controllers,
    namespaces,
    specs: new ContainerSpecs({
      ...records,
      system,
      files,
      controllers,
      cgroupsPath: cgroupsPathBelow(options),
      cdiDirectories: options.cdiDirectories ?? CDI_DIRECTORIES,
      confinement: {
        seccomp: host.kernel.seccomp,
        apparmor: new AppArmor(host.kernel.apparmor),
        selinux: host.selinux,
      },
      host: host.kernel,
      openFiles: options.openFiles,
      scopeOomPolicy: host.scopeOomPolicy,
      ociVersions: features.ociVersions,
    }),
    statistics: new CgroupStatistics({
      ...records,
      system,
      logger,
      cgroups: host.cgroups,
      taskCgroup: taskCgroupBelow(cgroupParent),
      tasks,
      controllers,
      snapshotter,
      files,
      root,
    }),
    dial: createPortDialer({ system, logger }),
    facts: {
      version: VERSION,
      cgroupDriver: options.cgroupDriver ?? 'cgroupfs',
      readiness: () => runtimeReadiness({ programs: programsOf(handlers, graph), database: records.database }),
      ...features,
      info: { host, snapshotter: snapshotter.name, plugins: graph.states(), handlers: describeHandlers(handlers) },
    },
    async close() {
      await Promise.all([trash.close(), stateTrash.close()]);
      const failures = await graph.close();
      if (failures.length > 0) logger.error({ error: describeUndoFailures(failures) }, 'plugins could not be closed');
    },
    async removeHostState() {
      const cleanUp = new Undo(); // runs in reverse order, and continues after a failure
      cleanUp.add(`mounts and directories in ${state}`, async () => {
        unmountUnder(system, state);
        await stateTrash.close();
        const directories = [...graph.stateDirectories(), ...CONTAINER_STATE, STATE_TRASH];
        for (const name of directories) await rm(join(state, name), { recursive: true, force: true });
      });
      cleanUp.add(`cgroup ${cgroupParent}`, () => removeCgroup(host.cgroups, cgroupParent));
      cleanUp.add('network', () => network.close({ removeHostState: true }));
      const failures = await cleanUp.run();
      if (failures.length > 0) throw new PodwrightError('failed_precondition', describeUndoFailures(failures));
    },
  };
}

/** Returns the paths of the programs used to run the default handler's pods. */
function programsOf({ usable }: UsableHandlers, graph: PluginGraph<RuntimePluginTypes>): string[] {
  const { ociRuntimes, conmon } = graph.get('host', 'linux');
  const handler = usable.get('');
  if (handler?.task === 'shim-v2') return [graph.get('shims', 'containerd').programs.get('')?.path ?? []].flat();
  if (handler?.task !== 'oci') return [];
  return [chooseOciRuntime(ociRuntimes, handler.program).path, conmon?.path ?? []].flat();
}

/** Routes each new task to its handler's task runtime. No routing is needed if there is only one. */
function routeTasks({ usable }: UsableHandlers, runtimes: ReadonlyMap<string, TaskRuntime>): TaskRuntime {
  const [only] = runtimes.values();
  if (only !== undefined && runtimes.size === 1) return only;
  return new TaskRuntimes({ runtimes, handlers: new Map([...usable].map(([name, { task }]) => [name, task])) });
}
