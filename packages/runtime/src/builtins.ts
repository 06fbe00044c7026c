import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describeUndoFailures, removeCgroup } from '@podwright/base';
import { cdiFolders } from './cdi/cdi-devices.ts';
import { CgroupStatistics } from './containers/cgroup-statistics.ts';
import { cgroupsPath } from './containers/cgroups-path.ts';
import { ContainerFiles } from './containers/container-files.ts';
import { OciContainerSpecs } from './containers/oci-container-specs.ts';
import { type HostAbilities, probeHost } from './host/host-abilities.ts';
import { chooseOciRuntime } from './host/oci-runtimes.ts';
import { findProgram, requireProgram } from './host/programs.ts';
import { createImageService } from './images/images.ts';
import { createNetwork } from './network/cni-network.ts';
import type { RuntimeOptions } from './options.ts';
import { chooseSnapshotter, snapshotterRequirement } from './plugin/choose-snapshotter.ts';
import { handlerFeatures } from './plugin/handler-features.ts';
import { loadPlugins } from './plugin/load-plugin.ts';
import type { PluginState } from './plugin/plugin.ts';
import { PluginGraph } from './plugin/plugin-graph.ts';
import { handlerPrograms, ociPrograms, runtimeHandlers } from './plugin/runtime-handlers.ts';
import type { RuntimePlugin, RuntimePluginTypes } from './plugin/runtime-plugins.ts';
import { describeHandlers, usableHandlers } from './plugin/usable-handlers.ts';
import type { RuntimeParts, RuntimeRecords } from './runtime-parts.ts';
import { ImageInfraRoots } from './sandbox/image-infra-roots.ts';
import { InfraProcess } from './sandbox/infra-process.ts';
import { HostInitRoot } from './sandbox/infra-roots.ts';
import { PauseController } from './sandbox/pause-controller.ts';
import { PinnedController } from './sandbox/pinned-controller.ts';
import { createPortDialer } from './sandbox/port-dialer.ts';
import { SandboxControllers } from './sandbox/sandbox-controllers.ts';
import { SandboxFolders } from './sandbox/sandbox-folders.ts';
import { SandboxNamespaces } from './sandbox/sandbox-namespaces.ts';
import type { SandboxRecord } from './sandbox/sandbox-record.ts';
import { SharedPidInit } from './sandbox/shared-pid-init.ts';
import { openSnapshotter } from './snapshots/open-snapshotter.ts';
import { unmountTree } from './sys/mountinfo.ts';
import { loadSystem, type System } from './sys/system.ts';
import { OciTaskRuntime } from './tasks/oci-task-runtime.ts';
import type { TaskRuntime } from './tasks/task-runtime.ts';
import { LayerUnpacker } from './unpack/unpack-layer.ts';

/** The machine's own program for pods that need a process of their own: the package catatonit. */
const INFRA_PROGRAM = 'catatonit';
/** The kernel ends these last when memory is short, as every Kubernetes runtime has it. */
const INFRA_OOM_SCORE_ADJ = -998;
const VERSION = '0.1.0';

/** What every plugin may use. */
type Environment = {
  options: RuntimeOptions;
  records: RuntimeRecords;
  system: System;
  namespaces: SandboxNamespaces;
  folders: SandboxFolders;
};

/** The built-in implementation of every part. This is the only file that names implementations. */
export async function openBuiltins(options: RuntimeOptions, records: RuntimeRecords): Promise<RuntimeParts> {
  const others = await loadPlugins(options);
  const environment = environmentOf(options, records);
  const plugins = [...builtinPlugins(environment), ...others];
  const graph = await PluginGraph.start(plugins, { needed: neededPlugins(options) });
  try {
    return composeParts(environment, graph);
  } catch (error) {
    await graph.close();
    throw error;
  }
}

/** How the plugins of these options get on here, also when there could be no pods. They are closed again. */
export async function tryBuiltins(options: RuntimeOptions, records: RuntimeRecords): Promise<PluginState[]> {
  const plugins = [...builtinPlugins(environmentOf(options, records)), ...(await loadPlugins(options))];
  const graph = await PluginGraph.start(plugins, { needed: [] });
  await graph.close();
  return graph.states();
}

