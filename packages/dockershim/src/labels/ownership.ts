import { PodwrightError } from '@podwright/base';
import { type CONTAINER_TYPE, type SANDBOX_TYPE, TYPE_LABEL } from './labels.ts';
import { parseName, SANDBOX_CONTAINER_NAME } from './names.ts';

/** What a container of ours is. */
export type ContainerType = typeof SANDBOX_TYPE | typeof CONTAINER_TYPE;

/** What the Engine tells of any container: its names, with or without a slash, and its labels. */
export type MarkedContainer = { names: string[]; labels: Record<string, string> };

/**
 * Whether a container of the Engine is a dockershim's, and of this type: label and name must both say so. Anybody can give a
 * container labels like ours, so a foreign one is never touched for its labels alone.
 */
export function isOurs(type: ContainerType, { names, labels }: MarkedContainer): boolean {
  if (labels[TYPE_LABEL] !== type) return false;
  return names.some((text) => {
    const name = parseName(text);
    return name !== undefined && (name.name === SANDBOX_CONTAINER_NAME) === (type === 'podsandbox');
  });
}

/** Throws `not_found` for a container that is not ours, as if it were not there. `attempted` is at the head of the error. */
export function requireOurs(type: ContainerType, container: MarkedContainer, attempted: string): void {
  if (isOurs(type, container)) return;
  const kind = type === 'podsandbox' ? 'sandbox' : 'container';
  throw new PodwrightError('not_found', `${attempted}: it is no ${kind} of a pod`);
}
