/** The owners of an object, the objects it owns and uses, and the Services that select it. */
import { podSummary } from '@podwright/kube-api';
import type { ComponentChildren } from 'preact';
import type { KubeObject, ObjectName, Pod, Resource, ServiceObject } from '../api/objects.ts';
import { call } from '../api/request.ts';
import { builtIn, pathOf } from '../api/resources.ts';
import { useAnswer } from '../state/answer.ts';
import { type App, useApp } from '../state/app.ts';
import { OWNED_KINDS, ownedBy, ownerOf, type Relation, selectsPod, usedBy } from '../state/relations.ts';
import { countText } from '../state/text.ts';
import { ObjectLink, Text, Waiting } from '../widgets/marks.tsx';
import { Panel } from '../widgets/panel.tsx';

type Tree = { object: ObjectName; note: string; parts: Tree[] };

type Related = { owners: Tree[]; owned: Tree[]; used: Relation[]; services: Relation[] };

/** Maximum length of the chain of owners. */
const MAX_DEPTH = 5;
const PERIOD_MS = 15_000;

export function RelationsPanel({ resource, object }: { resource: Resource; object: KubeObject }) {
  const app = useApp();
  const { value, isReading } = useAnswer((signal) => relate(app, { resource, object, signal }), [object.metadata.uid], {
    periodMs: PERIOD_MS,
  });
  if (value === undefined) return isReading ? <Panel title="Belongs to">{<Waiting />}</Panel> : null;
  const { owners, owned, used, services } = value;
  if (owners.length + owned.length + used.length + services.length === 0) return null;
  const namespace = object.metadata.namespace ?? '';
  const self: Tree = {
    object: { kind: resource.kind, namespace, name: object.metadata.name ?? '' },
    note: 'this object',
    parts: owned,
  };
  const tree = owners.reduce<Tree>((below, owner) => ({ ...owner, parts: [below] }), self);
  return (
    <Panel title="Belongs to">
      <div class="map">
        <Branch tree={tree} self={self} />
      </div>
      <RelationList title="Uses" relations={used} />
      <RelationList title="Selected by" relations={services} />
    </Panel>
  );
}

function Branch({ tree, self }: { tree: Tree; self: Tree }): ComponentChildren {
  return (
    <ul>
      <li>
        {tree === self ? (
          <strong>
            {tree.object.kind} {tree.object.name}
          </strong>
        ) : (
          <ObjectLink object={tree.object} withKind />
        )}{' '}
        <span class="faint">
          <Text>{tree.note}</Text>
        </span>
        {tree.parts.map((part) => (
          <Branch key={`${part.object.kind}/${part.object.name}`} tree={part} self={self} />
        ))}
      </li>
    </ul>
  );
}

function RelationList({ title, relations }: { title: string; relations: readonly Relation[] }) {
  if (relations.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul class="relations">
        {relations.map(({ object, note }) => (
          <li key={`${object.kind}/${object.name}`}>
            <span class="faint">{note}</span> <ObjectLink object={object} withKind />
          </li>
        ))}
      </ul>
    </>
  );
}

type Start = { resource: Resource; object: KubeObject; signal: AbortSignal };

async function relate(app: App, { resource, object, signal }: Start): Promise<Related> {
  const [owners, owned, services] = await Promise.all([
    ownersOf(app, object, signal),
    ownedOf(resource.kind, object, signal),
    resource.kind === 'Pod' ? servicesOf(object as Pod, signal) : [],
  ]);
  return { owners, owned, services, used: resource.kind === 'Pod' ? usedBy(object as Pod) : [] };
}

/** Returns the chain of owners, nearest first. It ends at an object that cannot be read. */
async function ownersOf(app: App, object: KubeObject, signal: AbortSignal): Promise<Tree[]> {
  const owners: Tree[] = [];
  for (let present: KubeObject | undefined = object; present !== undefined && owners.length < MAX_DEPTH; ) {
    const owner = ownerOf(present);
    if (owner === undefined) break;
    const group = owner.apiVersion.includes('/') ? owner.apiVersion.split('/')[0]! : '';
    const resource = app.resourceOfKind(owner.kind, group);
    const namespace = resource?.namespaced === false ? '' : (object.metadata.namespace ?? '');
    owners.push({ object: { kind: owner.kind, namespace, name: owner.name }, note: '', parts: [] });
    present = resource && (await optional<KubeObject>(pathOf(resource, { namespace, name: owner.name }), signal));
  }
  return owners;
}

/** Returns the objects owned by an object, including those owned indirectly. */
async function ownedOf(kind: string, { metadata }: KubeObject, signal: AbortSignal): Promise<Tree[]> {
  const kinds = OWNED_KINDS[kind] ?? [];
  const lists = kinds.map(async (ownedKind) => {
    const path = pathOf(builtIn(ownedKind), { namespace: metadata.namespace });
    const list = await optional<{ items?: KubeObject[] }>(path, signal);
    const owned = ownedBy(metadata.uid, list?.items ?? []);
    return await Promise.all(
      owned.map(async (part) => ({
        object: { kind: ownedKind, namespace: part.metadata.namespace ?? '', name: part.metadata.name ?? '' },
        note: noteOf(ownedKind, part),
        parts: await ownedOf(ownedKind, part, signal),
      })),
    );
  });
  return (await Promise.all(lists)).flat();
}

function noteOf(kind: string, object: KubeObject): string {
  if (kind === 'Pod') return podSummary(object as Pod).status;
  const revision = object.metadata.annotations?.['deployment.kubernetes.io/revision'];
  const replicas = (object as { status?: { replicas?: number } }).status?.replicas;
  return [revision && `revision ${revision}`, replicas !== undefined && countText(replicas, 'pod')]
    .filter(Boolean)
    .join(', ');
}

async function servicesOf(pod: Pod, signal: AbortSignal): Promise<Relation[]> {
  const path = pathOf(builtIn('Service'), { namespace: pod.metadata.namespace });
  const list = await optional<{ items?: ServiceObject[] }>(path, signal);
  const selecting = (list?.items ?? []).filter((service) => selectsPod(service, pod));
  return selecting.map(({ metadata: { namespace = '', name = '' } }) => ({
    object: { kind: 'Service', namespace, name },
    note: '',
  }));
}

/** Reads an object or list. Resolves to undefined if it cannot be read, and only rejects if the signal aborts. */
async function optional<T>(path: string, signal: AbortSignal): Promise<T | undefined> {
  try {
    return await call<T>(path, { signal });
  } catch (error) {
    if (signal.aborted) throw error;
    return undefined;
  }
}
