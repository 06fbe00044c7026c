import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, ResourceRequirements } from '@podwright/kube-api';
import { emptyRuntimePod, type RuntimeContainer } from '../kubecontainer/runtime-pod.ts';
import { computePodActions } from './compute-pod-actions.ts';
import { fakeDependencies, fakeRuntime } from './dependencies.fixture.ts';
import { describePodActions } from './pod-actions.ts';
import { resizePod } from './resize-pod.ts';

const metadata = { name: 'web', namespace: 'default', uid: 'u1' };

function podOf(resources: ResourceRequirements | undefined): Pod {
  const app = { name: 'app', image: 'busybox:1', resources: { requests: { cpu: '10m' }, limits: { cpu: '60m' } } };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [app], restartPolicy: 'Always', resources } };
}

/** Returns the names of the CRI calls for a change that only affects pod-level resources. */
async function callsOf(before: ResourceRequirements | undefined, after: ResourceRequirements): Promise<string[]> {
  const runtime = fakeRuntime();
  const { podSandboxId } = await runtime.client.runtime.runPodSandbox({ config: { metadata } });
  const deps = fakeDependencies(runtime, '/none');
  const given = { ...podOf(before).spec.containers[0]!.resources, pod: before };
  const container = { id: 'app-0', name: 'app', state: 'running', hash: '', resources: given } as RuntimeContainer;
  const sandbox = { id: podSandboxId, ready: true, hostNetwork: false, ips: ['10.0.0.2'], attempt: 0 };
  const pod = podOf(after);
  const status = { ...emptyRuntimePod(metadata), sandboxes: [sandbox as never], containers: [container] };
  const probes = { liveness: () => undefined, startup: () => undefined };
  const planned = () => computePodActions({ pod, status, probes, actuated: (one) => deps.actuated.of('u1', one) });
  const first = runtime.calls.length;
  const steps = await resizePod(deps, { pod, plan: planned() }, AbortSignal.timeout(5000));
  assert.deepEqual(
    steps.map(({ error }) => error),
    steps.map(() => undefined),
  );
  assert.equal(describePodActions(planned()), 'nothing to do', 'a second resize is not planned');
  return runtime.calls.slice(first).map(({ method }) => method);
}

test('changing only pod-level resources updates the sandbox', async () => {
  const updated = ['updatePodSandboxResources'];
  const limits = { cpu: '80m' };
  assert.deepEqual(await callsOf({ requests: { cpu: '20m' }, limits }, { requests: { cpu: '40m' }, limits }), updated);
  assert.deepEqual(await callsOf(undefined, { requests: { cpu: '20m' } }), updated);
  assert.deepEqual(await callsOf({ limits, requests: { cpu: '20m' } }, { requests: { cpu: '0.02' }, limits }), []);
});
