import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  type ContainerConfig,
  type CriClient,
  NamespaceMode,
  type PodSandboxConfig,
  type RuntimeHandlerFeatures,
} from '@podwright/cri';
import { FakeRuntime } from '@podwright/cri/testing';
import {
  applyDefaults,
  type Container,
  LocalObjects,
  type Pod,
  type PodSpec,
  type RuntimeClass,
} from '@podwright/kube-api';
import type { MountedImage } from '../container/prepared-container.ts';
import { fakeDependencies } from './dependencies.fixture.ts';
import type { PodActions } from './pod-actions.ts';
import { RuntimeFeatures } from './runtime-features.ts';
import { syncPod } from './sync-pod.ts';

type Features = Partial<Pick<RuntimeHandlerFeatures, 'recursiveReadOnlyMounts' | 'userNamespaces'>>;

const app: Container = { name: 'app', image: 'busybox:1' };
const FRESH: PodActions = {
  killPod: false,
  createSandbox: true,
  attempt: 0,
  sandboxId: undefined,
  containersToKill: [],
  containersToReset: [],
  ephemeralContainersToStart: [],
  containersToUpdate: [],
  initContainersToStart: [],
  containersToStart: ['app'],
};
const kata: RuntimeClass = {
  ...{ apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', handler: 'kata' },
  metadata: { name: 'kata', namespace: '', uid: 'r' },
};

/** Syncs a new pod on a runtime with the given handlers. Returns the configurations received by the runtime, and the pod's events. */
async function sync(context: TestContext, spec: Partial<PodSpec>, handlers: Record<string, Features> = {}) {
  const scratch = await mkdtemp(join(tmpdir(), 'podwright-generation-'));
  context.after(() => rm(scratch, { recursive: true }));
  const runtime = new FakeRuntime({ images: ['busybox:1', 'model:1'], inRegistry: (name) => name.includes('pull') });
  const runtimeHandlers = Object.entries(handlers).map(([name, features]) => ({ name, features }));
  const objects = new LocalObjects();
  objects.replace([kata]);
  const prepared: unknown[] = [];
  const features = new RuntimeFeatures({
    runtime: { status: async () => ({ runtimeHandlers }) },
  } as unknown as CriClient);
  const deps = { ...fakeDependencies(runtime, scratch), objects, features };
  const prepare: typeof deps.prepare = async (request) => {
    prepared.push({ images: [...request.volumeImages], recursiveReadOnly: request.recursiveReadOnly });
    return { environment: [], command: [], args: [], mounts: [mountOf(request.volumeImages.get('model'))] };
  };
  const metadata = { name: 'web', namespace: 'shop', uid: 'u1', annotations: { note: 'x' } };
  const pod: Pod = applyDefaults({ apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [app], ...spec } });
  const status = { pod: { ...metadata }, sandboxes: [], containers: [] };
  const steps = await syncPod({ ...deps, prepare }, { pod, status, plan: FRESH }, new AbortController().signal);
  const call = <T>(method: string) => runtime.calls.find((one) => one.method === method)?.request as T | undefined;
  return {
    steps,
    prepared,
    sandbox: call<{ config: PodSandboxConfig; runtimeHandler: string }>('runPodSandbox'),
    container: call<{ config: ContainerConfig }>('createContainer')?.config,
    events: deps.events.list().map(({ reason, message }) => `${reason}: ${message}`),
  };
}

function mountOf(image: MountedImage | undefined) {
  return {
    ...{ name: 'm', hostPath: image === undefined ? '/h' : '', containerPath: '/m', readonly: true, relabel: true },
    ...{ recursiveReadOnly: false, propagation: 'None' as const, image, imageSubPath: 'weights' },
  };
}

test('a pod with its own user namespace has the same ID mappings in its sandbox, containers and mounts', async (context) => {
  const { sandbox, container } = await sync(context, { hostUsers: false }, { '': { userNamespaces: true } });
  const ofSandbox = sandbox!.config.linux!.securityContext!.namespaceOptions!.usernsOptions!;
  assert.equal(ofSandbox.mode, NamespaceMode.POD);
  const [{ hostId, containerId, length }] = ofSandbox.uids as [(typeof ofSandbox.uids)[0]];
  assert.deepEqual([hostId % 65_536, containerId, length], [0, 0, 65_536]);
  assert.ok(hostId >= 65_536);
  assert.deepEqual(ofSandbox.gids, ofSandbox.uids);
  assert.deepEqual(container!.linux!.securityContext!.namespaceOptions!.usernsOptions, ofSandbox);
  assert.deepEqual(
    [container!.mounts[0]!.uidMappings, container!.mounts[0]!.gidMappings],
    [ofSandbox.uids, ofSandbox.uids],
  );
});

