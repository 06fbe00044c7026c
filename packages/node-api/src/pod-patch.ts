import { isDeepStrictEqual } from 'node:util';
import { isRecord, PodwrightError } from '@podwright/base';
import {
  type Container,
  type Decoder,
  type EphemeralContainer,
  ephemeralContainer,
  formatFieldPath,
  IssueList,
  list,
  object,
  type Pod,
  type PodSpec,
  type ResourceRequirements,
  resources,
  string,
} from '@podwright/kube-api';

/** Whether a patch's list replaces the existing one or is merged into it by element name. */
export type PatchKind = 'merge-by-name' | 'replace';

/** A patch of a pod's ephemeral containers. */
export type EphemeralPatch = { kind: PatchKind; containers: EphemeralContainer[] };

/**
 * Reads the ephemeral containers from `{"spec":{"ephemeralContainers":[…]}}` or from a whole pod, ignoring other fields. Throws
 * `invalid_argument` if a container is invalid.
 */
export function parseEphemeralPatch(text: string, kind: PatchKind): EphemeralPatch {
  const containers = specOf(text).ephemeralContainers ?? [];
  const issues = new IssueList(['spec', 'ephemeralContainers']);
  const decoded = list(ephemeralContainer)(containers, issues);
  if (issues.count > 0) {
    const problems = issues.issues.map(({ path, message }) => `${formatFieldPath(path)}: ${message}`);
    throw new PodwrightError('invalid_argument', `read the ephemeral containers: ${problems.join('\n')}`);
  }
  return { kind, containers: decoded };
}

/** Requests and limits of the pod, and of containers by name. */
export type ResizePatch = { pod?: ResourceRequirements; containers: Map<string, ResourceRequirements> };

/**
 * Reads the resources from `{"spec":{"resources":…,"containers":[{"name":…,"resources":…}],"initContainers":…}}` or from a whole pod,
 * ignoring other fields.
 */
export function parseResizePatch(text: string): ResizePatch {
  const { containers = [], initContainers = [], resources: whole } = specOf(text);
  const issues = new IssueList(['spec']);
  const decoded = [
    ...list(resized)(containers, issues.at('containers')),
    ...list(resized)(initContainers, issues.at('initContainers')),
  ];
  const pod = whole === undefined ? undefined : resources(whole, issues.at('resources'));
  if (issues.count > 0) {
    const problems = issues.issues.map(({ path, message }) => `${formatFieldPath(path)}: ${message}`);
    throw new PodwrightError('invalid_argument', `read the resize: ${problems.join('\n')}`);
  }
  return { pod, containers: new Map(decoded.map(({ name, resources = {} }) => [name, resources])) };
}

/** Returns the pod with a patch's requests and limits. Others are unchanged. */
export function resizedPod(pod: Pod, { pod: whole, containers: named }: ResizePatch): Pod {
  const resize = (container: Container): Container => withAmounts(container, named.get(container.name));
  const { initContainers, containers } = pod.spec;
  const spec: PodSpec = { ...withAmounts(pod.spec, whole), containers: containers.map(resize) };
  if (initContainers !== undefined) spec.initContainers = initContainers.map(resize);
  return { ...pod, spec };
}

function withAmounts<T extends { resources?: ResourceRequirements }>(owner: T, given: ResourceRequirements = {}): T {
  const { limits, requests } = given;
  if (limits === undefined && requests === undefined) return owner;
  const own = owner.resources ?? {};
  const resources = {
    ...own,
    ...(limits === undefined ? {} : { limits: { ...own.limits, ...limits } }),
    ...(requests === undefined ? {} : { requests: { ...own.requests, ...requests } }),
  };
  return { ...owner, resources };
}

/** Whether a pod has the requests and limits of a patch. */
export function showsResize(pod: Pod, patch: ResizePatch): boolean {
  return isDeepStrictEqual(resizedPod(pod, patch).spec, pod.spec);
}

type Resized = { name: string; resources?: ResourceRequirements };

/** Decodes a container's name and resources, ignoring other fields. */
const resized: Decoder<Resized> = (value, issues) =>
  RESIZED(isRecord(value) ? { name: value.name, resources: value.resources } : value, issues);
const RESIZED = object<Resized>({ name: string, resources }, { required: ['name'] });

/** Returns a pod's ephemeral containers after a patch. */
export function patchedContainers(before: EphemeralContainer[], { kind, containers }: EphemeralPatch) {
  if (kind === 'replace') return containers;
  const named = new Map(before.map((one) => [one.name, one]));
  for (const one of containers) named.set(one.name, { ...named.get(one.name), ...one });
  return [...named.values()];
}

function specOf(text: string): Record<string, unknown> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new PodwrightError('invalid_argument', 'read the patch: it is not JSON', { cause: error });
  }
  const spec = isRecord(parsed) ? parsed.spec : undefined;
  if (!isRecord(spec)) throw new PodwrightError('invalid_argument', 'read the patch: spec: must be a map');
  return spec;
}
