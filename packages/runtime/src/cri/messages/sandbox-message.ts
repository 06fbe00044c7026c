import {
  type MessageInitShape,
  matchesLabels,
  NamespaceMode,
  type NamespaceOptionSchema,
  type PodSandboxFilter,
  type PodSandboxSchema,
  PodSandboxState,
  type PodSandboxStatusSchema,
} from '@podwright/cri';
import { toNanoseconds } from '../../records/ids.ts';
import { isReady, type SandboxConfig, type SandboxRecord } from '../../records/sandbox-record.ts';

/** Builds a sandbox message for ListPodSandbox. */
export function criSandbox(record: SandboxRecord): MessageInitShape<typeof PodSandboxSchema> {
  return fields(record);
}

function fields(record: SandboxRecord) {
  return {
    id: record.id,
    metadata: sandboxMetadata(record.config),
    state: sandboxState(record),
    createdAt: toNanoseconds(record.createdAtMs),
    labels: record.config.labels,
    annotations: record.config.annotations,
    runtimeHandler: record.config.runtimeHandler,
  };
}

/** Builds a sandbox message for PodSandboxStatus. */
export function criSandboxStatus(record: SandboxRecord): MessageInitShape<typeof PodSandboxStatusSchema> {
  const [ip = '', ...others] = record.ips;
  return {
    ...fields(record),
    network: { ip, additionalIps: others.map((address) => ({ ip: address })) },
    linux: { namespaces: { options: namespaceOptions(record.config) } },
  };
}

/** Whether the sandbox matches the filter. An ID prefix in the filter must already have been expanded to the full ID. */
export function matchesSandbox(record: SandboxRecord, filter: PodSandboxFilter | undefined): boolean {
  if (filter === undefined) return true;
  if (filter.id !== '' && filter.id !== record.id) return false;
  if (filter.state !== undefined && filter.state.state !== sandboxState(record)) return false;
  return matchesLabels(record.config.labels, filter.labelSelector);
}

export function sandboxMetadata(config: SandboxConfig) {
  return { name: config.podName, uid: config.podUid, namespace: config.podNamespace, attempt: config.attempt };
}

function sandboxState(record: SandboxRecord): PodSandboxState {
  return isReady(record) ? PodSandboxState.SANDBOX_READY : PodSandboxState.SANDBOX_NOTREADY;
}

const MODES = { pod: NamespaceMode.POD, container: NamespaceMode.CONTAINER, node: NamespaceMode.NODE };

function namespaceOptions(config: SandboxConfig): MessageInitShape<typeof NamespaceOptionSchema> {
  const { network, ipc, pid, userNamespace } = config;
  const usernsOptions = userNamespace && { mode: NamespaceMode.POD, ...userNamespace };
  return { network: MODES[network], ipc: MODES[ipc], pid: MODES[pid], usernsOptions };
}
