import { PodwrightError } from '@podwright/base';
import { type CONTAINER_TYPE, type SANDBOX_TYPE, TYPE_LABEL } from './labels.ts';
import { parseName, SANDBOX_CONTAINER_NAME } from './names.ts';

/** The types of containers created by a dockershim. */
export type ContainerType = typeof SANDBOX_TYPE | typeof CONTAINER_TYPE;

/** The names (with or without a leading slash) and labels of any container in the Engine. */
export type MarkedContainer = { names: string[]; labels: Record<string, string> };

/**
 * Whether a container in the Engine belongs to a dockershim and is of this type. Both label and name must match: any client of the Engine
 * can set these labels, so they alone do not prove that the container may be modified.
 */
export function isOurs(type: ContainerType, { names, labels }: MarkedContainer): boolean {
  if (labels[TYPE_LABEL] !== type) return false;
  return names.some((text) => {
    const name = parseName(text);
    return name !== undefined && (name.name === SANDBOX_CONTAINER_NAME) === (type === 'podsandbox');
  });
}

/**
 * Throws `not_found` for a container that does not belong to a dockershim, as if it did not exist. `attempted` prefixes the error message.
 */
export function requireOurs(type: ContainerType, container: MarkedContainer, attempted: string): void {
  if (isOurs(type, container)) return;
  const kind = type === 'podsandbox' ? 'sandbox' : 'container';
  throw new PodwrightError('not_found', `${attempted}: not a ${kind} of a pod`);
}