function environmentOf(options: RuntimeOptions, records: RuntimeRecords): Environment {
  const { state, logger } = options;
  const system = loadSystem();
  return {
    options,
    records,
    system,
    namespaces: new SandboxNamespaces({ system, logger, state }),
    folders: new SandboxFolders({ system, state }),
  };
}

function builtinPlugins(environment: Environment): RuntimePlugin[] {
  return [
    hostPlugin(environment),
    snapshotterPlugin('overlayfs', environment),
    snapshotterPlugin('native', environment),
    imagesPlugin(environment),
    networkPlugin(environment),
    ociTasksPlugin(environment),
    pinnedPlugin(environment),
    pausePlugin(environment),
  ];
}

/** Without these there is no pod. */
function neededPlugins({ handlers = {}, defaultHandler = '' }: RuntimeOptions) {
  const { task, sandbox } = handlers[defaultHandler] ?? { task: 'oci', sandbox: 'pinned' };
  return [
    'host/linux',
    'images/store',
    'network/cni',
    `task-runtime/${task}`,
    `sandbox-controller/${sandbox}`,
  ] as const;
}

function hostPlugin({ options }: Environment): RuntimePlugin<'host'> {
  const { root, state, cgroupParent, ociRuntime, conmon, network } = options;
  const init = () =>
    probeHost({
      state: join(state, 'host'),
      root,
      cgroupParent,
      ociRuntime,
      handlerPrograms: handlerPrograms(options),
      conmon,
      cniBinDirs: network.binDirs,
    });
  return { type: 'host', id: 'linux', requires: [], init };
}

function snapshotterPlugin(
  kind: 'overlayfs' | 'native',
  { options, records, system }: Environment,
): RuntimePlugin<'snapshotter'> {
  const { root, logger } = options;
  return {
    type: 'snapshotter',
    id: kind,
    requires: [],
    init({ note }) {
      const { database } = records;
      const opened = openSnapshotter({ kind, root: join(root, 'snapshots'), database, system, logger });
      if (kind === 'overlayfs') note(opened.reason);
      return opened.snapshotter;
    },
    close: (snapshotter) => snapshotter.close(),
  };
}

function imagesPlugin({ options, records, system }: Environment): RuntimePlugin<'images'> {
  const { root, registryConfigDir, logger } = options;
  const unpacker = new LayerUnpacker({ system });
  return {
    type: 'images',
    id: 'store',
    requires: [snapshotterRequirement(options.snapshotter)],
    init(context) {
      const { database } = records;
      const { unpackLayer } = unpacker;
      const { arch } = process;
      const snapshotter = chooseSnapshotter(options.snapshotter, context);
      context.note(`unpacked into ${snapshotter.name}`);
      const pauseImages = Object.values(options.handlers ?? {}).flatMap(({ pauseImage = '' }) => pauseImage || []);
      const pinnedImages = [...(options.pinnedImages ?? []), ...pauseImages];
      const shared = { root, database, snapshotter, unpackLayer, registryConfigDir, logger, arch };
      return createImageService({ ...shared, pinnedImages });
    },
    async close(images) {
      await Promise.all([images.close(), unpacker[Symbol.asyncDispose]()]);
    },
  };
}

function networkPlugin({ options }: Environment): RuntimePlugin<'network'> {
  const { root, state, network, logger } = options;
  const directories = { stateDir: join(state, 'network'), cacheDir: join(root, 'network') };
  return { type: 'network', id: 'cni', requires: [], init: () => createNetwork({ network, ...directories, logger }) };
}

function ociTasksPlugin({ options }: Environment): RuntimePlugin<'task-runtime'> {
  const { state, conmon, ociRuntime, logger } = options;
  return {
    type: 'task-runtime',
    id: 'oci',
    requires: ['host/linux'],
    async init({ get, note }) {
      const host = get('host', 'linux');
      const program = chooseOciRuntime(host.ociRuntimes, ociRuntime);
      note(`${program.name} unless the handler has another`);
      return await OciTaskRuntime.open({
        state: join(state, 'oci'),
        conmon: host.conmon?.path ?? (await requireProgram(conmon)),
        program,
        handlers: ociPrograms(runtimeHandlers(options, host.ociRuntimes), host.ociRuntimes),
        cgroups: host.cgroups,
        logger,
      });
    },
    close: (tasks) => tasks.close(),
  };
}

