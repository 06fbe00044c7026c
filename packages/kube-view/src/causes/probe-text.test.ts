import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, Pod } from '@podwright/kube-api';
import { explainPod } from './pod-causes.ts';
import { probeCommand, probeText } from './probe-text.ts';

type Probe = NonNullable<Container['readinessProbe']>;

function podOf(readinessProbe: object): Pod {
  const ports = [{ name: 'http', containerPort: 8080 }];
  return {
    metadata: { name: 'mail-1', namespace: 'office', uid: 'u' },
    spec: { containers: [{ name: 'webmail', image: 'i', ports, readinessProbe }] },
    status: {
      phase: 'Running',
      podIP: '10.1.2.3',
      containerStatuses: [
        { name: 'webmail', ready: false, started: true, restartCount: 0, state: { running: {} }, lastState: {} },
      ],
    },
  } as unknown as Pod;
}

test('the explanation of a failed probe names its path and port, and a command that repeats it', () => {
  const message = 'Readiness probe failed: HTTP probe failed with statuscode: 404';
  const involvedObject = { fieldPath: 'spec.containers{webmail}' };
  const { sentence, advice } = explainPod({
    pod: podOf({ httpGet: { path: '/healthz', port: 'http' } }),
    events: [{ type: 'Warning', reason: 'Unhealthy', message, involvedObject }],
    ...{ log: undefined, unboundClaims: [], nodes: [], now: Date.now() },
  });
  assert.equal(
    sentence,
    'the readiness probe of container webmail fails: GET /healthz on port http (8080): HTTP probe failed with statuscode: 404',
  );
  assert.match(advice[0]!, /`curl -i http:\/\/10\.1\.2\.3:8080\/healthz`/);
});

test('each kind of probe has a description and a command', () => {
  const check = (probe: object, text: string, command: string | undefined) => {
    assert.equal(probeText(probe as Probe), text);
    const pod = podOf(probe);
    assert.equal(probeCommand({ pod, name: 'webmail', probe: probe as Probe }), command);
  };
  check({ httpGet: { port: 80 } }, 'GET / on port 80', 'curl -i http://10.1.2.3:80/');
  const tls = { httpGet: { port: 443, scheme: 'HTTPS', path: '/a?b=1&c=2' } };
  check(tls, 'GET /a?b=1&c=2 on port 443', "curl -ik 'https://10.1.2.3:443/a?b=1&c=2'");
  check({ tcpSocket: { port: 'http' } }, 'connect to port http', 'nc -vz 10.1.2.3 8080');
  check({ tcpSocket: { port: 'none' } }, 'connect to port none', undefined);
  check({ grpc: { port: 9 } }, 'gRPC on port 9', undefined);
  check(
    { exec: { command: ['sh', '-c', "echo it's"] } },
    "run sh -c echo it's",
    "kubectl exec -n office mail-1 -c webmail -- sh -c 'echo it'\\''s'",
  );
});
