import { podBandwidth } from '@podwright/cni';
import type { NetworkRequest } from '../network/network.ts';
import type { SandboxRecord } from '../records/sandbox-record.ts';

/** Builds a sandbox's network request. It is the same for setup and teardown, even after a restart. */
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
 * Like `networkRequest`, but never throws: if the annotations are invalid, no network was ever set up, and they must not block the
 * sandbox's removal.
 */
export function tearDownRequest(sandbox: SandboxRecord, netnsPath: string): NetworkRequest {
  try {
    return networkRequest(sandbox, netnsPath);
  } catch {
    return networkRequest({ ...sandbox, config: { ...sandbox.config, annotations: {} } }, netnsPath);
  }
}

/** Like `networkRequest`, but for a sandbox without a record, whose network is torn down using only the sandbox ID. */
export function recordlessRequest(sandboxId: string, netnsPath = ''): NetworkRequest {
  return { sandboxId, podName: '', podNamespace: '', podUid: '', netnsPath, portMappings: [] };
}
