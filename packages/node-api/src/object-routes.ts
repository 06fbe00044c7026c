import type { ServerResponse } from 'node:http';
import { errorCode } from '@podwright/base';
import type { Event, LocalObject, Pod } from '@podwright/kube-api';
import {
  type Call,
  type Handler,
  isSet,
  type Method,
  type Route,
  readBody,
  sendJson,
  sendLine,
  statusObject,
} from '@podwright/kubelet-server';
import { discoveryRoutes } from './discovery-routes.ts';
import type { ApiKind, ApiObject, NodeBackend } from './node-backend.ts';
import { deleteGrace } from './query.ts';
import { parseFieldSelector, parseLabelSelector, type SelectableFields } from './selectors.ts';
import { asStatusPatch, metadataChange, sentKind } from './sent-patch.ts';
import { parseStatusPatch } from './status-patch.ts';
import { type IncludedObject, requestedTable, tableOf } from './table-answer.ts';
import { METRICS_VERSIONS } from './usage-routes.ts';

/** A resource type of the API: its kind, path, verbs and selectable fields. */
type Resource = {
  kind: ApiKind;
  apiVersion: string;
  plural: string;
  short?: string;
  namespaced: boolean;
  /** Whether clients can apply objects of this kind, and then delete and patch them. */
  applied: boolean;
  fields: SelectableFields<ApiObject>;
};

const NAMES: SelectableFields<ApiObject> = {
  'metadata.name': ({ metadata }) => metadata.name,
  'metadata.namespace': ({ metadata }) => metadata.namespace,
};
const forPods = (read: (pod: Pod) => string | undefined) => (object: ApiObject) => read(object as Pod) ?? '';
const forEvents = (read: (event: Event) => string | undefined) => (object: ApiObject) => read(object as Event) ?? '';
const forObjects = (read: (object: LocalObject) => string | undefined) => (object: ApiObject) =>
  read(object as LocalObject) ?? '';

const PODS: SelectableFields<ApiObject> = {
  ...NAMES,
  'spec.nodeName': forPods(({ spec }) => spec.nodeName),
  'spec.restartPolicy': forPods(({ spec }) => spec.restartPolicy),
  'spec.schedulerName': forPods(({ spec }) => spec.schedulerName),
  'spec.serviceAccountName': forPods(({ spec }) => spec.serviceAccountName),
  'spec.hostNetwork': forPods(({ spec }) => String(spec.hostNetwork ?? false)),
  'status.phase': forPods(({ status }) => status?.phase),
  'status.podIP': forPods(({ status }) => status?.podIP),
  'status.podIPs': forPods(({ status }) => status?.podIPs?.map(({ ip }) => ip).join(',')),
};
const EVENTS: SelectableFields<ApiObject> = {
  ...NAMES,
  'involvedObject.kind': forEvents(({ involvedObject }) => involvedObject.kind),
  'involvedObject.namespace': forEvents(({ involvedObject }) => involvedObject.namespace),
  'involvedObject.name': forEvents(({ involvedObject }) => involvedObject.name),
  'involvedObject.uid': forEvents(({ involvedObject }) => involvedObject.uid),
  'involvedObject.apiVersion': forEvents(({ involvedObject }) => involvedObject.apiVersion),
  'involvedObject.fieldPath': forEvents(({ involvedObject }) => involvedObject.fieldPath),
  reason: forEvents(({ reason }) => reason),
  source: forEvents(({ source }) => source.component),
  type: forEvents(({ type }) => type),
};

const RESOURCES: Resource[] = [
  { kind: 'Pod', apiVersion: 'v1', plural: 'pods', short: 'po', namespaced: true, applied: true, fields: PODS },
  {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    plural: 'configmaps',
    short: 'cm',
    namespaced: true,
    applied: true,
    fields: NAMES,
  },
  {
    kind: 'Secret',
    apiVersion: 'v1',
    plural: 'secrets',
    namespaced: true,
    applied: true,
    fields: { ...NAMES, type: forObjects((object) => (object.kind === 'Secret' ? object.type : '')) },
  },
  {
    kind: 'PersistentVolumeClaim',
    apiVersion: 'v1',
    plural: 'persistentvolumeclaims',
    short: 'pvc',
    namespaced: true,
    applied: true,
    fields: NAMES,
  },
  {
    kind: 'RuntimeClass',
    apiVersion: 'node.k8s.io/v1',
    plural: 'runtimeclasses',
    namespaced: false,
    applied: true,
    fields: NAMES,
  },
  { kind: 'Event', apiVersion: 'v1', plural: 'events', short: 'ev', namespaced: true, applied: false, fields: EVENTS },
  { kind: 'Node', apiVersion: 'v1', plural: 'nodes', short: 'no', namespaced: false, applied: false, fields: NAMES },
];

