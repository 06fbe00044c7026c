import { podBandwidth } from '@podwright/cni';
import type { NetworkRequest } from '../network/network.ts';
import type { SandboxRecord } from '../records/sandbox-record.ts';

/** The network's request for a sandbox: the same at setup and at teardown, even after a restart. */
export function networkRequest(sandbox: SandboxRecord, netnsPath: string): NetworkRequest {
  const { config } = sandbox;
  return {
    sandboxId: sandbox.id,
    podName: config.podName,
    podNamespace: config.podNamespace,
    podUid: config.podUid,
    netnsPath,
    portMappings: config.portMappings,
    bandwidth: podBandwidth(config.annotations),
    cgroupParent: config.cgroupParent === '' ? undefined : config.cgroupParent,
  };
}

/**
 * As `networkRequest`, but never throws: invalid annotations, which no network was set up with, must not prevent the removal of a
 * sandbox.
 */
export function tearDownRequest(sandbox: SandboxRecord, netnsPath: string): NetworkRequest {
  try {
    return networkRequest(sandbox, netnsPath);
  } catch {
    return networkRequest({ ...sandbox, config: { ...sandbox.config, annotations: {} } }, netnsPath);
  }
}

/** As `networkRequest`, for a sandbox without a record: the network is torn down by id only. */
export function recordlessRequest(sandboxId: string, netnsPath = ''): NetworkRequest {
  return { sandboxId, podName: '', podNamespace: '', podUid: '', netnsPath, portMappings: [] };
}
