import { PodwrightError } from '@podwright/base';

/** What the Engine's name of a pod's own container has in the place of a container's name. */
export const SANDBOX_CONTAINER_NAME = 'POD';

/** Who a container is, as its name tells: `k8s_NAME_POD_NAMESPACE_UID_ATTEMPT`, the scheme of all dockershims. */
export type ContainerName = { name: string; podName: string; namespace: string; uid: string; attempt: number };

/** The Engine lets one container have a name, which is what keeps two of one pod and attempt from being made. */
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

/** The name taken apart, with or without the Engine's slash and the suffix that a conflict left; nothing where it is not of this form. */
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
