import { CONTAINER_TYPE, SANDBOX_ID_LABEL, SANDBOX_TYPE } from '../labels/labels.ts';
import { type ContainerName, parseName } from '../labels/names.ts';
import { isOurs, type MarkedContainer } from '../labels/ownership.ts';

/** Returns a sandbox's identity, based on both the labels and the name of its container. Returns `undefined` for any other container. */
export function sandboxIdentity(container: MarkedContainer): ContainerName | undefined {
  return isOurs(SANDBOX_TYPE, container) ? container.names.flatMap((name) => parseName(name) ?? [])[0] : undefined;
}

/** Whether a container belongs to the sandbox, based on both its labels and its name. */
export function isInSandbox(sandboxId: string, container: MarkedContainer): boolean {
  return container.labels[SANDBOX_ID_LABEL] === sandboxId && isOurs(CONTAINER_TYPE, container);
}
