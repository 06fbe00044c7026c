import { findCondition, type KubeObject } from '@podwright/kube-api';
import { AGE, type Column, type KindTables, kindTable, NAME, NONE, text, wide } from './column.ts';
import { compare } from './selector-text.ts';

const UNKNOWN = '<unknown>';

type Node = KubeObject & {
  spec?: { unschedulable?: boolean };
  status?: {
    conditions?: { type: string; status: string }[];
    addresses?: { type: string; address: string }[];
    nodeInfo?: {
      kubeletVersion?: string;
      osImage?: string;
      kernelVersion?: string;
      architecture?: string;
      containerRuntimeVersion?: string;
    };
  };
};

const NODE: Column<Node>[] = [
  NAME,
  text('Status', 'Whether the node is ready, and open for new pods', stateOf),
  text('Roles', 'Roles of the node, from its labels', ({ metadata }) => rolesOf(metadata.labels).join(',') || NONE),
  AGE,
  text('Version', 'Version of its kubelet', ({ status }) => status?.nodeInfo?.kubeletVersion ?? ''),
  wide(text('Internal-IP', 'First internal IP address', addressOf('InternalIP'))),
  wide(text('External-IP', 'First external IP address', addressOf('ExternalIP'))),
  wide(text('OS-Image', 'Operating system', ({ status }) => status?.nodeInfo?.osImage || UNKNOWN)),
  wide(
    text('Kernel-Version', 'Version and architecture of the kernel', ({ status }) => {
      const { kernelVersion, architecture } = status?.nodeInfo ?? {};
      return architecture ? `${kernelVersion || UNKNOWN} (${architecture})` : kernelVersion || UNKNOWN;
    }),
  ),
  wide(
    text(
      'Container-Runtime',
      'Name and version of the container runtime',
      ({ status }) => status?.nodeInfo?.containerRuntimeVersion || UNKNOWN,
    ),
  ),
];

function stateOf({ spec, status }: Node): string {
  const ready = status?.conditions?.findLast(({ type }) => type === 'Ready');
  const state = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return spec?.unschedulable ? `${state},SchedulingDisabled` : state;
}

const ROLE_PREFIX = 'node-role.kubernetes.io/';

function rolesOf(labels: Record<string, string> = {}): string[] {
  const roles = Object.entries(labels).flatMap(([key, value]) => {
    if (key.startsWith(ROLE_PREFIX)) return key.slice(ROLE_PREFIX.length) || [];
    return key === 'kubernetes.io/role' ? value || [] : [];
  });
  return [...new Set(roles)].sort(compare);
}

function addressOf(wanted: string): Column<Node>['cell'] {
  return ({ status }) => status?.addresses?.find(({ type }) => type === wanted)?.address ?? NONE;
}

type RuntimeClass = KubeObject & { handler?: string };

const RUNTIME_CLASS: Column<RuntimeClass>[] = [
  NAME,
  text('Handler', "Name of the container runtime's configuration", ({ handler }) => handler ?? ''),
  AGE,
];

type Lease = KubeObject & { spec?: { holderIdentity?: string } };

const LEASE: Column<Lease>[] = [
  NAME,
  text('Holder', 'Holder of the lease', ({ spec }) => spec?.holderIdentity ?? ''),
  AGE,
];

type LeaseCandidate = KubeObject & {
  spec?: { leaseName?: string; binaryVersion?: string; emulationVersion?: string };
};

const LEASE_CANDIDATE: Column<LeaseCandidate>[] = [
  NAME,
  text('LeaseName', 'Lease that the candidate would hold', ({ spec }) => spec?.leaseName ?? ''),
  text('BinaryVersion', "Version of the candidate's program", ({ spec }) => spec?.binaryVersion ?? ''),
  text('EmulationVersion', 'Version as which it behaves', ({ spec }) => spec?.emulationVersion ?? ''),
  AGE,
];

type ComponentStatus = KubeObject & {
  conditions?: { type: string; status: string; message?: string; error?: string }[];
};

const healthOf = ({ conditions }: ComponentStatus) => findCondition(conditions, 'Healthy');

const COMPONENT_STATUS: Column<ComponentStatus>[] = [
  NAME,
  text('Status', 'Whether the component is healthy', (component) => {
    const health = healthOf(component);
    if (health === undefined) return 'Unknown';
    return health.status === 'True' ? 'Healthy' : 'Unhealthy';
  }),
  text('Message', 'What the component reports', (component) => healthOf(component)?.message ?? ''),
  text('Error', 'Why it is not healthy', (component) => healthOf(component)?.error ?? ''),
];

export const NODES: KindTables = {
  Node: kindTable(NODE),
  ComponentStatus: kindTable(COMPONENT_STATUS),
  'RuntimeClass.node.k8s.io': kindTable(RUNTIME_CLASS),
  'Lease.coordination.k8s.io': kindTable(LEASE),
  'LeaseCandidate.coordination.k8s.io': kindTable(LEASE_CANDIDATE),
};
