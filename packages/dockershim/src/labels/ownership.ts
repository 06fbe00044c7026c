import { PodwrightError } from '@podwright/base';
import { type CONTAINER_TYPE, type SANDBOX_TYPE, TYPE_LABEL } from './labels.ts';
import { parseName, SANDBOX_CONTAINER_NAME } from './names.ts';

/** Type of a container of a dockershim. */
export type ContainerType = typeof SANDBOX_TYPE | typeof CONTAINER_TYPE;

/** Names (with or without a slash) and labels of any container of the Engine. */
export type MarkedContainer = { names: string[]; labels: Record<string, string> };

/**
 * Whether a container of the Engine is a dockershim's and of this type: both label and name must match. Any client of the Engine can
 * set the same labels, so labels alone are not enough to touch a container.
 */
export function isOurs(type: ContainerType, { names, labels }: MarkedContainer): boolean {
  if (labels[TYPE_LABEL] !== type) return false;
  return names.some((text) => {
    const name = parseName(text);
    return name !== undefined && (name.name === SANDBOX_CONTAINER_NAME) === (type === 'podsandbox');
  });
}

/** Throws `not_found` for a container that is not a dockershim's, as if it did not exist. `attempted` is the prefix of the error. */
export function requireOurs(type: ContainerType, container: MarkedContainer, attempted: string): void {
  if (isOurs(type, container)) return;
  const kind = type === 'podsandbox' ? 'sandbox' : 'container';
  throw new PodwrightError('not_found', `${attempted}: not a ${kind} of a pod`);
}
