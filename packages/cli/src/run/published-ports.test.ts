import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from '@podwright/kube-api';
import { podOf } from './pod.fixture.ts';
import { publishedPorts } from './published-ports.ts';

test('each host port is shown on a line, as a URL for HTTP', () => {
  const check = (container: Partial<Container>, expected: string[]) => {
    const pod = podOf({ containers: [] });
    pod.spec.containers = [{ name: 'a', image: 'i', ...container } as Container];
    assert.deepEqual(publishedPorts(pod), expected);
  };
  check({}, []);
  check({ ports: [{ containerPort: 80 }] }, []);
  check({ ports: [{ containerPort: 5432, hostPort: 5432 }] }, ['web: localhost:5432']);
  check({ ports: [{ containerPort: 53, hostPort: 5353, protocol: 'UDP' }] }, ['web: localhost:5353/udp']);
  check({ ports: [{ name: 'http', containerPort: 80, hostPort: 8080 }] }, ['web: open http://localhost:8080']);
  check({ ports: [{ name: 'https-api', containerPort: 443, hostPort: 443 }] }, ['web: open https://localhost:443']);
  check({ ports: [{ name: 'httpd', containerPort: 80, hostPort: 8080 }] }, ['web: localhost:8080']);
  const probed = { readinessProbe: { httpGet: { path: '/', port: 80 } } } as unknown as Partial<Container>;
  check({ ports: [{ containerPort: 80, hostPort: 80, hostIP: '10.0.0.1' }], ...probed }, [
    'web: open http://10.0.0.1:80',
  ]);
  check({ ports: [{ containerPort: 80, hostPort: 80, hostIP: '::1' }], ...probed }, ['web: open http://[::1]:80']);
});
