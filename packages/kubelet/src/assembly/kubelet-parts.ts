import { join } from 'node:path';
import type { CriClient } from '@podwright/cri';
import {
  type Container,
  type EventRecorder,
  LocalObjects,
  matchesTerm,
  type Node,
  type ObjectLookup,
  type Pod,
  type PodObjects,
} from '@podwright/kube-api';
import type { PluginHandlers } from '@podwright/placement';
import { type PodSourceListener, type PodSources, startPodSources } from '@podwright/pod-config';
import {
  builtinVolumePlugins,
  ClaimVolumes,
  CsiPlugin,
  csiPersistentVolumes,
  DeviceMaps,
  LocalBlockVolumes,
  type Mounter,
  type PersistentVolumesOptions,
  PersistentVolumesPlugin,
  PodDirectories,
  type PodTokens,
  type PodVolumes,
  ProgramLoopDevices,
  ProgramMounter,
  persistentVolumeKinds,
  StorageMetrics,
  VolumeManager,
  type VolumePlugin,
} from '@podwright/volumes';
import type { PodFreezer } from '../cgroups/pod-freezer.ts';
import { ContainerPreparer } from '../container/prepare-container.ts';
import type { ContainerGrants } from '../container/prepared-container.ts';
import { CriCommandRunner } from '../kuberuntime/cri-command-runner.ts';
import type { KuberuntimeDependencies } from '../kuberuntime/dependencies.ts';
import { type HookRunner, LifecycleHooks } from '../kuberuntime/lifecycle-hooks.ts';
import type { NodeResources } from '../node/node-resources.ts';
import type { KubeletOptions } from '../options.ts';
import type { PodNeeds } from '../pod/pod-syncer-dependencies.ts';
import type { PodProbes } from '../prober/pod-probes.ts';
import { ProberManager } from '../prober/prober-manager.ts';
import { createNodePlugins, type NodePlugins, type PluginCluster } from './node-plugins.ts';

/** API server objects and services that pods depend on. */
export type ApiParts = PodNeeds & {
  /**
   * Returns the lookup for ConfigMaps, Secrets and other objects that pods refer to. Pods from manifests use the node's own objects,
   * `ofManifests`.
   */
  objects(ofManifests: ObjectLookup): PodObjects;
  tokens: PodTokens;
  serviceVariables(pod: Pod): ReadonlyMap<string, string>;
  /** Returns the PersistentVolume that a claim is bound to. */
  volumeOf: PersistentVolumesOptions['volumeOf'];
  /** Returns the cached Node object, or `undefined` before it has been read. */
  node(): Node | undefined;
  /** Reads the Node object from the API server. */
  readNode(): Promise<Node>;
};

/** The kubelet parts that a caller can replace. */
export type KubeletParts = {
  /** The objects defined in manifests. */
  objects: LocalObjects;
  /** The lookup for objects that pods refer to, either from manifests or from the API server. */
  podObjects: PodObjects;
  /** API server objects and services; absent if there is no API server. */
  api?: ApiParts;
  volumes: PodVolumes;
  claims: ClaimVolumes;
  /** The node plugins' access to the API server; absent if there is none. */
  pluginCluster?: PluginCluster;
  nodePlugins: NodePlugins;
  probes: PodProbes;
  hooks: HookRunner;
  prepare: KuberuntimeDependencies['prepare'];
  /** Starts reading the pod sources. Each source's first update contains all of its pods. */
  startSources: (listener: PodSourceListener) => PodSources;
};

export type KubeletPartsInput = {
  options: KubeletOptions;
  cri: CriClient;
  events: EventRecorder;
  hostIps: () => string[];
  freezer: Pick<PodFreezer, 'wasFrozen'>;
  /** The resources that all of the node's pods together may request. */
  resources: NodeResources;
  /** Handles device plugins that register in the plugin registration directory, which all plugin types share. */
  devicePlugins?: PluginHandlers['DevicePlugin'];
  /** Returns the devices, CPUs and NUMA memory nodes for a container that is about to start. */
  grantsOf: (pod: Pod, container: Container) => Promise<ContainerGrants | undefined>;
};

