import { CONTAINER_TYPE, SANDBOX_ID_LABEL, SANDBOX_TYPE, TYPE_LABEL } from '../labels/labels.ts';
import { type ContainerName, parseName, SANDBOX_CONTAINER_NAME } from '../labels/names.ts';

/** Who a sandbox is, by its container's labels and name together; nothing for a container that is no sandbox of a pod. */
export function sandboxIdentity(labels: Record<string, string>, names: string[]): ContainerName | undefined {
  if (labels[TYPE_LABEL] !== SANDBOX_TYPE) return undefined;
  return names.flatMap((name) => parseName(name) ?? []).find(({ name }) => name === SANDBOX_CONTAINER_NAME);
}

/** Whether a container is one in the sandbox, by its labels and name together. */
export function isInSandbox(sandboxId: string, labels: Record<string, string>, names: string[]): boolean {
  if (labels[TYPE_LABEL] !== CONTAINER_TYPE || labels[SANDBOX_ID_LABEL] !== sandboxId) return false;
  return names.some((name) => parseName(name) !== undefined);
}
