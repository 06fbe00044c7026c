import { podBandwidth } from '@podwright/cni';
import type { NetworkRequest } from '../network/network.ts';
import type { SandboxRecord } from '../records/sandbox-record.ts';

/** What the network is told about a sandbox; the same at set-up and at tear-down, also after a restart. */
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

/** As `networkRequest`, but never throws: what no network was ever set up with must not keep a sandbox from being removed. */
export function tearDownRequest(sandbox: SandboxRecord, netnsPath: string): NetworkRequest {
  try {
    return networkRequest(sandbox, netnsPath);
  } catch {
    return networkRequest({ ...sandbox, config: { ...sandbox.config, annotations: {} } }, netnsPath);
  }
}

/** As `networkRequest`, for a sandbox that has no record: its id alone says what to tear down. */
export function recordlessRequest(sandboxId: string, netnsPath = ''): NetworkRequest {
  return { sandboxId, podName: '', podNamespace: '', podUid: '', netnsPath, portMappings: [] };
}