/** Returns the given parts, plus default implementations of the rest. */
export function kubeletParts(input: KubeletPartsInput, given: Partial<KubeletParts>): KubeletParts {
  const { options, cri, events, hostIps, resources } = input;
  const { logger, clusterDomain } = options;
  const objects = given.objects ?? new LocalObjects();
  const directories = new PodDirectories(options.rootDir);
  const nodeAllocatable = {
    cpuMillis: resources.cpu ?? 0n,
    memoryBytes: resources.memory ?? 0n,
    ephemeralStorageBytes: resources['ephemeral-storage'] ?? 0n,
  };
  const mounter = new ProgramMounter(options.tmpfs);
  const maps = new DeviceMaps({ mounter, loops: new ProgramLoopDevices(), events });
  const storageMetrics = options.metrics && new StorageMetrics(options.metrics);
  const claims = new ClaimVolumes(options.rootDir, logger);
  const cluster = given.pluginCluster;
  const nodePlugins =
    given.nodePlugins ??
    createNodePlugins({
      ...{ options, events, objects, mounter, directories, maps, storageMetrics, cluster },
      devices: input.devicePlugins,
    });
  const { api } = given;
  const podObjects = api?.objects(objects) ?? objects;
  const plugins = [
    ...builtinVolumePlugins({
      ...{ mounter, objects: podObjects, nodeAllocatable, claims, tokens: api?.tokens },
      claimPlugin: api && claimPlugin({ api, options, mounter, maps, nodePlugins }),
    }),
    new CsiPlugin(nodePlugins.csi, nodePlugins.csiBlock),
  ];
  const volumes =
    given.volumes ??
    new VolumeManager({ directories, plugins, mounter, logger, metrics: options.metrics, storageMetrics });
  const commands = new CriCommandRunner(cri);
  const preparer = new ContainerPreparer({
    volumes,
    directories,
    objects: podObjects,
    nodeAllocatable,
    hostIps,
    clusterDomain,
    hostsFile: '/etc/hosts',
    serviceVariables: api && ((pod) => api.serviceVariables(pod)),
  });
  const { manifestDir, manifestUrl, manifestUrlHeaders, sourcePeriods, nodeName } = options;
  const ofCluster = options.cluster !== undefined;
  const sources = {
    ...{ manifestDir, manifestUrl, manifestUrlHeaders, sourcePeriods, nodeName, ofCluster, objects, logger },
    savedManifestsDir: join(options.rootDir, 'valid-manifests'),
  };
  return {
    objects,
    podObjects,
    volumes,
    claims,
    nodePlugins,
    probes: new ProberManager({
      ...{ commands, events, metrics: options.metrics },
      wasFrozen: (podUid, sinceMs) => input.freezer.wasFrozen(podUid, sinceMs),
    }),
    hooks: new LifecycleHooks({ commands, events, metrics: options.metrics }),
    prepare: async (request, signal) => {
      const grants = await input.grantsOf(request.pod, request.container);
      return { ...(await preparer.prepare(request, signal)), grants };
    },
    startSources: (listener) => startPodSources({ ...listener, ...sources }),
    ...given,
  };
}

/** Returns a volume plugin for PersistentVolumes that the API server has bound to claims. */
function claimPlugin({
  api,
  options,
  mounter,
  maps,
  nodePlugins: { csi, csiBlock },
}: {
  api: ApiParts;
  options: KubeletOptions;
  mounter: Mounter;
  maps: DeviceMaps;
  nodePlugins: NodePlugins;
}): (ofManifests: VolumePlugin) => VolumePlugin {
  const { rootDir } = options;
  const directories = new PodDirectories(rootDir);
  const devices = new LocalBlockVolumes({ maps, directories, rootDir });
  return (ofManifests) =>
    new PersistentVolumesPlugin({
      kinds: [...persistentVolumeKinds(mounter, devices), csiPersistentVolumes(csi, csiBlock)],
      directories,
      unmapDevices: (podUid) => devices.unmap(podUid),
      volumeOf: (pod, claimName, signal) => api.volumeOf(pod, claimName, signal),
      fitsNode: ({ spec }) => {
        const node = { name: options.nodeName, labels: api.node()?.metadata.labels ?? options.nodeLabels };
        const terms = spec.nodeAffinity?.required?.nodeSelectorTerms;
        return terms === undefined || terms.some((term) => matchesTerm(term, node));
      },
      ofManifests,
    });
}
