/** Kind-specific rules for creating and changing objects. The functions return new objects and modify none. */
import { readSigningRequest } from './certificates.ts';
import { type ApiObject, at, objectAt, textAt } from './json.ts';
import { POD_STRATEGY } from './pod-strategy.ts';
import type { ResourceKind } from './resource-kinds.ts';
import type { StatusCause } from './status-error.ts';
import type { UserInfo } from './user-info.ts';

export type CreateContext = { user: UserInfo; date: Date };

export type Strategy = {
  /** Completes a new object; removes the parts that only the server writes. */
  create: (object: ApiObject, context: CreateContext) => ApiObject;
  /** The result of a write of the main resource. */
  update: (object: ApiObject, old: ApiObject) => ApiObject;
  /** The results of writes of subresources, by name. */
  subresources: Record<string, (object: ApiObject, old: ApiObject) => ApiObject>;
  /** Errors in a new object. */
  checkNew: (object: ApiObject) => StatusCause[];
  /** Errors in a change of the main resource. */
  check: (object: ApiObject, old: ApiObject) => StatusCause[];
  /** Errors in a change through a subresource. */
  checks?: Record<string, (object: ApiObject, old: ApiObject) => StatusCause[]>;
};

const withStatus = (object: ApiObject, status: ApiObject['status']): ApiObject => {
  const { status: _, ...rest } = object;
  return status === undefined ? rest : { ...rest, status };
};

/** A status update may include labels and annotations, but neither the desired state nor owners. */
const statusOnly = (object: ApiObject, old: ApiObject): ApiObject => ({
  ...withStatus(old, object.status),
  metadata: { ...object.metadata, ownerReferences: old.metadata.ownerReferences },
});

const PLAIN: Strategy = {
  create: (object) => object,
  update: (object) => object,
  subresources: {},
  checkNew: () => [],
  check: () => [],
};

const WITH_STATUS: Strategy = {
  ...PLAIN,
  create: (object) => withStatus(object, undefined),
  update: (object, old) => withStatus(object, old.status),
  subresources: { status: statusOnly },
};

const NAMESPACE: Strategy = {
  ...WITH_STATUS,
  create: (object) => ({
    ...object,
    metadata: {
      ...object.metadata,
      labels: { ...object.metadata.labels, 'kubernetes.io/metadata.name': object.metadata.name ?? '' },
    },
    spec: { ...object.spec, finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  }),
  update: (object, old) => ({ ...withStatus(object, old.status), spec: old.spec }),
  subresources: {
    status: statusOnly,
    finalize: (object, old) => ({ ...old, spec: { ...old.spec, finalizers: at(object, 'spec', 'finalizers') ?? [] } }),
  },
};

const CERTIFICATE_REQUEST: Strategy = {
  ...WITH_STATUS,
  create: (object, { user }) => ({
    ...withStatus(object, {}),
    spec: { ...object.spec, username: user.username, groups: user.groups, ...(user.uid ? { uid: user.uid } : {}) },
  }),
  checkNew: certificateRequestCauses,
  update: (object, old) => ({ ...withStatus(object, old.status), spec: old.spec }),
  subresources: {
    status: (object, old) => ({
      ...statusOnly(object, old),
      status: { ...object.status, conditions: mixedConditions(object, old) },
    }),
    approval: (object, old) => ({
      ...old,
      metadata: object.metadata,
      status: { ...old.status, conditions: at(object, 'status', 'conditions') },
    }),
  },
};

function certificateRequestCauses(object: ApiObject): StatusCause[] {
  try {
    readSigningRequest(Buffer.from(textAt(object, 'spec', 'request'), 'base64').toString());
    return [];
  } catch (error) {
    const message = `Invalid value: ${error instanceof Error ? error.message : String(error)}`;
    return [{ reason: 'FieldValueInvalid', message, field: 'spec.request' }];
  }
}

/** The status subresource of a request cannot change its approval. */
function mixedConditions(object: ApiObject, old: ApiObject): unknown {
  return at(object, 'status', 'conditions') ?? at(old, 'status', 'conditions');
}

const SECRET: Strategy = {
  ...PLAIN,
  create: (object) => secretData(object),
  update: (object) => secretData(object),
  check: (object, old) => immutableCauses(object, old, ['data', 'type']),
};

/** `stringData` is write-only: it is converted to data. */
function secretData(object: ApiObject): ApiObject {
  const { stringData: _, ...rest } = object;
  const texts = Object.entries(objectAt(object, 'stringData'));
  const encoded = texts.map(([key, text]) => [key, Buffer.from(String(text)).toString('base64')]);
  const data = { ...objectAt(object, 'data'), ...Object.fromEntries(encoded) };
  return { ...rest, ...(Object.keys(data).length === 0 ? {} : { data }), type: at(object, 'type') ?? 'Opaque' };
}

const CONFIG_MAP: Strategy = {
  ...PLAIN,
  check: (object, old) => immutableCauses(object, old, ['data', 'binaryData']),
};

function immutableCauses(object: ApiObject, old: ApiObject, fields: string[]): StatusCause[] {
  if (old.immutable !== true) return [];
  const changed = fields.filter((field) => JSON.stringify(object[field]) !== JSON.stringify(old[field]));
  if (object.immutable !== true) changed.push('immutable');
  return changed.map((field) => ({
    reason: 'FieldValueForbidden',
    message: 'Forbidden: field is immutable when `immutable` is set',
    field,
  }));
}

/** Registration may include a status. */
const NODE: Strategy = {
  ...WITH_STATUS,
  create: (object) => ({ ...object, spec: object.spec ?? {}, status: object.status ?? {} }),
  update: (object, old) => withStatus(object, old.status),
};

const PERSISTENT_VOLUME: Strategy = {
  ...WITH_STATUS,
  create: (object) => ({
    ...object,
    spec: { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem', ...object.spec },
    status: { phase: 'Available' },
  }),
};

const PERSISTENT_VOLUME_CLAIM: Strategy = {
  ...WITH_STATUS,
  create: (object) => ({
    ...object,
    spec: { volumeMode: 'Filesystem', ...object.spec },
    status: { phase: 'Pending' },
  }),
};

const STRATEGIES: Record<string, Strategy> = {
  Pod: POD_STRATEGY,
  Node: NODE,
  Namespace: NAMESPACE,
  Secret: SECRET,
  ConfigMap: CONFIG_MAP,
  PersistentVolume: PERSISTENT_VOLUME,
  PersistentVolumeClaim: PERSISTENT_VOLUME_CLAIM,
  CertificateSigningRequest: CERTIFICATE_REQUEST,
};

export function strategyOf(kind: ResourceKind): Strategy {
  return STRATEGIES[kind.kind] ?? (kind.subresources.includes('status') ? WITH_STATUS : PLAIN);
}
