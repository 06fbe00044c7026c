import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { removeCgroup } from '@podwright/base';
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
import type { RuntimeParts, RuntimeRecords } from './runtime-parts.ts';
import { PinnedController } from './sandbox/pinned-controller.ts';
import { createPortDialer } from './sandbox/port-dialer.ts';
import { SandboxControllers } from './sandbox/sandbox-controllers.ts';
import { SandboxFolders } from './sandbox/sandbox-folders.ts';
import { SandboxNamespaces } from './sandbox/sandbox-namespaces.ts';
import type { SandboxRecord } from './sandbox/sandbox-record.ts';
import { SharedPidInit } from './sandbox/shared-pid-init.ts';
import { openSnapshotter } from './snapshots/open-snapshotter.ts';
import { unmountTree } from './sys/mountinfo.ts';
import { loadSystem } from './sys/system.ts';
import { OciTaskRuntime } from './tasks/oci-task-runtime.ts';
import { LayerUnpacker } from './unpack/unpack-layer.ts';

/** The init of pods that share their PID namespace: the package catatonit. */
const SHARED_PID_INIT = 'catatonit';
const VERSION = '0.1.0';

/** The built-in implementation of every part. This is the only file that names implementations. */
export async function openBuiltins(options: RuntimeOptions, records: RuntimeRecords): Promise<RuntimeParts> {
  const { root, state, logger, cgroupParent } = options;
  const { database, containers } = records;
  const system = loadSystem();
  const host = await probe(options);
  const tasks = await openTasks(options, host);
  const { snapshotter, reason } = openSnapshotter({
    kind: options.snapshotter,
    root: join(root, 'snapshots'),
    database,
    system,
    logger,
  });
  const unpacker = new LayerUnpacker({ system });
  const { registryConfigDir } = options;
  const { unpackLayer } = unpacker;
  const arch = process.arch;
  const images = await createImageService({
    root,
    database,
    snapshotter,
    unpackLayer,
    registryConfigDir,
    logger,
    arch,
  });
  const directories = { stateDir: join(state, 'network'), cacheDir: join(root, 'network') };
  const network = await createNetwork({ network: options.network, ...directories, logger });
  const cgroupOf = (sandbox: SandboxRecord, taskId: string) => cgroupsPath(sandbox, taskId, cgroupParent);
  const program = () => findProgram(SHARED_PID_INIT);
  const init = new SharedPidInit({ tasks, logger, state, program, cgroupsPath: cgroupOf });
  const handlers = handlersOf(host);
  const namespaces = new SandboxNamespaces({ system, logger, state });
  const folders = new SandboxFolders({ system, state });
  const pinned = new PinnedController({ namespaces, folders, init });
  const controllers = new SandboxControllers({
    controllers: [pinned],
    handlers: new Map(['', ...Object.keys(handlers)].map((name) => [name, pinned.name])),
  });
  const files = new ContainerFiles({ system, snapshotter, root, state });
  const facts = { version: VERSION, cgroupDriver: 'cgroupfs' as const };
  return {
    images,
    files,
    tasks,
    network,
    controllers,
    specs: new OciContainerSpecs({ files, controllers, containers, cgroupsPath: cgroupOf, host: host.kernel }),
    statistics: new CgroupStatistics({
      ...records,
      system,
      logger,
      cgroups: host.cgroups,
      cgroupsPath: cgroupOf,
      controllers,
      snapshotter,
      files,
      root,
    }),
    dial: createPortDialer({ system, logger }),
    facts: {
      ...facts,
      recursiveReadOnlyHandlers: recursiveReadOnly(host, options.ociRuntime),
      info: { host, snapshotter: reason },
    },
    async close() {
      tasks.close();
      await Promise.all([images.close(), unpacker[Symbol.asyncDispose]()]);
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
const STATE_FOLDERS = ['ns', 'sandboxes', 'containers', 'tasks', 'oci', 'init', 'network', 'host'];

function probe({ state, cgroupParent, ociRuntime, conmon, network }: RuntimeOptions): Promise<HostAbilities> {
  return probeHost({ state: join(state, 'host'), cgroupParent, ociRuntime, conmon, cniBinDirs: network.binDirs });
}

async function openTasks(
  { state, ociRuntime, conmon, logger }: RuntimeOptions,
  host: HostAbilities,
): Promise<OciTaskRuntime> {
  return OciTaskRuntime.open({
    state: join(state, 'oci'),
    conmon: host.conmon?.path ?? (await requireProgram(conmon)),
    program: chooseOciRuntime(host.ociRuntimes, ociRuntime),
    handlers: handlersOf(host),
    cgroups: host.cgroups,
    logger,
  });
}

/** Each OCI runtime that works is a runtime handler by its name. */
function handlersOf({ ociRuntimes }: HostAbilities) {
  return Object.fromEntries(ociRuntimes.flatMap((found) => (found.works ? [[found.name, found.program]] : [])));
}

/** Handlers, the default among them, whose OCI runtime can mount read-only recursively. */
function recursiveReadOnly({ ociRuntimes }: HostAbilities, asked: string): Set<string> {
  const able = ociRuntimes.filter(({ works, features }) => works && features.recursiveReadonlyMounts);
  const fallback = chooseOciRuntime(ociRuntimes, asked);
  return new Set(able.flatMap(({ name }) => (name === fallback.name ? ['', name] : [name])));
}
