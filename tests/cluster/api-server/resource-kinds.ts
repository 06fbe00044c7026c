/** The kinds of objects of the server, with their properties. */

export type ResourceKind = {
  group: string;
  version: string;
  plural: string;
  singular: string;
  kind: string;
  namespaced: boolean;
  shortNames: string[];
  /** Whether `metadata.generation` counts the changes of the desired state. */
  generation: boolean;
  /** Whether PUT creates a missing object. */
  createOnUpdate: boolean;
  /** Names of subresources, including `status`. */
  subresources: string[];
  /** Fields for field selectors in addition to metadata.name and metadata.namespace, with the value of an absent field. */
  selectable: Record<string, string>;
  /** Never stored: a request whose response is in the object's status. */
  review: boolean;
};

type Given = Partial<Omit<ResourceKind, 'plural' | 'kind'>>;

function kindsOf(group: string, version: string, rows: [plural: string, kind: string, given?: Given][]) {
  return rows.map(([plural, kind, given = {}]): ResourceKind => {
    return {
      group,
      version,
      plural,
      kind,
      singular: kind.toLowerCase(),
      namespaced: true,
      shortNames: [],
      generation: false,
      createOnUpdate: false,
      subresources: [],
      selectable: {},
      review: false,
      ...given,
    };
  });
}

const EMPTY = '';
const absentIs = (value: string, ...fields: string[]) => Object.fromEntries(fields.map((field) => [field, value]));

const POD: Given = {
  shortNames: ['po'],
  generation: true,
  subresources: [
    ...['status', 'binding', 'eviction', 'ephemeralcontainers', 'resize', 'log', 'exec', 'attach', 'portforward'],
    'proxy',
  ],
  selectable: {
    ...absentIs(EMPTY, 'spec.nodeName', 'spec.restartPolicy', 'spec.schedulerName', 'spec.serviceAccountName'),
    ...absentIs(EMPTY, 'status.phase', 'status.podIP', 'status.podIPs', 'status.nominatedNodeName'),
    'spec.hostNetwork': 'false',
  },
};

const EVENT: Given = {
  shortNames: ['ev'],
  createOnUpdate: true,
  selectable: absentIs(
    EMPTY,
    ...['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map(
      (field) => `involvedObject.${field}`,
    ),
    ...['reason', 'reportingComponent', 'source', 'type'],
  ),
};

const CORE = kindsOf('', 'v1', [
  ['bindings', 'Binding', { review: true }],
  [
    'configmaps',
    'ConfigMap',
    {
      shortNames: ['cm'],
    },
  ],
  ['endpoints', 'Endpoints', { shortNames: ['ep'], createOnUpdate: true }],
  ['events', 'Event', EVENT],
  ['limitranges', 'LimitRange', { shortNames: ['limits'] }],
  [
    'namespaces',
    'Namespace',
    {
      namespaced: false,
      shortNames: ['ns'],
      subresources: ['status', 'finalize'],
      selectable: absentIs(EMPTY, 'status.phase'),
    },
  ],
  [
    'nodes',
    'Node',
    {
      namespaced: false,
      shortNames: ['no'],
      subresources: ['status', 'proxy'],
      selectable: absentIs('false', 'spec.unschedulable'),
    },
  ],
  [
    'persistentvolumeclaims',
    'PersistentVolumeClaim',
    {
      shortNames: ['pvc'],
      subresources: ['status'],
    },
  ],
  [
    'persistentvolumes',
    'PersistentVolume',
    {
      namespaced: false,
      shortNames: ['pv'],
      subresources: ['status'],
    },
  ],
  ['pods', 'Pod', POD],
  ['resourcequotas', 'ResourceQuota', { shortNames: ['quota'], subresources: ['status'] }],
  ['secrets', 'Secret', { selectable: absentIs(EMPTY, 'type') }],
  ['serviceaccounts', 'ServiceAccount', { shortNames: ['sa'], subresources: ['token'] }],
  [
    'services',
    'Service',
    {
      shortNames: ['svc'],
      createOnUpdate: true,
      subresources: ['status', 'proxy'],
      selectable: absentIs(EMPTY, 'spec.clusterIP', 'spec.type'),
    },
  ],
]);

const WORKLOAD: Given = { generation: true, subresources: ['status'] };