function pinnedPlugin(environment: Environment): RuntimePlugin<'sandbox-controller'> {
  return {
    type: 'sandbox-controller',
    id: 'pinned',
    requires: ['host/linux', 'task-runtime/oci'],
    init({ get }) {
      const init = new SharedPidInit(infraOf(environment, get('host', 'linux'), get('task-runtime', 'oci')));
      return new PinnedController({ ...environment, init });
    },
  };
}

function pausePlugin(environment: Environment): RuntimePlugin<'sandbox-controller'> {
  return {
    type: 'sandbox-controller',
    id: 'pause',
    requires: [
      'host/linux',
      'task-runtime/oci',
      'images/store',
      snapshotterRequirement(environment.options.snapshotter),
    ],
    init(context) {
      const { get } = context;
      const { snapshotter, handlers = {}, defaultHandler = '' } = environment.options;
      const infra = infraOf(environment, get('host', 'linux'), get('task-runtime', 'oci'));
      const roots = new ImageInfraRoots({
        ...environment,
        images: get('images', 'store'),
        snapshotter: chooseSnapshotter(snapshotter, context),
        imageFor: (handler) => handlers[handler || defaultHandler]?.pauseImage ?? '',
        withoutImage: infra.roots,
      });
      return new PauseController({ ...environment, ...infra, roots });
    },
  };
}

/** What sandboxes' own processes are run with. */
function infraOf({ options }: Environment, host: HostAbilities, tasks: TaskRuntime) {
  const { state, cgroupParent } = options;
  return {
    process: new InfraProcess({ tasks, state }),
    roots: new HostInitRoot({ state, program: () => findProgram(INFRA_PROGRAM) }),
    cgroupsPath: cgroupOf(cgroupParent),
    oomScoreAdj: Math.max(INFRA_OOM_SCORE_ADJ, host.kernel.minimumOomScoreAdj),
  };
}

/** The parts out of the plugins' instances. */
function composeParts({ options, records, system }: Environment, graph: PluginGraph<RuntimePluginTypes>): RuntimeParts {
  const { root, state, logger, cgroupParent } = options;
  const host = graph.get('host', 'linux');
  const images = graph.get('images', 'store');
  const network = graph.get('network', 'cni');
  const tasks = graph.get('task-runtime', 'oci');
  const snapshotter = chooseSnapshotter(options.snapshotter, graph);
  const handlers = usableHandlers(options, graph);
  const controllers = new SandboxControllers({
    controllers: [...graph.all('sandbox-controller').values()],
    handlers: new Map([...handlers.usable].map(([name, { sandbox }]) => [name, sandbox])),
    unavailable: handlers.unavailable,
  });
  const files = new ContainerFiles({ system, snapshotter, root, state });
  const cgroupsPath = cgroupOf(cgroupParent);
  return {
    images,
    files,
    tasks,
    network,
    controllers,
    specs: new OciContainerSpecs({
      ...records,
      files,
      controllers,
      cgroupsPath,
      cdiFolders: options.cdiFolders ?? cdiFolders,
      host: host.kernel,
    }),
    statistics: new CgroupStatistics({
      ...records,
      system,
      logger,
      cgroups: host.cgroups,
      cgroupsPath,
      controllers,
      snapshotter,
      files,
      root,
    }),
    dial: createPortDialer({ system, logger }),
    facts: {
      version: VERSION,
      cgroupDriver: 'cgroupfs',
      ...handlerFeatures(handlers.usable, host, snapshotter),
      info: { host, snapshotter: snapshotter.name, plugins: graph.states(), handlers: describeHandlers(handlers) },
    },
    async close() {
      const failures = await graph.close();
      if (failures.length > 0) logger.error({ error: describeUndoFailures(failures) }, 'plugins could not be closed');
    },
    async removeHostState() {
      await network.close({ removeHostState: true });
      await removeCgroup(host.cgroups, cgroupParent);
      unmountTree(system, state);
      for (const name of STATE_FOLDERS) await rm(join(state, name), { recursive: true, force: true });
    },
  };
}

/** What the parts keep in the state directory. */
const STATE_FOLDERS = ['ns', 'sandboxes', 'containers', 'tasks', 'oci', 'init', 'network', 'host', 'plugins'];

const cgroupOf = (cgroupParent: string) => (sandbox: SandboxRecord, taskId: string) =>
  cgroupsPath(sandbox, taskId, cgroupParent);