test('other pods use the host’s user namespace', async (context) => {
  for (const spec of [{}, { hostUsers: true }]) {
    const { sandbox, container } = await sync(context, spec);
    assert.equal(sandbox!.config.linux!.securityContext!.namespaceOptions!.usernsOptions!.mode, NamespaceMode.NODE);
    assert.deepEqual(container!.mounts[0]!.uidMappings, []);
  }
});

test('a pod with its own user namespace is rejected if its handler does not support user namespaces', async (context) => {
  const check = async (handlers: Record<string, Features>, why: string, runtimeClassName?: string) => {
    const { steps, events, sandbox } = await sync(context, { hostUsers: false, runtimeClassName }, handlers);
    assert.equal(sandbox, undefined);
    assert.deepEqual(events, [`FailedCreatePodSandBox: Failed to create pod sandbox: ${why}`]);
    const message = `Failed to generate sandbox config for pod "web_shop(u1)": ${why}`;
    assert.deepEqual(steps.at(-1)?.error, { reason: 'CreatePodSandboxError', message });
  };
  const refusal = "can't set `spec.hostUsers: false`,";
  await check({}, `${refusal} runtime does not support user namespaces`);
  await check({ '': {} }, `${refusal} runtime does not support user namespaces`);
  await check(
    { '': { userNamespaces: true }, kata: {} },
    `${refusal} RuntimeClass handler "kata" does not support user namespaces`,
    'kata',
  );
  await check(
    { '': { userNamespaces: true } },
    `${refusal} RuntimeClass handler "kata" does not support user namespaces: the handler "kata" is not known`,
    'kata',
  );
});

test('a fully qualified host name that exceeds the kernel’s limit is reported in an event', async (context) => {
  const spec = { hostname: 'h'.repeat(60), subdomain: 'sub', setHostnameAsFQDN: true };
  const { events } = await sync(context, spec);
  assert.match(
    events[0]!,
    /^FailedCreatePodSandBox: Failed to create pod sandbox: failed to construct FQDN .* is too long/,
  );
});

test('recursive read-only mounts depend on the handler, which is queried only if a mount requests one', async (context) => {
  const check = async (mode: 'Disabled' | 'IfPossible', handlers: Record<string, Features>, expected: boolean) => {
    const volumeMounts = [{ name: 'd', mountPath: '/d', readOnly: true, recursiveReadOnly: mode }];
    const { prepared } = await sync(context, { containers: [{ ...app, volumeMounts }] }, handlers);
    assert.deepEqual(prepared, [{ images: [], recursiveReadOnly: expected }]);
  };
  await check('IfPossible', { '': { recursiveReadOnlyMounts: true } }, true);
  await check('IfPossible', { '': {} }, false);
  await check('IfPossible', {}, false);
  await check('Disabled', { '': { recursiveReadOnlyMounts: true } }, false);
});

test('an image volume is pulled and mounted by the runtime', async (context) => {
  const volumes = [
    { name: 'model', image: { reference: 'model:1' } },
    { name: 'unused', image: { reference: 'none' } },
  ];
  const volumeMounts = [{ name: 'model', mountPath: '/m' }];
  const { container, prepared, events } = await sync(context, { volumes, containers: [{ ...app, volumeMounts }] });
  const [mount] = container!.mounts;
  assert.equal(mount!.image!.userSpecifiedImage, 'model:1');
  assert.deepEqual(mount!.image!.annotations, { note: 'x' });
  assert.deepEqual([mount!.hostPath, mount!.imageSubPath, mount!.image!.image !== ''], ['', 'weights', true]);
  assert.equal((prepared[0] as { images: [string, unknown][] }).images[0]![0], 'model');
  assert.ok(
    events.includes('Pulled: Container image "model:1" already present on machine and can be accessed by the pod'),
    String(events),
  );
});

test('a container waits for an image volume with the same waiting reasons as for its own image', async (context) => {
  const volumes = [{ name: 'model', image: { reference: 'none:1' } }];
  const volumeMounts = [{ name: 'model', mountPath: '/m' }];
  const { container, steps, events } = await sync(context, { volumes, containers: [{ ...app, volumeMounts }] });
  assert.equal(container, undefined);
  assert.equal(steps.at(-1)?.error?.reason, 'ErrImagePull');
  assert.ok(events.includes('Failed: Error: ErrImagePull'), String(events));
});
