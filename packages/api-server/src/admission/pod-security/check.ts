/** The parts of Pod Security checks (pod-security-admission, policy). Messages are those of upstream. */
import { type JsonObject, objectsAt, textAt } from '@podwright/kube-kinds';

/** A pod, or the template of one. */
export type CheckedPod = { annotations: JsonObject; spec: unknown };

export type Violation = { reason: string; detail: string };

/** Returns the violation of a pod; undefined if the pod is allowed. */
export type CheckPod = (pod: CheckedPod) => Violation | undefined;

/** All containers, in upstream's order. */
export const containersOf = (spec: unknown): JsonObject[] =>
  ['initContainers', 'containers', 'ephemeralContainers'].flatMap((field) => objectsAt(spec, field));

export const namesOf = (containers: readonly JsonObject[]): string[] => containers.map((one) => textAt(one, 'name'));

export const sorted = (texts: Iterable<string>): string[] => [...new Set(texts)].sort();

export const quotedNames = (texts: readonly string[]): string => texts.map((text) => `"${text}"`).join(', ');

export const plural = (noun: string, count: number): string => (count === 1 ? noun : `${noun}s`);

/** `container "a"`, or `containers "a", "b"`. */
export const containerList = (containers: readonly JsonObject[]): string => {
  const names = namesOf(containers);
  return `${plural('container', names.length)} ${quotedNames(names)}`;
};

/** The parts of a pod that set something: the pod itself and its containers. '' if there are none. */
export function setters(isPod: boolean, containers: readonly JsonObject[]): string {
  return [...(isPod ? ['pod'] : []), ...(containers.length === 0 ? [] : [containerList(containers)])].join(' and ');
}

export const isWindows = ({ spec }: CheckedPod): boolean => textAt(spec, 'os', 'name') === 'windows';
