import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PodwrightError, silentLogger, type TraceWork, untraced } from '@podwright/base';
import { findInit, type ProgramStarter, requireProgram, Trash } from '@podwright/host';
import { createImageService, LayerUnpacker, openSnapshotter } from '@podwright/images';
import { loadSystem, NetlinkSockets, ProcessStarter, type System } from '@podwright/system';
import { composeParts } from './compose-parts.ts';
import { cgroupsPathBelow } from './containers/cgroups-path.ts';
import { resolveUser } from './containers/resolve-user.ts';
import { describeSandbox } from './cri/messages/sandbox-description.ts';
import { type FastPaths, fastPathsOf } from './fast-paths.ts';
import { type HostAbilities, probeHost } from './host/host-abilities.ts';
import { BridgeNetwork, type BridgeNetworkOptions } from './network/bridge/bridge-network.ts';
import { ChosenNetwork, type ChosenNetworkOptions, type NetworkDescription } from './network/choice/chosen-network.ts';
import { NriPlugins } from './nri/nri-plugins.ts';
import { chooseOciRuntime } from './oci-runtime/oci-runtimes.ts';
import type { RuntimeOptions } from './options.ts';
import { chooseSnapshotter, snapshotterRequirement } from './plugin/choose-snapshotter.ts';
import { loadPlugins } from './plugin/load-plugin.ts';
import type { PluginState } from './plugin/plugin.ts';
import { PluginGraph } from './plugin/plugin-graph.ts';
import { handlerPrograms, ociPrograms, runtimeHandlers } from './plugin/runtime-handlers.ts';
import type { RuntimePlugin } from './plugin/runtime-plugins.ts';
import type { GivenParts, RuntimeParts, RuntimeRecords } from './runtime-parts.ts';
import { ImageInfraRoots } from './sandbox/image-infra-roots.ts';
import { InfraProcess } from './sandbox/infra-process.ts';
import { HostInitRoot, INIT_DIRECTORY } from './sandbox/infra-roots.ts';
import { PauseController } from './sandbox/pause-controller.ts';
import { PinnedController } from './sandbox/pinned-controller.ts';
import { SANDBOXES_DIRECTORY, SandboxDirectories } from './sandbox/sandbox-directories.ts';
import { NAMESPACES_DIRECTORY, SandboxNamespaces } from './sandbox/sandbox-namespaces.ts';
import { SharedPidInit } from './sandbox/shared-pid-init.ts';
import type { ShimController } from './sandbox/shim-controller.ts';
import { OciTaskRuntime } from './tasks/oci/oci-task-runtime.ts';
import { findShimPrograms, SHIM_DIRECTORIES } from './tasks/shim/handler-shims.ts';
import type { TaskRuntime } from './tasks/task-runtime.ts';
import { TaskRuntimes } from './tasks/task-runtimes.ts';

/** oom_score_adj of infra processes, as in containerd and CRI-O: the OOM killer kills them last. */
const INFRA_OOM_SCORE_ADJ = -998;

/** Subdirectories of the state directory used by sandbox controllers. */
const SANDBOX_STATE = [NAMESPACES_DIRECTORY, SANDBOXES_DIRECTORY];

/** The pod network's subdirectory, in both the state directory and the root directory. */
const NETWORK_DIRECTORY = 'network';

type Environment = {
  options: RuntimeOptions;
  fastPaths: FastPaths;
  records: RuntimeRecords;
  system: System;
  start: ProgramStarter;
  trace: TraceWork;
  namespaces: SandboxNamespaces;
  directories: SandboxDirectories;
};

/** Opens the built-in implementations of the container runtime's parts. Only this file refers to them by name. */
export async function openBuiltins(options: RuntimeOptions, given: GivenParts): Promise<RuntimeParts> {
  const others = await loadPlugins(options);
  const environment = environmentOf(options, given);
  const plugins = [...builtinPlugins(environment), ...others];
  const graph = await PluginGraph.start(plugins, { needed: neededPlugins(options) });
  try {
    return composeParts(environment, graph);
  } catch (error) {
    await graph.close();
    throw error;
  }
}

