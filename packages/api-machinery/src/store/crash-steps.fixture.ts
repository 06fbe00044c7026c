import type { ObjectStore, Write } from './object-store.ts';
import { configMap, podKey } from './test-objects.fixture.ts';

/** The resource whose objects the crash tests expect to survive. Objects of `VOLATILE` are not stored. */
const RESOURCE = 'configmaps';
export const VOLATILE = 'leases';
/**
 * Content of the created objects. It is large enough for rows to span several pages, so that deleting them returns space to the file
 * system.
 */
const TEXT = 'x'.repeat(30_000);
/** Every tenth step deletes what the previous steps created. */
const STEPS_UNTIL_DELETION = 10;

const keyOf = (name: string, resource = RESOURCE) => ({ ...podKey(name), resource });

/**
 * Returns the parts of a step, each of which is atomic: a transaction that creates two objects or deletes many, an update, and a write to a
 * volatile object.
 */
export const partsOf = (step: number): ((store: ObjectStore) => void)[] => [
  (store) =>
    store.transaction(step % STEPS_UNTIL_DELETION === STEPS_UNTIL_DELETION - 1 ? deletions(store) : pair(step)),
  (store) => put(store, RESOURCE, step),
  (store) => put(store, VOLATILE, step),
];

export function applyStep(store: ObjectStore, step: number): void {
  for (const part of partsOf(step)) part(store);
}

function pair(step: number): Write[] {
  const names = [`one-${step}`, `other-${step}`];
  return names.map((name) => ({ type: 'create', key: keyOf(name), object: configMap(name, TEXT) }));
}

function put(store: ObjectStore, resource: string, step: number): void {
  const key = keyOf('last', resource);
  const last = store.get(key);
  if (last === undefined) store.create(key, configMap('last', String(step)));
  else store.update(key, configMap('last', String(step)), last.revision);
}

function deletions(store: ObjectStore): Write[] {
  const { objects } = store.list(RESOURCE);
  const halves = objects.filter(({ key }) => !key.endsWith('/last'));
  return halves.map(({ key, revision }) => ({ type: 'delete', key: keyOf(key.split('/')[1]!), expected: revision }));
}

/** Returns the name and text of each object of the durable resource. */
export function contentOf(store: ObjectStore): string[] {
  const { objects } = store.list(RESOURCE);
  return objects.map((object) => `${object.key} ${(object.decode().data as { text: string }).text}`);
}
