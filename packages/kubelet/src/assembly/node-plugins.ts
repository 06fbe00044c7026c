/** The node's plugins: CSI drivers, DRA drivers and device plugins. They register through Unix sockets. */
import { join } from 'node:path';
import { background, errorMessage, Listeners, PodwrightError } from '@podwright/base';
import type { ObjectLookup } from '@podwright/kube-api';
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
  type Mounter,
  type PodDirectories,
  type StorageMetrics,
  seLinuxHost,
  standaloneCsiObjects,
  VolumeExpansion,
  VolumesInUse,
} from '@podwright/volumes';
import type { KubeletOptions } from '../options.ts';

/** The parts of the API server client that plugins need. */
export type PluginCluster = {
  csiObjects: CsiObjects;
  driverNodes: DriverNodes;
  /** Triggers a node status report, because the node status includes the volumes in use. */
  reportInUse: () => void;
  /** Handlers for plugins other than CSI drivers. */
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
  /** The plugins' access to the API server; absent if there is none. */
  cluster?: PluginCluster;
  devices?: PluginHandlers['DevicePlugin'];
};

export type NodePlugins = {
  csi: CsiVolumes;
  csiBlock: CsiBlockVolumes;
  volumesInUse: VolumesInUse;
  /** Starts watching for plugins. `onDriver` is called whenever a CSI driver registers, because pods may be waiting for it. */
  start(onDriver: () => void): void;
  close(): Promise<void>;
};

/** Does nothing when a CSI driver is registered: without an API server, there is no CSINode object to list the driver. */
const NO_NODES: DriverNodes = { install: async () => undefined, uninstall: async () => undefined };

/**
 * Creates the handlers of the node's plugins. As in upstream, plugins register in `<rootDir>/plugins_registry` and serve on their own
 * sockets in `<rootDir>/plugins`.
 */
export function createNodePlugins(input: NodePluginsInput): NodePlugins {
  const { options, cluster, devices } = input;
  const { rootDir, node, logger, metrics } = options;
  const known = Promise.withResolvers<void>();
  const registered = new Listeners<[driver: string]>();
  const drivers = new CsiDrivers({
    nodes: cluster?.driverNodes ?? NO_NODES,
    onRegistered: (driver) => registered.publish(driver),
    metrics: metrics && csiMetrics(metrics),
  });
  const volumesInUse = new VolumesInUse(cluster?.reportInUse, { hasNoController: !node.controllerAttachDetach });
  const { csi, csiBlock } = csiRooms(input, { drivers, inUse: volumesInUse, driversKnown: known.promise });
  registered.subscribe((driver) => {
    csi.driverRegistered(driver);
    csiBlock.driverRegistered(driver);
  });
  const registry = new PluginRegistry({
    directory: join(rootDir, 'plugins_registry'),
    handlers: { ...cluster?.handlers, CSIPlugin: drivers, DevicePlugin: devices },
    logger,
  });
  let loaded = Promise.resolve();
  return {
    ...{ csi, csiBlock, volumesInUse },
    start: (onDriver) => {
      registered.subscribe(() => onDriver());
      const load = allOf([csi.load(), csiBlock.load()]).catch((error: unknown) => {
        volumesInUse.keepReported();
        logger.error({ error: errorMessage(error) }, 'read what is left of volumes');
      });
      loaded = load.then(() => volumesInUse.loaded());
      // volumes must not be touched until CSI drivers can register
      const started = loaded.then(() => registry.start()).finally(known.resolve);
      background(logger, 'plugins cannot register', started);
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
  const csiObjects = cluster?.csiObjects ?? standaloneCsiObjects((key) => secretStrings(objects, key));
  const now = () => formatTime(Date.now());
  const expansion = new VolumeExpansion({ drivers: shared.drivers, objects: csiObjects, events, logger, now });
  const parts = { ...shared, objects: csiObjects, expansion, nodeName, logger, metrics: storageMetrics };
  return {
    csi: new CsiVolumes({ ...parts, seLinux: seLinuxHost(), paths: new CsiPaths({ pods, rootDir, mounter }) }),
    csiBlock: new CsiBlockVolumes({ ...parts, maps, paths: new CsiBlockPaths({ pods, rootDir, mounter }) }),
  };
}

/** Returns the data of one of the node's own Secrets as strings. Throws `not_found` with an API server's message. */
function secretStrings(
  objects: ObjectLookup,
  { namespace, name }: { namespace: string; name: string },
): Record<string, string> {
  const secret = objects.get('Secret', namespace, name);
  if (secret === undefined) throw new PodwrightError('not_found', `secrets "${name}" not found`);
  const decoded = Object.entries(secret.data ?? {}).map(([key, data]) => [key, Buffer.from(data, 'base64').toString()]);
  return { ...Object.fromEntries(decoded), ...secret.stringData };
}
