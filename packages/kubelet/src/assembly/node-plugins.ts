/** What programs of others do for the node: they register at sockets. */
import { join } from 'node:path';
import { errorMessage } from '@podwright/base';
import { type EventRecorder, formatTime, type LocalObjects } from '@podwright/kube-api';
import { type PluginHandlers, PluginRegistry } from '@podwright/placement';
import {
  allOf,
  CsiBlockPaths,
  CsiBlockVolumes,
  CsiDrivers,
  type CsiObjects,
  CsiPaths,
  CsiVolumes,
  csiMetrics,
  type DeviceMaps,
  type DriverNodes,
  loneCsiObjects,
  type Mounter,
  type PodDirectories,
  type StorageMetrics,
  seLinuxHost,
  VolumeExpansion,
  VolumesInUse,
} from '@podwright/volumes';
import type { KubeletOptions } from '../options.ts';
import { secretStrings } from './secret-strings.ts';

/** What plugins have of an API server. */
export type PluginCluster = {
  csiObjects: CsiObjects;
  driverNodes: DriverNodes;
  /** Has the node's status sent soon. */
  reportInUse: () => void;
  /** Of plugins that are no CSI drivers. */
  handlers?: PluginHandlers;
};

export type NodePluginsInput = {
  options: Pick<KubeletOptions, 'rootDir' | 'nodeName' | 'node' | 'logger' | 'metrics'>;
  events: EventRecorder;
  objects: LocalObjects;
  mounter: Mounter;
  directories: PodDirectories;
  maps: DeviceMaps;
  storageMetrics?: StorageMetrics;
  /** Absent without an API server. */
  cluster?: PluginCluster;
  /** Takes device plugins. */
  devices?: PluginHandlers['DevicePlugin'];
};

export type NodePlugins = {
  csi: CsiVolumes;
  csiBlock: CsiBlockVolumes;
  volumesInUse: VolumesInUse;
  /** Begins to look for plugins. `onDriver` is called when pods may have what they waited for. */
  start(onDriver: () => void): void;
  close(): Promise<void>;
};

/** Nobody to be told of drivers. */
const NO_NODES: DriverNodes = { install: async () => undefined, uninstall: async () => undefined };

/** Plugins register in `<rootDir>/plugins_registry`, and have their own sockets in `<rootDir>/plugins`, as with upstream. */
export function createNodePlugins(input: NodePluginsInput): NodePlugins {
  const { options, cluster, devices } = input;
  const { rootDir, node, logger, metrics } = options;
  const known = Promise.withResolvers<void>();
  let tell: () => void = () => undefined;
  const drivers = new CsiDrivers({
    nodes: cluster?.driverNodes ?? NO_NODES,
    onRegistered: (driver) => {
      csi.driverRegistered(driver);
      csiBlock.driverRegistered(driver);
      tell();
    },
    metrics: metrics && csiMetrics(metrics),
  });
  const volumesInUse = new VolumesInUse(cluster?.reportInUse, { hasNoController: !node.controllerAttachDetach });
  const { csi, csiBlock } = csiRooms(input, { drivers, inUse: volumesInUse, driversKnown: known.promise });
  const registry = new PluginRegistry({
    directory: join(rootDir, 'plugins_registry'),
    handlers: { ...cluster?.handlers, CSIPlugin: drivers, DevicePlugin: devices },
    logger,
  });
  let loaded = Promise.resolve();
  return {
    ...{ csi, csiBlock, volumesInUse },
    start: (onDriver) => {
      tell = onDriver;
      const load = allOf([csi.load(), csiBlock.load()]).catch((error: unknown) => {
        volumesInUse.keepReported();
        logger.error({ error: errorMessage(error) }, 'read what is left of volumes');
      });
      loaded = load.then(() => volumesInUse.loaded());
      // without a driver no volume is touched
      void loaded.then(() => registry.start()).finally(known.resolve);
    },
    close: async () => {
      await loaded;
      await registry.close();
    },
  };
}

function csiRooms(
  { options, events, objects, mounter, directories: pods, maps, storageMetrics, cluster }: NodePluginsInput,
  shared: { drivers: CsiDrivers; inUse: VolumesInUse; driversKnown: Promise<void> },
) {
  const { rootDir, nodeName, logger } = options;
  const asked = cluster?.csiObjects ?? loneCsiObjects((place) => secretStrings(objects, place));
  const now = () => formatTime(Date.now());
  const expansion = new VolumeExpansion({ drivers: shared.drivers, objects: asked, events, logger, now });
  const parts = { ...shared, objects: asked, expansion, nodeName, logger, metrics: storageMetrics };
  return {
    csi: new CsiVolumes({ ...parts, seLinux: seLinuxHost(), paths: new CsiPaths({ pods, rootDir, mounter }) }),
    csiBlock: new CsiBlockVolumes({ ...parts, maps, paths: new CsiBlockPaths({ pods, rootDir, mounter }) }),
  };
}
