import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ContainerConfigSchema, PodSandboxConfigSchema, toBinary } from '@podwright/cri';
import { configsOf, decoded } from './configs.fixture.ts';

type Numbers = { [key: string]: unknown };

const WHOLE = [
  -(2 ** 63),
  -(2 ** 31) - 1,
  -1,
  0,
  0.5,
  1e-9,
  1.5,
  2 ** 31,
  2 ** 31 - 1,
  2 ** 53,
  2 ** 63,
  1e300,
  '1',
  '1e3',
];
const AMOUNTS = [
  '-1',
  '0',
  '1e-9',
  '1n',
  '0.5',
  '1e17',
  '9e18',
  '9223372036854775807',
  '8E',
  '16Ei',
  '1e300',
  '1e999',
  -1,
  0.5,
  1e21,
  1e300,
];

/** A pod with a valid number in every numeric field. */
const pod = {
  metadata: {},
  spec: {
    terminationGracePeriodSeconds: 30,
    activeDeadlineSeconds: 30,
    priority: 0,
    securityContext: { runAsUser: 1, runAsGroup: 1, fsGroup: 1, supplementalGroups: [1] },
    tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 1 }],
    overhead: { cpu: '1', memory: '1Mi' },
    resources: { limits: { cpu: '40', memory: '40Gi' }, requests: { cpu: '3', memory: '3Gi' } },
    volumes: [
      { name: 'e', emptyDir: { sizeLimit: '1Gi' } },
      { name: 'c', configMap: { name: 'c', defaultMode: 420, items: [{ key: 'k', path: 'p', mode: 420 }] } },
    ],
  },
  container: {
    ports: [{ containerPort: 80, hostPort: 8080 }],
    securityContext: { runAsUser: 1, runAsGroup: 1 },
    resources: {
      limits: { cpu: '1', memory: '1Gi' },
      requests: { cpu: '1', memory: '1Gi', 'ephemeral-storage': '1Gi' },
    },
    lifecycle: { preStop: { sleep: { seconds: 1 } }, postStart: { httpGet: { port: 80 } } },
    livenessProbe: {
      exec: { command: ['true'] },
      initialDelaySeconds: 1,
      timeoutSeconds: 1,
      periodSeconds: 1,
      failureThreshold: 1,
      terminationGracePeriodSeconds: 1,
    },
    readinessProbe: { tcpSocket: { port: 80 }, successThreshold: 1, periodSeconds: 1 },
    startupProbe: { grpc: { port: 80 }, failureThreshold: 1 },
  },
};

function paths(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value === 'number' || (typeof value === 'string' && /^\d+(Gi|Mi)?$/.test(value))) return [path];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) =>
    paths(part, [...path, Array.isArray(value) ? Number(key) : key]),
  );
}

function withValue<T>(value: T, [step, ...rest]: (string | number)[], odd: unknown): T {
  if (step === undefined) return odd as T;
  const part = withValue((value as Numbers)[step], rest, odd);
  return (Array.isArray(value) ? value.with(step as number, part) : { ...value, [step]: part }) as T;
}

test('the unmodified pod is valid', () => assert.deepEqual(decoded(pod).errors.map(String), []));

for (const path of paths(pod)) {
  const at = path.join('.');
  const isAmount = /sizeLimit|resources|overhead/.test(at);
  test(`an odd ${at} is rejected by validation, or is valid in the CRI`, () => {
    for (const odd of isAmount ? AMOUNTS : WHOLE) {
      const { pods, errors } = decoded(withValue(pod, path, odd));
      const field = String(path.findLast((step) => typeof step === 'string'));
      if (errors.length > 0)
        assert.ok(
          errors.some((error) => String(error).includes(field)),
          `${String(odd)}: ${errors.join('; ')}`,
        );
      else {
        const { sandbox, container } = configsOf(pods[0]!);
        toBinary(PodSandboxConfigSchema, sandbox);
        toBinary(ContainerConfigSchema, container);
      }
    }
  });
}
