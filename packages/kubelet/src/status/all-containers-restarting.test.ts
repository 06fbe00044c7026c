import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, PodCondition } from '@podwright/kube-api';
import type { RuntimeContainer, RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import { restartingCondition } from './all-containers-restarting.ts';

const rule = { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [88] } } as const;
const app = { name: 'app', image: 'busybox', restartPolicy: 'Never', restartPolicyRules: [rule] } as const;
const metadata = { name: 'web', namespace: 'default', uid: 'u1' };
const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [app] } } as unknown as Pod;
const marked: PodCondition[] = [{ type: 'AllContainersRestarting', status: 'True' }];

function runtimeOf(...containers: Partial<RuntimeContainer>[]): RuntimePodStatus {
  return { pod: metadata, sandboxes: [], containers: containers as RuntimeContainer[] };
}

function check(runtime: RuntimePodStatus, previous: PodCondition[], expected: string): void {
  const condition = restartingCondition({ pod, phase: 'Running', runtime, previous });
  assert.equal(`${condition?.status} ${condition?.reason ?? ''}`.trim(), expected);
}

test('the condition holds from the exit that triggers the restart until all containers have been removed', () => {
  check(runtimeOf({ name: 'app', state: 'running' }), [], 'False');
  check(runtimeOf({ name: 'app', state: 'exited', exitCode: 1 }), [], 'False');
  check(runtimeOf({ name: 'app', state: 'exited', exitCode: 88 }), [], 'True RestartAllContainersStarted');
  check(runtimeOf({ name: 'app', state: 'running' }), marked, 'True RestartAllContainersStarted');
  check(runtimeOf(), marked, 'False');
});

test('a pod without a RestartAllContainers rule does not have this condition', () => {
  const other: Pod = { ...pod, spec: { containers: [{ name: 'app', image: 'busybox' }] } };
  assert.equal(
    restartingCondition({ pod: other, phase: 'Running', runtime: runtimeOf(), previous: marked }),
    undefined,
  );
});