/**
 * Dry run: starts the plugins configured by these options, closes them again, and returns their states. Failed plugins are not an error,
 * even those required by every pod.
 */
export async function tryBuiltins(options: RuntimeOptions, records: RuntimeRecords): Promise<PluginState[]> {
  const given = { records, trace: untraced, fastPaths: fastPathsOf(options) };
  const plugins = [...builtinPlugins(environmentOf(options, given)), ...(await loadPlugins(options))];
  const graph = await PluginGraph.start(plugins, { needed: [] });
  await graph.close();
  return graph.states();
}

function environmentOf(options: RuntimeOptions, given: GivenParts): Environment {
  const { root, state, logger } = options;
  const system = loadSystem();
  return {
    ...given,
    options,
    system,
    start: new ProcessStarter().start,
    namespaces: SandboxNamespaces.open({ system, logger, state }),
    directories: SandboxDirectories.open({ system, root, state }),
  };
}

function builtinPlugins(environment: Environment): RuntimePlugin[] {
  return [
    hostPlugin(environment),
    snapshotterPlugin('overlayfs', environment),
    snapshotterPlugin('native', environment),
    imagesPlugin(environment),
    networkPlugin(environment),
    nriPlugin(environment),
    ociTasksPlugin(environment),
    pinnedPlugin(environment),
    pausePlugin(environment),
    shimsPlugin(environment),
    shimTasksPlugin(environment),
    shimSandboxPlugin(environment),
  ];
}

/** Returns the plugins required by the default handler. If any of them fails, the container runtime does not start. */
function neededPlugins({ handlers = {}, defaultHandler = '' }: RuntimeOptions) {
  const { task, sandbox } = handlers[defaultHandler] ?? { task: 'oci', sandbox: 'pinned' };
  return [
    'host/linux',
    'images/store',
    'network/pods',
    `task-runtime/${task}`,
    `sandbox-controller/${sandbox}`,
  ] as const;
}