/** The status subresource, for clients to set their own conditions (`kubectl patch --subresource=status`). */
const POD_STATUS = {
  kind: 'Pod',
  apiVersion: 'v1',
  plural: 'pods/status',
  singular: '',
  namespaced: true,
  shortNames: [],
  verbs: ['get', 'patch'],
};

/** The resource types of the resource metrics API, served by `usageRoutes`. */
const METRICS = METRICS_VERSIONS.flatMap((apiVersion) => [
  { apiVersion, kind: 'PodMetrics', plural: 'pods', namespaced: true, shortNames: [], verbs: ['list'] },
  { apiVersion, kind: 'NodeMetrics', plural: 'nodes', namespaced: false, shortNames: [], verbs: ['list'] },
]);

/** Serves list, watch, get, delete and patch of objects at the same paths as Kubernetes, and the corresponding discovery documents. */
export function objectRoutes(backend: NodeBackend): Route[] {
  const discovered = RESOURCES.map(({ short, applied, ...resource }) => ({
    ...resource,
    shortNames: short === undefined ? [] : [short],
    verbs: ['get', 'list', 'watch', ...(applied ? ['delete', 'patch'] : [])],
  }));
  return [
    ...discoveryRoutes([...discovered, POD_STATUS, ...METRICS]),
    ...podStatusRoutes(backend),
    ...RESOURCES.flatMap((resource) => routesOf(resource, backend)),
  ];
}

function routesOf(resource: Resource, backend: NodeBackend): Route[] {
  const { apiVersion, plural, namespaced, applied } = resource;
  const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const route = (method: Method, path: string, handler: Handler): Route => ({ method, path: base + path, handler });
  const collection = namespaced ? [`/${plural}`, `/namespaces/:namespace/${plural}`] : [`/${plural}`];
  const one = namespaced ? `/namespaces/:namespace/${plural}/:name` : `/${plural}/:name`;
  const reading = [
    ...collection.map((path) => route('GET', path, (call) => list(resource, backend, call))),
    route('GET', one, async ({ request, response, query, params }) => {
      const included = requestedTable(request.headers, query);
      const object = backend.get(nameOf(resource, params));
      sendJson(response, included === undefined ? object : tableOf(resource.kind, [object], { included }));
    }),
  ];
  if (!applied) return reading;
  const changing = [
    route('DELETE', one, async ({ response, query, params }) => {
      await backend.remove(nameOf(resource, params), deleteGrace(query));
      sendJson(response, { apiVersion: 'v1', kind: 'Status', metadata: {}, status: 'Success' });
    }),
    route('PATCH', one, async ({ request, response, params }) => {
      const kind = sentKind(request.headers['content-type']);
      const body = await readBody(request);
      sendJson(response, await backend.patch(nameOf(resource, params), metadataChange(kind, body)));
    }),
  ];
  return [...reading, ...changing];
}

function podStatusRoutes(backend: NodeBackend): Route[] {
  const path = '/api/v1/namespaces/:namespace/pods/:name/status';
  const named = ({ namespace, name }: Call['params']) => ({ namespace: namespace!, name: name! });
  const get: Handler = async ({ response, params }) =>
    sendJson(response, backend.get({ kind: 'Pod', ...named(params) }));
  const patch: Handler = async ({ request, response, params }) => {
    const kind = sentKind(request.headers['content-type']);
    const body = await readBody(request);
    const pod = named(params);
    const text = kind === 'json' ? asStatusPatch(body, backend.get({ kind: 'Pod', ...pod }) as Pod) : body;
    sendJson(response, backend.patchStatus(pod, parseStatusPatch(text, kind === 'merge' ? 'merge' : 'strategic')));
  };
  return [
    { method: 'GET', path, handler: get },
    { method: 'PATCH', path, handler: patch },
  ];
}

