/** Functions that return scenario steps. A step is an action by a user on the objects of one namespace. */
import { waitFor, withTimeout } from '@podwright/base';
import type { KubeObject, Pod, Resource } from '@podwright/kube-api';
import { CERTIFICATE_SIGNING_REQUESTS, isApiStatus, type KubeClient, PODS } from '@podwright/kube-client';
import type { Heartbeats } from './heartbeats.ts';
import { DEPLOYMENTS } from './resources.ts';

/** The control plane and namespace to run a step in. */
export type Place = {
  client: KubeClient;
  /** Returns a client with another user's identity. The caller must close it. */
  connectAs: (username: string, groups: string[]) => Promise<KubeClient>;
  namespace: string;
  heartbeats: Heartbeats;
};
/** A step performed by a user. `run` may return a text or reject; the texts and error messages of all control planes are compared. */
export type Step = { name: string; run: (place: Place) => Promise<unknown> };
/**
 * `onKubeApiserver`: requires kube-apiserver, so the scenario is skipped on Podwright's API server. `restMs`: objects are compared once
 * none has changed for this long. Default: 1500.
 */
export type Scenario = { name: string; steps: Step[]; onKubeApiserver?: boolean; restMs?: number };

type Metadata = Record<string, unknown>;
type Policy = 'Background' | 'Foreground' | 'Orphan';
type Patch = 'strategic' | 'merge';

/**
 * Returns an object's namespace and name. Names of cluster-scoped objects start with the namespace, so that scenarios do not share objects.
 */
const placeOf = ({ namespaced }: Resource, namespace: string, name: string) =>
  namespaced ? { namespace, name } : { name: `${namespace}-${name}` };

export const create = (resource: Resource, name: string, rest: object, metadata: Metadata = {}): Step => ({
  name: `create ${resource.kind} ${name}`,
  run: ({ client, namespace }) =>
    client.create(resource, {
      metadata: { ...placeOf(resource, namespace, name), ...metadata },
      ...rest,
    } as KubeObject),
});

/** Like `create`, with fields that depend on the namespace. */
export const createIn = (resource: Resource, name: string, rest: (namespace: string) => object): Step => ({
  name: `create ${resource.kind} ${name}`,
  run: ({ client, namespace }) => {
    const { metadata = {}, ...fields } = rest(namespace) as { metadata?: object };
    return client.create(resource, {
      metadata: { ...placeOf(resource, namespace, name), ...metadata },
      ...fields,
    } as KubeObject);
  },
});

export const patch = (resource: Resource, name: string, body: object, type: Patch = 'strategic'): Step => ({
  name: `patch ${resource.kind} ${name} ${JSON.stringify(body)}`,
  run: ({ client, namespace }) => client.patch(resource, placeOf(resource, namespace, name), { type, body }),
});

export const remove = (resource: Resource, name: string, propagationPolicy: Policy = 'Background'): Step => ({
  name: `delete ${resource.kind} ${name} (${propagationPolicy})`,
  run: ({ client, namespace }) => client.delete(resource, placeOf(resource, namespace, name), { propagationPolicy }),
});

export const step = (name: string, run: Step['run']): Step => ({ name, run });

/** Combines several steps into one, so that objects are compared only after the last of them. */
export const together = (name: string, steps: readonly Step[]): Step => ({
  name,
  run: async (place) => {
    for (const { run } of steps) await run(place);
  },
});

/** Returns a step that waits up to two minutes for an object to meet a condition. `what` describes the condition in messages. */
export const until = (resource: Resource, name: string, what: string, holds: (object: never) => boolean): Step => ({
  name: `wait for ${resource.kind} ${name}: ${what}`,
  run: async ({ client, namespace }) => {
    using signal = withTimeout(undefined, 120_000, `wait for ${name}: ${what}`);
    const look = async () => {
      const object = await client.get(resource, placeOf(resource, namespace, name));
      return holds(object as never) || undefined;
    };
    await waitFor(look, { intervalMs: 100, signal });
  },
});

/** Returns a step that waits up to two minutes for an object to be deleted. */
export const untilRemoved = (resource: Resource, name: string): Step => ({
  name: `wait for the end of ${resource.kind} ${name}`,
  run: async ({ client, namespace }) => {
    using signal = withTimeout(undefined, 120_000, `wait for the end of ${name}`);
    const look = () =>
      client.get(resource, placeOf(resource, namespace, name)).then(
        () => undefined,
        (error: unknown) => isApiStatus(error, 404) || undefined,
      );
    await waitFor(look, { intervalMs: 100, signal });
  },
});

/** Returns a step that calls `act` with the first pod that matches the label selector, ordered by node and name. */
export const withPod = (
  name: string,
  labelSelector: string,
  act: (place: Place, pod: Pod) => Promise<unknown>,
): Step => ({
  name,
  run: async (place) => {
    const { items } = await place.client.list<Pod>(PODS, { namespace: place.namespace, labelSelector });
    const keyOf = ({ spec: { nodeName = '' }, metadata: { name } }: Pod) => `${nodeName} ${name}`;
    return await act(place, items.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))[0]!);
  },
});

export const deletePod = (labelSelector: string): Step =>
  withPod(`delete a pod of ${labelSelector}`, labelSelector, ({ client, namespace }, { metadata: { name } }) =>
    client.delete(PODS, { namespace, name }),
  );

/** Returns a step that sets status fields of the first pod that matches the label selector. */
export const setPodStatus = (labelSelector: string, status: object): Step =>
  withPod(`set the status of a pod of ${labelSelector}: ${JSON.stringify(status)}`, labelSelector, (place, pod) => {
    const { name } = pod.metadata;
    const body = { type: 'strategic' as const, body: { status }, subresource: 'status' };
    return place.client.patch(PODS, { namespace: place.namespace, name }, body);
  });

/**
 * Returns a container. Its command is interpreted by the scripted kubelet: exit codes by completion index, such as `0,1`, or any other word
 * for a pod that keeps running.
 */
export const container = (image: string, command = 'run', more: object = {}) => ({
  name: 'main',
  image,
  command: [command],
  ...more,
});

type TemplateOptions = { image?: string; command?: string; spec?: object };

export const template = (app: string, { image = 'v1', command = 'run', spec = {} }: TemplateOptions = {}) => ({
  metadata: { labels: { app } },
  spec: { containers: [container(image, command)], automountServiceAccountToken: false, ...spec },
});

export const deployment = (name: string, spec: object = {}, image = 'v1'): Step =>
  create(
    DEPLOYMENTS,
    name,
    { spec: { replicas: 3, selector: { matchLabels: { app: name } }, template: template(name, { image }), ...spec } },
    { annotations: { note: 'x' } },
  );

export const spec = (resource: Resource, name: string, value: object): Step => patch(resource, name, { spec: value });

/** Returns a step that sets the image in the pod template of an object. */
export const image = (resource: Resource, name: string, value: string): Step =>
  patch(resource, name, { spec: { template: { spec: { containers: [{ name: 'main', image: value }] } } } });

/** Returns a step in which an administrator approves or denies a certificate signing request. */
export const decide = (name: string, type: 'Approved' | 'Denied'): Step =>
  step(`${type}: ${name}`, ({ client, namespace }) => {
    const body = { status: { conditions: [{ type, status: 'True', reason: 'Test', message: 'by the test' }] } };
    const place = { name: `${namespace}-${name}` };
    return client.patch(CERTIFICATE_SIGNING_REQUESTS, place, { type: 'merge', body, subresource: 'approval' });
  });
