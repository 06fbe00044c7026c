import { mkdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { errorMessage, type Logger, PRIVATE_DIRECTORY } from '@podwright/base';
import type { ContainerStatus } from '@podwright/cri';
import { LocalObjects } from './config/local-objects.ts';
import { ManifestDirectory } from './config/manifest-directory.ts';
import { ManifestUrl, type ManifestUrlOptions } from './config/manifest-url.ts';
import { PodConfig } from './config/pod-config.ts';
import type { PodUpdate } from './config/pod-update.ts';
import { ContainerPreparer } from './container/prepare-container.ts';
import { terminationMessage } from './container/termination-message.ts';
import type { KubeletHandle } from './handle.ts';
import { startKubeletWith } from './kubelet.ts';
import { CriCommandRunner } from './kuberuntime/command-runner.ts';
import { decodeContainerInfo } from './kuberuntime/labels.ts';
import { LifecycleHooks } from './lifecycle/hook-runner.ts';
import type { KubeletOptions } from './options.ts';
import { ProberManager } from './prober/prober-manager.ts';
import type { KubeletRooms, PodSources, RoomsInput } from './rooms.ts';
import { builtinVolumePlugins } from './volumes/builtin-plugins.ts';
import { ProgramMounter } from './volumes/mounter.ts';
import { PodDirectories } from './volumes/pod-directories.ts';
import { VolumeManager } from './volumes/volume-manager.ts';

/** How often sources are read again though nothing seemed to change: upstream's fileCheckFrequency and httpCheckFrequency. */
const SOURCE_PERIOD_MS = 20_000;

/**
 * Runs the pods of the manifest folder (and URL) on a container runtime until the handle is closed; containers go on.
 * Rejects with `unavailable` or `unimplemented` if there is no CRI runtime at the endpoint.
 */
export function startKubelet(options: KubeletOptions): Promise<KubeletHandle> {
  return startKubeletWith(options, makeRooms);
}

function makeRooms({ options, cri, events, hostIps, allocatable }: RoomsInput): KubeletRooms {
  const { logger, clusterDomain } = options;
  const objects = new LocalObjects();
  const directories = new PodDirectories(options.rootDir);
  const mounter = new ProgramMounter();
  const nodeAllocatable = {
    cpuMillis: BigInt(availableParallelism()) * 1000n,
    memoryBytes: BigInt(allocatable.memoryBytes),
    ephemeralStorageBytes: 0n,
  };
  const plugins = builtinVolumePlugins({ mounter, objects, nodeAllocatable });
  const volumes = new VolumeManager({ directories, plugins, mounter, logger });
  const commands = new CriCommandRunner(cri);
  const preparer = new ContainerPreparer({
    volumes,
    directories,
    objects,
    nodeAllocatable,
    hostIps,
    clusterDomain,
    hostsFile: '/etc/hosts',
  });
  return {
    objects,
    volumes,
    probes: new ProberManager({ commands, events, logger }),
    hooks: new LifecycleHooks(commands),
    prepare: (request, signal) => preparer.prepare(request, signal),
    readEnd,
    startSources: (onUpdate) => startSources(options, { objects, onUpdate }),
  };
}

/** The message of a container that has ended, from the file that was mounted for it or from its log. */
function readEnd(status: ContainerStatus): Promise<string> {
  const info = decodeContainerInfo(status.labels, status.annotations);
  const mount = status.mounts.find(({ containerPath }) => containerPath === info?.terminationMessagePath);
  return terminationMessage({
    messagePath: mount?.hostPath ?? '',
    policy: info?.terminationMessagePolicy ?? 'File',
    exitCode: status.exitCode,
    logPath: status.logPath,
  });
}

function startSources(
  options: KubeletOptions,
  { objects, onUpdate }: { objects: LocalObjects; onUpdate: (update: PodUpdate) => void },
): PodSources {
  const { manifestDir, manifestUrl, nodeName, logger } = options;
  const config = new PodConfig({
    sources: manifestUrl === undefined ? ['file'] : ['file', 'http'],
    nodeName,
    objects,
    logger,
  });
  const stop = new AbortController();
  config.onUpdate(onUpdate);
  const directory = new ManifestDirectory({
    path: manifestDir,
    logger,
    resyncMs: SOURCE_PERIOD_MS,
    onChange: (snapshot) => config.set('file', snapshot),
  });
  const fromDirectory = mkdir(manifestDir, { recursive: true, mode: PRIVATE_DIRECTORY }).then(() =>
    directory.start(stop.signal),
  );
  const fromUrl = manifestUrl === undefined ? undefined : readUrl(manifestUrl, { config, logger, signal: stop.signal });
  return {
    ready: Promise.all([fromDirectory, fromUrl]).then(() => undefined),
    stop: async () => stop.abort(),
  };
}

/** Follows a manifest URL; resolves once it has answered for the first time. */
function readUrl(
  url: string,
  { config, logger, signal }: { config: PodConfig; logger: Logger; signal: AbortSignal },
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const onChange: ManifestUrlOptions['onChange'] = (snapshot) => {
    config.set('http', snapshot);
    resolve();
  };
  const source = new ManifestUrl({ url, headers: {}, logger, periodMs: SOURCE_PERIOD_MS, onChange });
  source.start(signal).catch((error: unknown) => {
    if (!signal.aborted) logger.error({ url, error: errorMessage(error) }, 'the manifest URL is read no more');
  });
  return promise;
}
