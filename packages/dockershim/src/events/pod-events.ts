import type { EngineEvent } from '../engine/engine-events.ts';
import type { ContainerSummary } from '../engine/engine-types.ts';
import { CONTAINER_TYPE, SANDBOX_ID_LABEL, SANDBOX_TYPE, TYPE_LABEL } from '../labels/labels.ts';
import { isOurs } from '../labels/ownership.ts';

export type PodEventKind = 'created' | 'started' | 'stopped' | 'deleted';

/** An event of a sandbox or one of its containers. `atMs` is in milliseconds since the epoch. */
export type PodEvent = { id: string; sandboxId: string; kind: PodEventKind; atMs: number };

/** The last observed state of a sandbox or container. */
export type KnownContainer = { sandboxId: string; kind: Exclude<PodEventKind, 'deleted'> };

const KINDS: Record<EngineEvent['action'], PodEventKind> = {
  create: 'created',
  start: 'started',
  die: 'stopped',
  destroy: 'deleted',
};

/** Converts an event from the Engine. Returns `undefined` for a container that does not belong to a dockershim. */
export function podEventOf({ id, action, atMs, attributes }: EngineEvent): PodEvent | undefined {
  const sandboxId = sandboxOf(id, { names: [attributes.name ?? ''], labels: attributes });
  return sandboxId === undefined ? undefined : { id, sandboxId, kind: KINDS[action], atMs };
}

/** Returns the sandboxes and their containers in a container list, by ID. */
export function knownContainers(list: ContainerSummary[]): Map<string, KnownContainer> {
  const known = new Map<string, KnownContainer>();
  for (const { Id, Names, Labels, State } of list) {
    const sandboxId = sandboxOf(Id, { names: Names, labels: Labels });
    if (sandboxId !== undefined) known.set(Id, { sandboxId, kind: kindOf(State) });
  }
  return known;
}

function kindOf(state: string): KnownContainer['kind'] {
  if (state === 'created') return 'created';
  return ['exited', 'dead', 'removing'].includes(state) ? 'stopped' : 'started';
}

/** Returns the ID of a container's sandbox. For a sandbox's own container, that is the container's ID. */
function sandboxOf(id: string, marked: { names: string[]; labels: Record<string, string> }): string | undefined {
  const type = marked.labels[TYPE_LABEL];
  if (type === SANDBOX_TYPE) return isOurs(SANDBOX_TYPE, marked) ? id : undefined;
  return isOurs(CONTAINER_TYPE, marked) ? marked.labels[SANDBOX_ID_LABEL] : undefined;
}

/** Derives the events that occurred between two lists. A container created and removed in between goes unnoticed. */
export function missedEvents(
  before: ReadonlyMap<string, KnownContainer>,
  now: ReadonlyMap<string, KnownContainer>,
  atMs: number,
): PodEvent[] {
  const events: PodEvent[] = [];
  for (const [id, { sandboxId, kind }] of now) {
    const was = before.get(id)?.kind;
    if (was === undefined) events.push({ id, sandboxId, kind: 'created', atMs });
    if (kind !== 'created' && kind !== was) events.push({ id, sandboxId, kind, atMs });
  }
  for (const [id, { sandboxId }] of before) {
    if (!now.has(id)) events.push({ id, sandboxId, kind: 'deleted', atMs });
  }
  return events;
}

const ORDER: PodEventKind[] = ['created', 'started', 'stopped'];

/**
 * Whether an event that occurred before the list was fetched is not reflected in it. This happens because the Engine lists a container as
 * running for a while after it has exited.
 */
export function isNews(listed: ReadonlyMap<string, KnownContainer>, { id, kind }: PodEvent): boolean {
  const was = listed.get(id)?.kind;
  if (was === undefined) return false;
  return kind === 'deleted' || ORDER.indexOf(kind) > ORDER.indexOf(was);
}
