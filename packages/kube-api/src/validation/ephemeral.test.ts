import assert from 'node:assert/strict';
import { test } from 'node:test';
import { completeEphemeral } from '../defaults/defaults.ts';
import { formatFieldPath, IssueList } from '../issue.ts';
import type { EphemeralContainer, PodSpec } from '../objects/types.ts';
import { validateEphemeralContainers } from './ephemeral.ts';

const pod: PodSpec = {
  containers: [{ name: 'app', image: 'busybox' }],
  volumes: [{ name: 'data', emptyDir: {} }],
};

function check(container: Partial<EphemeralContainer>, expected: string[]): void {
  const complete = completeEphemeral({ name: 'shell', image: 'busybox', ...container }, pod);
  const issues = new IssueList();
  validateEphemeralContainers({ ...pod, ephemeralContainers: [complete] }, issues);
  assert.deepEqual(
    issues.issues.map(({ path, message }) => `${formatFieldPath(path)}: ${message}`),
    expected,
  );
}

test('an ephemeral container has its own name and a target in its pod', () => {
  check({ targetContainerName: 'app', stdin: true, tty: true, env: [{ name: 'A', value: '1' }] }, []);
  check({ name: 'app' }, ['[0].name: container "app" already exists']);
  check({ targetContainerName: 'db' }, ['[0].targetContainerName: the pod has no container "db"; it has app']);
});

test('an ephemeral container must not have ports, probes, resources and the like', () => {
  const probe = { exec: { command: ['true'] } };
  check({ ports: [{ containerPort: 80 }] }, ['[0].ports: cannot be set for an ephemeral container']);
  check({ livenessProbe: probe }, ['[0].livenessProbe: cannot be set for an ephemeral container']);
  check({ resources: { limits: { cpu: '1' } } }, ['[0].resources: cannot be set for an ephemeral container']);
  check({ restartPolicy: 'Always' }, ['[0].restartPolicy: cannot be set for an ephemeral container']);
  check({ volumeMounts: [{ name: 'data', mountPath: '/d', subPath: 'x' }] }, [
    '[0].volumeMounts[0].subPath: cannot be set for an ephemeral container',
  ]);
});