const nameOf = ({ kind }: Resource, params: Call['params']) => ({
  kind,
  namespace: params.namespace ?? '',
  name: params.name!,
});

async function list(resource: Resource, backend: NodeBackend, call: Call): Promise<void> {
  const selects = selectorOf(resource, call);
  if (isSet(call.query, 'watch')) return watch({ resource, backend, selects }, call);
  const items = backend.list(resource.kind).filter(selects);
  const { apiVersion, kind } = resource;
  const included = requestedTable(call.request.headers, call.query);
  if (included !== undefined) return sendJson(call.response, tableOf(kind, items, { included }));
  sendJson(call.response, { apiVersion, kind: `${kind}List`, metadata: {}, items });
}

/** Returns a filter for the path's namespace and the query's selectors. */
function selectorOf({ fields }: Resource, { query, params }: Call): (object: ApiObject) => boolean {
  const byLabels = parseLabelSelector(query.get('labelSelector') ?? '');
  const byFields = parseFieldSelector(query.get('fieldSelector') ?? '', fields);
  return (object) => {
    const { namespace, labels } = object.metadata;
    return (params.namespace === undefined || params.namespace === namespace) && byLabels(labels) && byFields(object);
  };
}

type Watched = { resource: Resource; backend: NodeBackend; selects: (object: ApiObject) => boolean };

/**
 * Sends the existing objects as ADDED, then the changes. An object that starts to match the selectors is sent as ADDED; one that stops
 * matching is sent as DELETED. With `sendInitialEvents=true`, a BOOKMARK follows the existing objects (streaming lists).
 */
async function watch(
  { resource, backend, selects }: Watched,
  { request, response, query, signal }: Call,
): Promise<void> {
  const shownAs = shownObjects(resource.kind, requestedTable(request.headers, query));
  const { present, changes } = backend.watch(resource.kind, signal);
  const shown = new Set<string>();
  response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
  for (const object of present.filter(selects)) {
    shown.add(keyOf(object));
    await sendLine(response, { type: 'ADDED', object: shownAs(object) });
  }
  if (isSet(query, 'sendInitialEvents')) await sendLine(response, initialEventsEnd(resource));
  for await (const { type: change, object } of untilOverflow(changes, response)) {
    const key = keyOf(object);
    const before = shown.has(key);
    const now = change !== 'DELETED' && selects(object);
    if (now) shown.add(key);
    else shown.delete(key);
    if (!before && !now) continue;
    const type = before ? (now ? 'MODIFIED' : 'DELETED') : 'ADDED';
    await sendLine(response, { type, object: shownAs(object) });
  }
  response.end();
}

/** Ends the watch of a client that reads too slowly with 410 Expired, which makes Kubernetes clients relist and watch again. */
async function* untilOverflow<T>(changes: AsyncIterable<T>, response: ServerResponse): AsyncGenerator<T> {
  try {
    yield* changes;
  } catch (error) {
    if (errorCode(error) !== 'resource_exhausted') throw error;
    await sendLine(response, { type: 'ERROR', object: { ...statusObject(error), reason: 'Expired', code: 410 } });
  }
}

/**
 * Returns a function that formats the objects of a watch: either plain objects, or one table per object, with column definitions only in
 * the first.
 */
function shownObjects(kind: ApiKind, included: IncludedObject | undefined): (object: ApiObject) => object {
  if (included === undefined) return (object) => object;
  let columnsKnown = false;
  return (object) => {
    const table = tableOf(kind, [object], { included, columnsKnown });
    columnsKnown = true;
    return table;
  };
}

/** Returns the key of an object in a watch. It includes the UID, because a pod with the name of an earlier one is a different object. */
function keyOf({ metadata: { uid, namespace, name } }: ApiObject): string {
  return `${uid} ${namespace}/${name}`;
}

function initialEventsEnd({ kind, apiVersion }: Resource): object {
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  return { type: 'BOOKMARK', object: { apiVersion, kind, metadata: { annotations } } };
}
