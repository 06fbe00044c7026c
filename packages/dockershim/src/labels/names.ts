import { PodwrightError } from '@podwright/base';

/** The NAME part of a sandbox container's name. */
export const SANDBOX_CONTAINER_NAME = 'POD';

/** Metadata encoded in a container's name: `k8s_NAME_POD_NAMESPACE_UID_ATTEMPT`, the scheme of upstream's dockershim. */
export type ContainerName = { name: string; podName: string; namespace: string; uid: string; attempt: number };

/** Formats a container's name in the Engine. Names are unique there, so a pod cannot have two containers with the same name and attempt. */
export function formatName({ name, podName, namespace, uid, attempt }: ContainerName): string {
  const parts = [name, podName, namespace, uid];
  const bad = parts.find((part) => !/^[a-zA-Z0-9.-]+$/.test(part));
  if (bad !== undefined) {
    throw new PodwrightError(
      'invalid_argument',
      `name a container: '${bad}' must be of letters, digits, '-' and '.' to be part of a Docker name`,
    );
  }
  return ['k8s', ...parts, attempt].join('_');
}

/**
 * Decodes a container name, with or without the Engine's leading slash and the suffix that avoids conflicts. Returns `undefined` for any
 * other container's name.
 */
export function parseName(text: string): ContainerName | undefined {
  const match = /^\/?k8s_([^_]+)_([^_]+)_([^_]+)_([^_]+)_(\d{1,10})(?:_[0-9a-f]{1,16})?$/.exec(text);
  if (match === null) return undefined;
  const [, name, podName, namespace, uid, attempt] = match as unknown as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  return { name, podName, namespace, uid, attempt: Number(attempt) };
}
