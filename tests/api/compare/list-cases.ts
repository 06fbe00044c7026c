/** Lists and watches: selectors, chunks, resource versions, collections. */
import type { Case } from './cases.ts';
import type { Transcript } from './transcript.ts';

const NAMESPACE = 'compare-lists';
const MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const mine = 'labelSelector=made%3Dyes';

async function objects(api: Transcript): Promise<void> {
  await api.send('POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } }, { quiet: true });
  for (const name of ['a', 'b', 'c', 'd', 'e'])
    await api.send(
      'POST',
      MAPS,
      { metadata: { name, labels: { made: 'yes', name, odd: 'acE'.includes(name) ? 'yes' : 'no' } }, data: { name } },
      { quiet: true },
    );
}

const queries =
  (...list: string[]): ((api: Transcript) => Promise<void>) =>
  async (api) => {
    await objects(api);
    for (const query of list) await api.get(`${MAPS}?${query}`);
  };

const labels = (...selectors: string[]) =>
  queries(...selectors.map((text) => `labelSelector=${encodeURIComponent(text)}`));
const fields = (...selectors: string[]) =>
  queries(...selectors.map((text) => `fieldSelector=${encodeURIComponent(text)}`));

export const LIST_CASES: readonly Case[] = [
  {
    name: 'label selectors',
    run: labels(
      'made=yes,name in (a,b)',
      'made=yes,name notin (a)',
      'made,!absent',
      'made==yes,name!=a',
      'name>3',
      'a b',
      'made in ()',
      'made in (a',
      '=x',
      'made=a b',
      '!',
      'x'.repeat(70),
      ',',
      'made=yes,',
      'name<x',
      'made=yes name=a',
      `made=${'x'.repeat(64)}`,
      'a/b/c=d',
    ),
  },
  {
    name: 'field selectors',
    run: fields(
      'metadata.name=a',
      'metadata.name!=a,metadata.namespace=compare-lists',
      `metadata.namespace=other`,
      'data.name=a',
      'metadata.name',
      'metadata.name==a',
      'metadata.name=a=b',
      ',',
      'metadata.labels=x',
      '=',
    ),
  },
  {
    name: 'field selectors of kinds',
    run: async (api) => {
      for (const [resource, field] of [
        ['pods', 'spec.nodeName=x'],
        [
          'pods',
          'status.phase=x,spec.restartPolicy=y,status.podIP=z,spec.schedulerName=a,spec.serviceAccountName=b,status.nominatedNodeName=c,spec.hostNetwork=true',
        ],
        ['pods', 'spec.wrong=x'],
        ['nodes', 'spec.unschedulable=true'],
        ['nodes', 'status.x=true'],
        ['secrets', 'type=Opaque'],
        ['namespaces', 'status.phase=Gone'],
        ['events', 'involvedObject.kind=X,reason=y,type=z,source=s,reportingComponent=r'],
        ['events', 'regarding.kind=x'],
        ['services', 'spec.clusterIP=1.1.1.1,spec.type=X'],
        ['services', 'spec.x=1'],
        ['replicationcontrollers', 'status.replicas=9'],
        ['persistentvolumes', 'name=x'],
        ['endpoints', 'name=x'],
      ])
        await api.get(`/api/v1/${resource}?fieldSelector=${encodeURIComponent(field!)}`);
      for (const [resource, field] of [
        ['apps/v1/replicasets', 'status.replicas=9'],
        ['batch/v1/jobs', 'status.successful=9'],
        ['events.k8s.io/v1/events', 'regarding.kind=x,reportingController=y'],
        ['certificates.k8s.io/v1/certificatesigningrequests', 'spec.signerName=x'],
        ['apps/v1/deployments', 'status.replicas=1'],
        ['resource.k8s.io/v1/resourceslices', 'spec.nodeName=a,spec.driver=b'],
      ])
        await api.get(`/apis/${resource}?fieldSelector=${encodeURIComponent(field!)}`);
    },
  },
  {
    name: 'chunks',
    run: async (api) => {
      await objects(api);
      const { body } = await api.get(`${MAPS}?limit=2&${mine}`);
      const next = encodeURIComponent(body.metadata.continue);
      const { body: second } = await api.get(`${MAPS}?limit=2&${mine}&continue=${next}`);
      await api.get(`${MAPS}?limit=2&${mine}&continue=${encodeURIComponent(second.metadata.continue)}`);
      await api.get(`${MAPS}?limit=2&continue=${next}&resourceVersion=5`);
      await api.get(`${MAPS}?limit=1&resourceVersion=0&${mine}`);
      await api.get(`${MAPS}?continue=wrong`);
      await api.get(
        `${MAPS}?continue=${Buffer.from('{"v":"meta.k8s.io/v1","rv":-1,"start":"a"}').toString('base64url')}`,
      );
      await api.get(`${MAPS}?limit=-1`);
      await api.get(`${MAPS}?limit=x`);
      await api.get(`${MAPS}?limit=2&${mine}`, { accept: TABLE });
      await api.get(`${MAPS}?limit=500`, {
        accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
      });
    },
  },
  {
    name: 'resource versions of lists',
    run: queries(
      ...['', 'NotOlderThan', 'Exact', 'Wrong'].flatMap((match) =>
        ['', '0', '1', 'x', '-1', '99999999'].map(
          (version) => `${mine}&resourceVersion=${version}&resourceVersionMatch=${match}`,
        ),
      ),
      `${mine}&resourceVersionMatch=Exact&limit=1`,
      'resourceVersion=0&resourceVersionMatch=NotOlderThan&continue=abc',
    ),
  },
  {
    name: 'watches',
    run: async (api) => {
      await objects(api);
      const base = `${MAPS}?watch=1&timeoutSeconds=1&${mine}`;
      for (const query of [
        '',
        '&resourceVersion=0',
        '&resourceVersion=1',
        '&resourceVersion=x',
        '&resourceVersion=99999999',
        '&allowWatchBookmarks=true&resourceVersion=0',
        '&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan',
        '&sendInitialEvents=true',
        '&sendInitialEvents=false',
        '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan',
        '&resourceVersionMatch=Exact&resourceVersion=1',
        '&limit=1&resourceVersion=0',
        '&continue=x',
        '&fieldSelector=metadata.name%3Da&resourceVersion=0',
      ])
        await api.get(`${base}${query}`);
      await api.get(`${base}&resourceVersion=0`, { accept: TABLE });
      await api.get(`${MAPS}/a?watch=1&timeoutSeconds=1`);
      await api.get(`${MAPS}?sendInitialEvents=true&${mine}`);
      await api.get(`${base}&resourceVersion=0`, {
        accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
      });
      await api.get(`${MAPS}?watch=x&timeoutSeconds=1&${mine}`);
      await api.get(`${MAPS}?watch=1&timeoutSeconds=x&${mine}`);
    },
  },
  {
    name: 'events of a watch',
    run: async (api) => {
      await objects(api);
      const list = await api.send('GET', `${MAPS}?${mine}`, undefined, { quiet: true });
      const watching = api.get(
        `${MAPS}?watch=1&timeoutSeconds=2&labelSelector=odd%3Dyes&resourceVersion=${list.body.metadata.resourceVersion}`,
      );
      await api.send('POST', MAPS, { metadata: { name: 'w', labels: { odd: 'yes' } } }, { quiet: true });
      await api.send(
        'PUT',
        `${MAPS}/w`,
        { metadata: { name: 'w', labels: { odd: 'yes' } }, data: { a: '1' } },
        { quiet: true },
      );
      await api.send('PUT', `${MAPS}/w`, { metadata: { name: 'w', labels: { odd: 'no' } } }, { quiet: true });
      await api.send('PUT', `${MAPS}/w`, { metadata: { name: 'w', labels: { odd: 'yes' } } }, { quiet: true });
      await api.send('DELETE', `${MAPS}/w`, undefined, { quiet: true });
      await watching;
    },
  },
  {
    name: 'collections are deleted',
    run: async (api) => {
      await objects(api);
      await api.delete(`${MAPS}?${mine}&dryRun=All`);
      await api.delete(`${MAPS}?labelSelector=name%3Da`);
      await api.delete(`${MAPS}?labelSelector=name%3D%3D%3D`);
      await api.delete(`${MAPS}?fieldSelector=metadata.name%3Db`);
      await api.delete(`${MAPS}?limit=1&${mine}`);
      await api.delete(`${MAPS}?labelSelector=none`);
      await api.delete(`${MAPS}?${mine}`, { propagationPolicy: 'Wrong' });
      await api.delete(`${MAPS}?${mine}`, { preconditions: { uid: 'x' } });
      await api.delete(`${MAPS}?${mine}`);
      await api.get(`${MAPS}?${mine}`);
      await api.delete('/api/v1/namespaces');
      await api.delete(`/api/v1/namespaces/${NAMESPACE}/services?labelSelector=none`);
    },
  },
];
