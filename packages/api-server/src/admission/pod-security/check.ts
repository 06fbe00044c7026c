/** Building blocks of the Pod Security checks (pod-security-admission, policy). Messages are worded as in upstream. */
import { type JsonObject, objectsAt, textAt } from '@podwright/kube-kinds';

/** A pod or a pod template. */
export type CheckedPod = { annotations: JsonObject; spec: unknown };

export type Violation = { reason: string; detail: string };

/** Checks a pod. Returns the violation, or `undefined` if the pod is allowed. */
export type CheckPod = (pod: CheckedPod) => Violation | undefined;

/** Returns all containers in upstream's order. */
export const containersOf = (spec: unknown): JsonObject[] =>
  ['initContainers', 'containers', 'ephemeralContainers'].flatMap((field) => objectsAt(spec, field));

export const namesOf = (containers: readonly JsonObject[]): string[] => containers.map((one) => textAt(one, 'name'));

export const sorted = (texts: Iterable<string>): string[] => [...new Set(texts)].sort();

export const quotedNames = (texts: readonly string[]): string => texts.map((text) => `"${text}"`).join(', ');

export const plural = (noun: string, count: number): string => (count === 1 ? noun : `${noun}s`);

/** Formats container names: `container "a"`, or `containers "a", "b"`. */
export const containerList = (containers: readonly JsonObject[]): string => {
  const names = namesOf(containers);
  return `${plural('container', names.length)} ${quotedNames(names)}`;
};

/** Returns where a setting is made: in the pod's security context, in containers, or both; '' if nowhere. */
export function setters(isPod: boolean, containers: readonly JsonObject[]): string {
  return [...(isPod ? ['pod'] : []), ...(containers.length === 0 ? [] : [containerList(containers)])].join(' and ');
}

export const isWindows = ({ spec }: CheckedPod): boolean => textAt(spec, 'os', 'name') === 'windows';
