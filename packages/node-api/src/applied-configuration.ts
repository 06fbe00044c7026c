/** Prepares objects for server-side apply, and compares them with the API's. Pure functions. */
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import type { KubernetesObject } from './kubernetes-api.ts';

/** Fields that only the server sets. They are present in an object that a client has read and sends back. */
const SYSTEM_FIELDS = new Set([
  ...['uid', 'resourceVersion', 'generation', 'creationTimestamp', 'selfLink', 'managedFields'],
  ...['deletionTimestamp', 'deletionGracePeriodSeconds'],
]);

const KUBELET_ANNOTATION = /^(kubernetes\.io|podwright\.dev)\/config\./;

/** Returns the object without its status and without the fields added by the server and the kubelet. */
export function configurationOf(given: object): KubernetesObject {
  const { status: _, metadata, ...rest } = JSON.parse(JSON.stringify(given)) as KubernetesObject & { status?: unknown };
  const { annotations, ...others } = metadata;
  const own = Object.entries(annotations ?? {}).filter(([key]) => !KUBELET_ANNOTATION.test(key));
  const fields = Object.entries(others).filter(([key, value]) => !SYSTEM_FIELDS.has(key) && value !== '');
  return {
    ...rest,
    metadata: { ...Object.fromEntries(fields), ...(own.length > 0 && { annotations: Object.fromEntries(own) }) },
  };
}

/** Whether an apply left an object unchanged, except for field ownership. */
export function isUnchanged(before: KubernetesObject, after: KubernetesObject): boolean {
  return isDeepStrictEqual(comparable(before), comparable(after));
}

function comparable({ metadata, ...rest }: KubernetesObject): unknown {
  const fields = Object.entries(metadata).filter(([key]) => !COUNTED.has(key));
  return { ...rest, metadata: Object.fromEntries(fields) };
}

const COUNTED = new Set(['managedFields', 'resourceVersion', 'generation']);

type Resourced = { name: string; resources?: unknown };

/** Returns a pod's configuration with the existing containers' resources, and the patch that changes these to the wanted ones. */
export function withoutResize(wanted: Pod, existing: Pod): { pod: KubernetesObject; resize: object } {
  const resize: Record<string, Resourced[]> = {};
  const spec: Record<string, unknown> = { ...wanted.spec };
  for (const field of ['initContainers', 'containers'] as const) {
    const containers = wanted.spec[field];
    if (containers === undefined) continue;
    resize[field] = containers.map(({ name, resources = {} }) => ({ name, resources }));
    spec[field] = containers.map((container) => {
      const { resources: _, ...others } = container;
      const now = existing.spec[field]?.find(({ name }) => name === container.name)?.resources;
      return now === undefined ? others : { ...others, resources: now };
    });
  }
  return { pod: configurationOf({ ...wanted, spec }), resize: { spec: resize } };
}

/** Whether an object is the mirror pod of a static pod. */
export const isMirror = ({ metadata }: KubernetesObject): boolean =>
  isRecord(metadata.annotations) && Object.hasOwn(metadata.annotations, 'kubernetes.io/config.mirror');
