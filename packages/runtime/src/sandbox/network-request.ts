import { podBandwidth } from '@podwright/cni';
import type { NetworkRequest } from '../network/network.ts';
import type { SandboxRecord } from '../records/sandbox-record.ts';

/** The request to the network for a sandbox. It is the same for set-up and teardown, even after a restart. */
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
 * As `networkRequest`, but never throws. With invalid annotations no network was ever set up, and they must not prevent the removal of the
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
