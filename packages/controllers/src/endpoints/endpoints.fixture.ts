import type { Node, Pod } from '@podwright/kube-api';
import type { EndpointSlice, NewEndpointSlice } from '../objects/endpoint-slice.ts';
import type { Service } from '../objects/service.ts';
import { type TestPod, testPod } from '../pods/test-pod.fixture.ts';

type ServiceSpec = Partial<Service['spec']>;

/** Builds a Service with a selector and port 80. */
export function testService(spec: ServiceSpec = {}, metadata: Partial<Service['metadata']> = {}): Service {
  return {
    metadata: { namespace: 'shop', name: 'web', uid: 'u1', creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
    spec: {
      selector: { app: 'web' },
      clusterIP: '10.0.0.1',
      ipFamilies: ['IPv4'],
      ports: [{ port: 80, targetPort: 8080, protocol: 'TCP' }],
      ...spec,
    },
  };
}

type Addressed = TestPod & { ips?: string[]; spec?: Partial<Pod['spec']> };

/** Builds a ready pod, with these addresses, that the Service selects. */
export function addressedPod({ ips = ['10.1.0.1'], spec, ...pod }: Addressed): Pod {
  const built = testPod({ labels: { app: 'web' }, readySinceMs: Date.UTC(2026, 0, 1), ...pod });
  const podIPs = ips.map((ip) => ({ ip }));
  return { ...built, spec: { ...built.spec, ...spec }, status: { ...built.status!, podIP: ips[0], podIPs } };
}

export function testNode(name: string, zone?: string): Node {
  const labels = zone === undefined ? {} : { 'topology.kubernetes.io/zone': zone };
  return { metadata: { name, labels } } as unknown as Node;
}

/** Converts a new slice to the form in which the server stores it. */
export function storedSlice({ metadata, ...slice }: NewEndpointSlice, name: string): EndpointSlice {
  const { generateName: _prefix, ...rest } = metadata;
  return { ...slice, metadata: { ...rest, namespace: 'shop', name, uid: `uid-${name}` } };
}
