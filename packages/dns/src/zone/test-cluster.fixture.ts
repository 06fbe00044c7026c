import { type DnsEndpointSlice, type DnsService, SERVICE_NAME_LABEL } from './api-objects.ts';
import { ClusterIndex } from './cluster-index.ts';

type SliceFields = Pick<DnsEndpointSlice, 'endpoints' | 'ports' | 'addressType'>;

export function service(key: string, spec: DnsService['spec']): DnsService {
  const [namespace, name] = key.split('/');
  return { metadata: { namespace, name }, spec };
}

export function slice(key: string, of: string, fields: SliceFields): DnsEndpointSlice {
  const [namespace, name] = key.split('/');
  return { metadata: { namespace, name, labels: { [SERVICE_NAME_LABEL]: of } }, ...fields };
}

/** A cluster with one service of each type. */
export function testCluster(): ClusterIndex {
  const index = new ClusterIndex({ domain: 'cluster.local', serverAddresses: ['10.96.0.10'] });
  for (const name of ['default', 'shop', 'empty']) index.setNamespace({ metadata: { name } });
  const http = { name: 'http', port: 80 };
  index.setService(service('default/kubernetes', { clusterIP: '10.96.0.1', ports: [{ name: 'https', port: 443 }] }));
  index.setService(
    service('shop/web', { clusterIP: '10.96.0.7', clusterIPs: ['10.96.0.7', 'fd00::7'], ports: [http, { port: 9 }] }),
  );
  index.setService(service('shop/db', { clusterIP: 'None', ports: [{ name: 'sql', port: 5432 }] }));
  index.setService(service('shop/none', { clusterIP: 'None', ports: [http] }));
  index.setService(service('shop/out', { type: 'ExternalName', externalName: 'www.Example.org.' }));
  index.setService(service('shop/near', { type: 'ExternalName', externalName: 'web.shop.svc.cluster.local' }));
  index.setService(service('shop/far', { type: 'ExternalName', externalName: 'gone.shop.svc.cluster.local' }));
  index.setService(service('shop/ring', { type: 'ExternalName', externalName: 'ring.shop.svc.cluster.local' }));
  index.setService(service('shop/literal', { type: 'ExternalName', externalName: '192.0.2.1' }));
  const sql = [{ name: 'sql', protocol: 'TCP', port: 5432 }];
  index.setSlice(
    slice('shop/db-1', 'db', {
      ports: sql,
      endpoints: [
        { addresses: ['10.88.0.5'], hostname: 'db-0', conditions: { ready: true } },
        { addresses: ['10.88.0.6'], hostname: 'db-1', conditions: {} },
        { addresses: ['10.88.0.9'], hostname: 'db-2', conditions: { ready: false } },
      ],
    }),
  );
  index.setSlice(slice('shop/db-2', 'db', { ports: sql, endpoints: [{ addresses: ['fd00:88::'] }] }));
  index.setSlice(
    slice('shop/web-1', 'web', { ports: [{ name: 'http', port: 8080 }], endpoints: [{ addresses: ['10.88.0.20'] }] }),
  );
  index.isComplete = true;
  return index;
}
