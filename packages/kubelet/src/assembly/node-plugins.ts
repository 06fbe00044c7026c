/** What programs of others do for the node: they register at sockets. */
import { join } from 'node:path';
import { errorMessage } from '@podwright/base';
import type { LocalObjects } from '../config/local-objects.ts';
import { CsiDrivers, type DriverNodes } from '../csi/csi-drivers.ts';
import { type CsiObjects, loneCsiObjects } from '../csi/csi-objects.ts';
import { CsiPlaces } from '../csi/csi-places.ts';
import { CsiVolumes } from '../csi/csi-volumes.ts';
import type { KubeletOptions } from '../options.ts';
import type { PluginHandlers } from '../plugins/plugin-handler.ts';
import { PluginRegistry } from '../plugins/plugin-registry.ts';
import type { Mounter } from '../volumes/mounter.ts';
import type { PodDirectories } from '../volumes/pod-directories.ts';
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
  options: Pick<KubeletOptions, 'rootDir' | 'nodeName' | 'logger'>;
  objects: LocalObjects;
  mounter: Mounter;
  directories: PodDirectories;
  /** Absent without an API server. */
  cluster?: PluginCluster;
  /** Takes device plugins. */
  devices?: PluginHandlers['DevicePlugin'];
};

export type NodePlugins = {
  csi: CsiVolumes;
  /** Begins to look for plugins. `onDriver` is called when pods may have what they waited for. */
  start(onDriver: () => void): void;
  close(): Promise<void>;
};

/** Nobody to be told of drivers. */
const NO_NODES: DriverNodes = { install: async () => undefined, uninstall: async () => undefined };

/** Plugins register in `<rootDir>/plugins_registry`, and have their own sockets in `<rootDir>/plugins`, as with upstream. */
export function createNodePlugins({
  options,
  objects,
  mounter,
  directories,
  cluster,
  devices,
}: NodePluginsInput): NodePlugins {
  const { rootDir, nodeName, logger } = options;
  const known = Promise.withResolvers<void>();
  let tell: () => void = () => undefined;
  const drivers = new CsiDrivers({
    nodes: cluster?.driverNodes ?? NO_NODES,
    onRegistered: (driver) => {
      csi.driverRegistered(driver);
      tell();
    },
  });
  const csi: CsiVolumes = new CsiVolumes({
    ...{ drivers, nodeName, logger },
    objects: cluster?.csiObjects ?? loneCsiObjects((place) => secretStrings(objects, place)),
    places: new CsiPlaces({ pods: directories, rootDir, mounter }),
    driversKnown: known.promise,
    reportInUse: cluster?.reportInUse,
  });
  const registry = new PluginRegistry({
    directory: join(rootDir, 'plugins_registry'),
    handlers: { ...cluster?.handlers, CSIPlugin: drivers, DevicePlugin: devices },
    logger,
  });
  return {
    csi,
    start: (onDriver) => {
      tell = onDriver;
      csi
        .load()
        .catch((error: unknown) => logger.error({ error: errorMessage(error) }, 'read what is left of volumes'));
      void registry.start().finally(known.resolve);
    },
    close: () => registry.close(),
  };
}
