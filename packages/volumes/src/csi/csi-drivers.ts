import { errorCode, errorMessage, PodwrightError, statusNumber } from '@podwright/base';
import { asRpcError, type ConnectedService, codeName, connectService } from '@podwright/grpc';
import { CSI_PLUGIN } from '@podwright/kube-api';
import { MAX_PLUGIN_ANSWER_BYTES, type Plugin, type PluginHandler } from '@podwright/placement';
import { Node, type NodeGetInfoResponse } from '../csi-api.ts';
import type { CsiMetrics } from './csi-metrics.ts';
import { compareVersions, highestVersion, type Version } from './driver-versions.ts';
import { CSI_TIMEOUT_MS } from './limits.ts';

/** A driver's ID for this node, and its limits and topology on this node. */
export type DriverNodeInfo = {
  nodeId: string;
  /** Maximum number of volumes; 0 means no limit. */
  maxVolumes: number;
  /** The driver's topology segments for this node, used as node labels. */
  topology: Record<string, string>;
};

/** Publishes this node's CSI drivers in its Node and CSINode objects. */
export interface DriverNodes {
  install(driver: string, info: DriverNodeInfo): Promise<void>;
  uninstall(driver: string): Promise<void>;
}

export type CsiDriversOptions = {
  nodes: DriverNodes;
  /** Called once a driver can be called, to retry volumes that failed because it was missing. */
  onRegistered?: (driver: string) => void;
  metrics?: CsiMetrics;
};

type Registered = { endpoint: string; version: Version };

/** Connection to a driver's node service. */
export type NodeService = ConnectedService<typeof Node>;

/** The registered CSI drivers, through which all calls to them are made. */
export class CsiDrivers implements PluginHandler {
  readonly #options: CsiDriversOptions;
  readonly #drivers = new Map<string, Registered>();

  constructor(options: CsiDriversOptions) {
    this.#options = options;
  }

  validate(plugin: Plugin): void {
    if (!/^[a-z\d]([-a-z\d.]{0,61}[a-z\d])?$/i.test(plugin.name))
      throw new PodwrightError('invalid_argument', `"${plugin.name}" cannot be the name of a CSI driver`);
    try {
      this.#versionOf(plugin, 'ValidatePlugin');
    } catch (error) {
      const where = `validation failed for CSI Driver ${plugin.name} at endpoint ${plugin.endpoint}`;
      throw new PodwrightError('invalid_argument', `${where}: ${errorMessage(error)}`);
    }
  }

  async register(plugin: Plugin, signal: AbortSignal): Promise<void> {
    const { name, endpoint } = plugin;
    const registered = { endpoint, version: this.#versionOf(plugin, 'RegisterPlugin') };
    this.#drivers.set(name, registered);
    try {
      const info = await this.call(name, (node) => node.nodeGetInfo({}, { signal, timeoutMs: CSI_TIMEOUT_MS }));
      await this.#options.nodes.install(name, nodeInfo(info));
    } catch (error) {
      if (this.#drivers.get(name) === registered) this.#drivers.delete(name);
      throw error;
    }
    this.#options.onRegistered?.(name);
  }

  async deregister({ name, endpoint }: Plugin): Promise<void> {
    // the driver may already have been replaced by one with a higher version
    if (this.#drivers.get(name)?.endpoint !== endpoint) return;
    this.#drivers.delete(name);
    await this.#options.nodes.uninstall(name);
  }

  has(name: string): boolean {
    return this.#drivers.has(name);
  }

  /** Throws `not_found` with upstream's message if the driver is not registered. */
  require(name: string): void {
    if (!this.#drivers.has(name)) throw new PodwrightError('not_found', unknownDriver(name));
  }

  /**
   * Calls a driver over a new connection, which makes calls work after the driver restarts. Errors from the driver are formatted as by Go's
   * gRPC.
   */
  async call<T>(name: string, work: (node: NodeService) => Promise<T>): Promise<T> {
    this.require(name);
    const { endpoint } = this.#drivers.get(name)!;
    const node = connectService(Node, endpoint.replace(/^unix:(\/\/)?/, ''), {
      maxReceiveBytes: MAX_PLUGIN_ANSWER_BYTES,
      observer: { started: (call) => this.#started(name, call) },
    });
    try {
      return await work(node);
    } catch (error) {
      throw asRpcError(error);
    } finally {
      node.close();
    }
  }

  #started(driver: string, call: string): (error?: unknown) => void {
    const startedAtMs = performance.now();
    const method = `/${Node.typeName}/${call[0]!.toUpperCase()}${call.slice(1)}`;
    return (error) =>
      this.#options.metrics?.called(driver, {
        ...{ method, seconds: (performance.now() - startedAtMs) / 1000 },
        code: error === undefined ? 'OK' : codeName(statusNumber(errorCode(error))),
      });
  }

  /**
   * Returns the driver's version. Throws if no version is supported, or if a driver of the same name with the same or a higher version is
   * registered.
   */
  #versionOf({ name, versions }: Plugin, caller: string): Version {
    const failed = (why: string) =>
      new PodwrightError('failed_precondition', `${CSI_PLUGIN}: ${caller} for CSI driver "${name}" failed. ${why}`);
    if (versions.length === 0) throw failed('Plugin returned an empty list for supported versions');
    const highest = highestVersion(versions);
    if ('problem' in highest) {
      const quoted = versions.map((version) => `"${version}"`).join(' ');
      throw failed(`None of the versions specified [${quoted}] are supported. err=${highest.problem}`);
    }
    const known = this.#drivers.get(name);
    if (known !== undefined && compareVersions(known.version, highest) >= 0)
      throw failed(
        `Another driver with the same name is already registered with a higher supported version: "${known.version.text}"`,
      );
    return highest;
  }
}

function nodeInfo({ nodeId, maxVolumesPerNode, accessibleTopology }: NodeGetInfoResponse): DriverNodeInfo {
  return { nodeId, maxVolumes: Number(maxVolumesPerNode), topology: accessibleTopology?.segments ?? {} };
}

/** Returns upstream's message for an unregistered driver. */
export function unknownDriver(name: string): string {
  return `driver name ${name} not found in the list of registered CSI drivers`;
}