function hostPlugin({ options, fastPaths }: Environment): RuntimePlugin<'host'> {
  const { root, state, cgroupParent, cgroupDriver, ociRuntime, conmon } = options;
  const init = () =>
    probeHost({
      state: join(state, 'host'),
      root,
      cgroupParent,
      cgroupDriver,
      ociRuntime,
      handlerPrograms: handlerPrograms(options),
      conmon,
      fastPaths: fastPaths.oci,
    });
  return { type: 'host', id: 'linux', requires: [], stateDirectories: ['host'], init };
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

function imagesPlugin({ options, records, system, trace }: Environment): RuntimePlugin<'images'> {
  const { root, registryConfigDir, logger } = options;
  const unpacker = new LayerUnpacker({ system });
  return {
    type: 'images',
    id: 'store',
    requires: [snapshotterRequirement(options.snapshotter)],
    init(context) {
      const { database } = records;
      const { unpackLayer, prepare: prepareUnpacking } = unpacker;
      const { arch } = process;
      const snapshotter = chooseSnapshotter(options.snapshotter, context);
      context.note(`unpacked into ${snapshotter.name}`);
      const pauseImages = Object.values(options.handlers ?? {}).flatMap(({ pauseImage = '' }) => pauseImage || []);
      const pinnedImages = [...(options.pinnedImages ?? []), ...pauseImages];
      const shared = { root, database, snapshotter, unpackLayer, registryConfigDir, logger, arch, trace };
      return createImageService({ ...shared, prepareUnpacking, pinnedImages });
    },
    async close(images) {
      await Promise.all([images.close(), unpacker[Symbol.asyncDispose]()]);
    },
  };
}

function networkPlugin(environment: Environment): RuntimePlugin<'network'> {
  return {
    type: 'network',
    id: 'pods',
    requires: [],
    stateDirectories: [NETWORK_DIRECTORY],
    async init({ note }) {
      const { system, start, trace, options } = environment;
      const own = await BridgeNetwork.open({ ...bridgeOptions(options, system), trace });
      const chosen = chosenNetwork(options, { own, start, trace });
      await chosen.begin();
      note((await chosen.describe()).why);
      return chosen;
    },
    close: (opened) => opened.close({ removeHostState: false }),
  };
}

function nriPlugin({ options }: Environment): RuntimePlugin<'nri'> {
  return {
    type: 'nri',
    id: 'plugins',
    requires: [],
    stateDirectories: ['nri'],
    init({ note }) {
      const { nri, logger } = options;
      if (nri === undefined) throw new PodwrightError('failed_precondition', 'NRI is disabled by the settings');
      note(nri.socketPath === '' ? 'only installed plugins' : nri.socketPath);
      return new NriPlugins(nri, logger);
    },
    close: (plugins) => plugins.close(),
  };
}

/** Read-only: describes the pod network of a container runtime with these options, which may be running. Requires root. */
export async function lookAtNetwork(running: RuntimeOptions): Promise<NetworkDescription> {
  const options = { ...running, logger: silentLogger };
  const own = await BridgeNetwork.openReadOnly(bridgeOptions(options, loadSystem()));
  try {
    return await chosenNetwork(options, { own }).describe();
  } finally {
    await own.close({ removeHostState: false });
  }
}

function bridgeOptions({ state, network, logger, failpoint }: RuntimeOptions, system: System): BridgeNetworkOptions {
  const { bridge, subnet, mtu } = network;
  const stateDir = join(state, NETWORK_DIRECTORY);
  return { bridge, subnet, mtu, stateDir, system, sockets: new NetlinkSockets(), logger, failpoint };
}

function chosenNetwork(
  { root, network, logger }: RuntimeOptions,
  made: Pick<ChosenNetworkOptions, 'start' | 'trace'> & { own: BridgeNetwork },
) {
  return new ChosenNetwork({ ...made, network, cacheDir: join(root, NETWORK_DIRECTORY), logger });
}

function ociTasksPlugin({ options, start, trace, fastPaths }: Environment): RuntimePlugin<'task-runtime'> {
  const { state, conmon, ociRuntime, logger } = options;
  let trash: Trash | undefined;
  return {
    type: 'task-runtime',
    id: 'oci',
    requires: ['host/linux'],
    stateDirectories: ['oci'],
    async init({ get, note }) {
      const host = get('host', 'linux');
      const program = chooseOciRuntime(host.ociRuntimes, ociRuntime);
      note(`${program.name}, unless the handler names another one`);
      // removing a directory takes milliseconds on a disk mounted with `discard`, so do it in the background
      const thrown = new Trash(join(state, 'oci', 'trash'), logger);
      trash = thrown;
      return await OciTaskRuntime.open({
        state: join(state, 'oci'),
        conmon: host.conmon?.path ?? requireProgram(conmon),
        program,
        handlers: ociPrograms(runtimeHandlers(options, host.ociRuntimes), host.ociRuntimes),
        cgroups: host.cgroups,
        start,
        trace,
        throwAway: (directory) => thrown.throwAway(directory),
        fastPaths: fastPaths.oci,
        logger,
      });
    },
    async close(tasks) {
      tasks.close();
      await trash?.close();
    },
  };
}

function pinnedPlugin(environment: Environment): RuntimePlugin<'sandbox-controller'> {
  return {
    type: 'sandbox-controller',
    id: 'pinned',
    requires: ['host/linux', 'task-runtime/oci'],
    stateDirectories: [...SANDBOX_STATE, INIT_DIRECTORY],
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
    requires: ['host/linux', 'task-runtime', 'images/store', snapshotterRequirement(environment.options.snapshotter)],
    stateDirectories: [...SANDBOX_STATE, INIT_DIRECTORY],
    init(context) {
      const { get, all } = context;
      const { snapshotter, handlers = {}, defaultHandler = '' } = environment.options;
      const host = get('host', 'linux');
      const infra = infraOf(environment, host, infraTasks(environment, host, all('task-runtime')));
      const roots = new ImageInfraRoots({
        ...environment,
        resolveUser,
        images: get('images', 'store'),
        snapshotter: chooseSnapshotter(snapshotter, context),
        imageFor: (handler) => handlers[handler || defaultHandler]?.pauseImage ?? '',
        withoutImage: infra.roots,
      });
      return new PauseController({ ...environment, ...infra, roots });
    },
  };
}

/** Routes each pod's infra process to the task runtime of the pod's runtime handler. */
function infraTasks({ options }: Environment, host: HostAbilities, runtimes: ReadonlyMap<string, TaskRuntime>) {
  const handlers = [...runtimeHandlers(options, host.ociRuntimes)];
  return new TaskRuntimes({ runtimes, handlers: new Map(handlers.map(([name, { task }]) => [name, task])) });
}

/** Builds the dependencies of sandbox controllers that use an infra process. */
function infraOf({ options }: Environment, host: HostAbilities, tasks: TaskRuntime) {
  const { state } = options;
  return {
    process: new InfraProcess({ tasks, state }),
    roots: HostInitRoot.open({ state, program: findInit }),
    cgroupsPath: cgroupsPathBelow(options),
    oomScoreAdj: Math.max(INFRA_OOM_SCORE_ADJ, host.kernel.minimumOomScoreAdj),
  };
}

/**
 * Opens containerd's shims. Loads their package only if a handler uses a shim, or if pods from before a restart still run in a shim and
 * need to be stopped and removed.
 */
function shimsPlugin({ options, records, start }: Environment): RuntimePlugin<'shims'> {
  const { state, logger } = options;
  const directory = join(state, SHIM_DIRECTORIES.shims);
  return {
    type: 'shims',
    id: 'containerd',
    requires: ['host/linux'],
    stateDirectories: Object.values(SHIM_DIRECTORIES),
    async init({ get, note }) {
      const handlers = runtimeHandlers(options, get('host', 'linux').ociRuntimes);
      const programs = await findShimPrograms(handlers, join(state, SHIM_DIRECTORIES.runc));
      // also look at the sandbox records: the shim directory does not survive a reboot, but the records do
      const hadShims =
        existsSync(directory) || records.sandboxes.list().some(({ controller }) => controller === 'shim');
      if (programs.size === 0 && !hadShims)
        throw new PodwrightError('failed_precondition', 'no shim of a runtime handler is installed');
      note([...programs].map(([name, { path }]) => `${name || 'default'}: ${path}`).join(', '));
      const { Shims } = await import('@podwright/shim');
      return { shims: await Shims.open({ state: directory, start, logger }), programs };
    },
    close: ({ shims }) => shims.close(),
  };
}

function shimTasksPlugin({ options }: Environment): RuntimePlugin<'task-runtime'> {
  const { state, logger } = options;
  return {
    type: 'task-runtime',
    id: 'shim-v2',
    requires: ['host/linux', 'shims/containerd'],
    async init({ get }) {
      const { shims, programs } = get('shims', 'containerd');
      const { cgroups } = get('host', 'linux');
      const { ShimTaskRuntime } = await import('./tasks/shim/shim-task-runtime.ts');
      const handlers = Object.fromEntries(programs);
      return ShimTaskRuntime.open({ state: join(state, SHIM_DIRECTORIES.tasks), shims, handlers, cgroups, logger });
    },
    close: (tasks) => tasks.close(),
  };
}

function shimSandboxPlugin({ options, namespaces, directories }: Environment): RuntimePlugin<'sandbox-controller'> {
  const { logger } = options;
  return {
    type: 'sandbox-controller',
    id: 'shim',
    requires: ['shims/containerd'],
    stateDirectories: SANDBOX_STATE,
    async init({ get }) {
      const { shims, programs } = get('shims', 'containerd');
      const { ShimController } = await import('./sandbox/shim-controller.ts');
      const programFor = (handler: string) => programs.get(handler);
      return new ShimController({ namespaces, directories, shims, programFor, describe: describeSandbox, logger });
    },
    close: (controller) => (controller as ShimController).close(),
  };
}
