import { CONTAINER_TYPE, SANDBOX_ID_LABEL, SANDBOX_TYPE } from '../labels/labels.ts';
import { type ContainerName, parseName } from '../labels/names.ts';
import { isOurs, type MarkedContainer } from '../labels/ownership.ts';

/** Who a sandbox is, by its container's labels and name together; nothing for a container that is no sandbox of a pod. */
export function sandboxIdentity(container: MarkedContainer): ContainerName | undefined {
  return isOurs(SANDBOX_TYPE, container) ? container.names.flatMap((name) => parseName(name) ?? [])[0] : undefined;
}

/** Whether a container is one in the sandbox, by its labels and name together. */
export function isInSandbox(sandboxId: string, container: MarkedContainer): boolean {
  return container.labels[SANDBOX_ID_LABEL] === sandboxId && isOurs(CONTAINER_TYPE, container);
}