const STORAGE = kindsOf('storage.k8s.io', 'v1', [
  ['csidrivers', 'CSIDriver', { namespaced: false, generation: true }],
  ['csinodes', 'CSINode', { namespaced: false }],
  ['csistoragecapacities', 'CSIStorageCapacity', {}],
  ['storageclasses', 'StorageClass', { namespaced: false, shortNames: ['sc'] }],
  ['volumeattachments', 'VolumeAttachment', { namespaced: false, subresources: ['status'] }],
]);

const RESOURCE = kindsOf('resource.k8s.io', 'v1', [
  ['deviceclasses', 'DeviceClass', { namespaced: false, generation: true }],
  ['resourceclaims', 'ResourceClaim', { subresources: ['status'] }],
  ['resourceclaimtemplates', 'ResourceClaimTemplate', {}],
  [
    'resourceslices',
    'ResourceSlice',
    { namespaced: false, generation: true, selectable: absentIs(EMPTY, 'spec.nodeName', 'spec.driver') },
  ],
]);

const REVIEW: Given = { namespaced: false, review: true };

export const RESOURCE_KINDS: readonly ResourceKind[] = [
  ...CORE,
  ...STORAGE,
  ...RESOURCE,
  ...kindsOf('apps', 'v1', [
    ['daemonsets', 'DaemonSet', { ...WORKLOAD, shortNames: ['ds'] }],
    ['deployments', 'Deployment', { ...WORKLOAD, shortNames: ['deploy'] }],
    ['replicasets', 'ReplicaSet', { ...WORKLOAD, shortNames: ['rs'] }],
    ['statefulsets', 'StatefulSet', { ...WORKLOAD, shortNames: ['sts'] }],
  ]),
  ...kindsOf('authentication.k8s.io', 'v1', [
    ['selfsubjectreviews', 'SelfSubjectReview', REVIEW],
    ['tokenreviews', 'TokenReview', REVIEW],
  ]),
  ...kindsOf('authorization.k8s.io', 'v1', [
    ['selfsubjectaccessreviews', 'SelfSubjectAccessReview', REVIEW],
    ['subjectaccessreviews', 'SubjectAccessReview', REVIEW],
  ]),
  ...kindsOf('certificates.k8s.io', 'v1', [
    [
      'certificatesigningrequests',
      'CertificateSigningRequest',
      {
        namespaced: false,
        shortNames: ['csr'],
        subresources: ['status', 'approval'],
        selectable: absentIs(EMPTY, 'spec.signerName'),
      },
    ],
  ]),
  ...kindsOf('coordination.k8s.io', 'v1', [['leases', 'Lease', { createOnUpdate: true }]]),
  ...kindsOf('discovery.k8s.io', 'v1', [['endpointslices', 'EndpointSlice', { generation: true }]]),
  ...kindsOf('node.k8s.io', 'v1', [['runtimeclasses', 'RuntimeClass', { namespaced: false, createOnUpdate: true }]]),
  ...kindsOf('policy', 'v1', [
    [
      'poddisruptionbudgets',
      'PodDisruptionBudget',
      { generation: true, shortNames: ['pdb'], subresources: ['status'] },
    ],
  ]),
  ...kindsOf('scheduling.k8s.io', 'v1', [
    ['priorityclasses', 'PriorityClass', { namespaced: false, generation: true, shortNames: ['pc'] }],
  ]),
];

export const apiVersionOf = ({ group, version }: { group: string; version: string }): string =>
  group === '' ? version : `${group}/${version}`;

export function findKind(group: string, version: string, plural: string): ResourceKind | undefined {
  return RESOURCE_KINDS.find((kind) => kind.group === group && kind.version === version && kind.plural === plural);
}

/** A kind that the server itself uses. */
export function coreKind(plural: string): ResourceKind {
  const found = CORE.find((kind) => kind.plural === plural);
  if (found === undefined) throw new Error(`no kind has the plural ${plural}`);
  return found;
}

/** The kind of an object by its own fields. */
export function kindOfObject(object: { apiVersion?: string; kind?: string }): ResourceKind | undefined {
  return RESOURCE_KINDS.find((kind) => kind.kind === object.kind && apiVersionOf(kind) === object.apiVersion);
}
