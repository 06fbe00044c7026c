/** Moves objects that predate the server into its store, unchanged. */
import { type ObjectStore, Registries, type Write } from '@podwright/api-machinery';
import { type Failpoint, noFailpoint, PodwrightError } from '@podwright/base';
import { type ApiObject, CONVERSIONS, STRATEGIES } from '@podwright/kube-kinds';
import type { Resource, Schema } from '@podwright/kube-schema';
import { withDefaultTolerations } from './admission/default-tolerations.ts';
import { systemContext } from './system-context.ts';

/** Provides objects that existed before the server, such as those of a node without an API. */
export interface ImportSource {
  /** Name of the field manager that becomes the owner of the imported objects' fields. */
  manager: string;
  /** Returns all objects to import, complete with UIDs and creation times. */
  read(): Promise<readonly ApiObject[]>;
  /**
   * Called once all objects have been validated, before any of them is stored. From then on, objects would be missing if the node ran
   * without the API.
   */
  begin(): Promise<void>;
  /** Returns the labels and annotations applied by the manager. The object might have others, set by clients. */
  appliedMetadata(object: ApiObject): { labels?: object; annotations?: object };
  /**
   * Called once the objects are stored. `taken`: the objects that were not stored because the store already has another object of the same
   * name.
   */
  moved(objects: readonly ApiObject[], taken: readonly ApiObject[]): Promise<void>;
}

type ImportParts = { schema: Schema; store: ObjectStore; now: () => number; failpoint?: Failpoint };

/**
 * Stores the objects in one transaction, so that after a crash either all or none of them are present. Objects that are already stored with
 * the same UID were moved by an earlier start. Bypasses admission, which would add tokens to running pods. Throws `ApiError` if an object
 * is invalid.
 */
export async function importObjects(source: ImportSource, parts: ImportParts): Promise<void> {
  const { store, failpoint = noFailpoint } = parts;
  const objects = await source.read();
  if (objects.length === 0) return source.begin();
  await failpoint('import/read');
  const writes: Write[] = [];
  const taken: ApiObject[] = [];
  for (const object of objects) {
    const resource = resourceOf(parts.schema, object);
    const key = keyOf(resource, object);
    const existing = store.get(key)?.decode();
    if (existing === undefined)
      writes.push({ type: 'create', key, object: await completed(object, { ...parts, resource, source }) });
    else if (existing.metadata.uid !== object.metadata.uid) taken.push(object);
  }
  const namespaces = await missingNamespaces(objects, parts);
  await source.begin();
  await failpoint('import/begun');
  store.transaction([...namespaces, ...writes]);
  await store.untilDurable();
  await failpoint('import/stored');
  await source.moved(objects, taken);
  await failpoint('import/moved');
}

function resourceOf(schema: Schema, { apiVersion = '', kind }: ApiObject): Resource {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  const found = schema.resources.find((one) => one.group === group && one.version === version && one.kind === kind);
  if (found === undefined) throw new PodwrightError('invalid_argument', `import ${kind}: there is no such kind`);
  return found;
}

const keyOf = ({ group, plural, namespaced }: Resource, { metadata }: ApiObject) => ({
  resource: group === '' ? plural : `${plural}.${group}`,
  namespace: namespaced ? (metadata.namespace ?? '') : '',
  name: metadata.name ?? '',
});

/**
 * Returns an imported object as an apply would have created it: with defaults applied, validated, and with its fields owned by the manager.
 */
async function completed(
  whole: ApiObject,
  { schema, store, now, resource, source }: ImportParts & { resource: Resource; source: ImportSource },
): Promise<ApiObject> {
  const { status, ...object } = whole;
  const { uid, creationTimestamp, labels, annotations, ...others } = object.metadata;
  const metadata = { ...others, ...source.appliedMetadata(whole) };
  const registry = new Registries({ schema, strategies: STRATEGIES, conversions: CONVERSIONS, store }).for(resource);
  const { namespace, name } = keyOf(resource, object);
  const { assigned, given } = separated(object);
  const request = { mediaType: 'application/apply-patch+yaml', patch: { ...given, metadata }, force: true } as const;
  const context = { ...systemContext(now(), { manager: source.manager }), dryRun: true };
  const { object: made } = await registry.patch({ namespace, name }, request, context);
  const own = {
    ...made.metadata,
    ...{ uid, ...(creationTimestamp && { creationTimestamp }), ...(labels && { labels }) },
    ...(annotations && { annotations }),
  };
  const spec = assigned && { ...(made.spec as object), ...assigned };
  const imported = { ...made, metadata: own, ...(spec && { spec }), ...(status !== undefined && { status }) };
  // adds the default tolerations, because admission adds them to a pod on every update: without them here, the next apply would change the
  // pod
  return registry.toStored(resource.kind === 'Pod' ? withDefaultTolerations(imported) : imported);
}

/** `spec` fields set by binding. The manager that applied the object must not own them, because its next apply will not include them. */
const BOUND_FIELDS = ['nodeName', 'volumeName'];

function separated(object: Omit<ApiObject, 'status'>): { given: object; assigned: object | undefined } {
  const { spec } = object;
  if (typeof spec !== 'object' || spec === null) return { given: object, assigned: undefined };
  const isBound = ([name]: [string, unknown]) => BOUND_FIELDS.includes(name);
  const fields = Object.entries(spec);
  const rest = Object.fromEntries(fields.filter((field) => !isBound(field)));
  return { given: { ...object, spec: rest }, assigned: Object.fromEntries(fields.filter(isBound)) };
}

/**
 * Returns writes that create the missing namespaces of the imported objects. On a node without the API, objects can be in namespaces that
 * do not exist.
 */
async function missingNamespaces(objects: readonly ApiObject[], parts: ImportParts): Promise<Write[]> {
  const { schema, store, now } = parts;
  const names = new Set(objects.map(({ metadata }) => metadata.namespace || 'default'));
  const resource = schema.resource('', 'v1', 'namespaces')!;
  const registry = new Registries({ schema, strategies: STRATEGIES, conversions: CONVERSIONS, store }).for(resource);
  const writes: Write[] = [];
  for (const name of names) {
    const key = { resource: 'namespaces', namespace: '', name };
    if (store.get(key) !== undefined) continue;
    const object: ApiObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name }, spec: {}, status: {} };
    const made = await registry.create('', object, { ...systemContext(now()), dryRun: true });
    writes.push({ type: 'create', key, object: made });
  }
  return writes;
}
