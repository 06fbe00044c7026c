import { PodwrightError } from '@podwright/base';
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
    bandwidth: bandwidth(config.annotations),
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

/** The pod's bandwidth annotations, in bits a second; undefined without any. */
function bandwidth(annotations: Record<string, string>): NetworkRequest['bandwidth'] {
  const ingressRate = rate(annotations, 'kubernetes.io/ingress-bandwidth');
  const egressRate = rate(annotations, 'kubernetes.io/egress-bandwidth');
  return ingressRate === undefined && egressRate === undefined ? undefined : { ingressRate, egressRate };
}

const SUFFIXES: Record<string, number> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
};
/** The kubelet's bounds for a bandwidth: 1k to 1P. */
const MIN_RATE = 1e3;
const MAX_RATE = 1e15;

/** A quantity such as `10M`. */
function rate(annotations: Record<string, string>, name: string): number | undefined {
  const text = annotations[name];
  if (text === undefined) return undefined;
  const match = /^(\d+(?:\.\d+)?)(k|[MGTP]|[KMGTP]i)?$/.exec(text);
  const value = match === null ? Number.NaN : Math.round(Number(match[1]) * SUFFIXES[match[2] ?? '']!);
  if (!(value >= MIN_RATE && value <= MAX_RATE)) {
    throw new PodwrightError('invalid_argument', `read ${name} "${text}": it must be a quantity from 1k to 1P`);
  }
  return value;
}
