/** Bodies, media types and query parameters that a server must reject or understand. */
import type { Case } from './cases.ts';
import type { Transcript } from './transcript.ts';
import { NAMESPACE } from './valid-objects.ts';

const MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const map = (name: string, fields: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  ...fields,
});

const bodies: Record<string, string> = {
  'no body': '',
  'an empty object': '{}',
  null: 'null',
  'a list': '[]',
  'a string': '"x"',
  'cut off': '{"apiVersion":"v1"',
  'not JSON': 'hello',
  'no kind': '{"apiVersion":"v1","metadata":{"name":"b"}}',
  'no version': '{"kind":"ConfigMap","metadata":{"name":"b"}}',
  'another kind': '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"b"}}',
  'another group': '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"b"}}',
  'an unknown kind': '{"apiVersion":"v1","kind":"Nothing","metadata":{"name":"b"}}',
  'an unknown group': '{"apiVersion":"a.b/v1","kind":"Nothing","metadata":{"name":"b"}}',
  'a bad version': '{"apiVersion":"a/b/c","kind":"ConfigMap","metadata":{"name":"b"}}',
  'a list kind': '{"apiVersion":"v1","kind":"ConfigMapList","items":[]}',
  'a duplicate field': '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"},"data":{"a":"1","a":"2"}}',
  'another case': '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"Name":"b"},"Data":{"a":"1"}}',
  'metadata of a wrong type': '{"apiVersion":"v1","kind":"ConfigMap","metadata":[]}',
  'a trailing value': '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}} {}',
  'a number for a name': '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":7}}',
  'data of a wrong type': '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"},"data":{"a":1}}',
  'bad base64': '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"},"binaryData":{"a":"*"}}',
  'a bad time': '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b","creationTimestamp":"x"}}',
};

const NAMES = [
  '',
  'A',
  'a_b',
  '-a',
  'a-',
  'a..b',
  'a.b',
  'x'.repeat(253),
  'x'.repeat(254),
  'a/b',
  'ä',
  '.',
  '..',
  'a b',
  '%',
];

export const REQUEST_CASES: readonly Case[] = [
  ...Object.entries(bodies).map(
    ([name, body]): Case => ({
      name: `body: ${name}`,
      run: async (api) => {
        for (const mode of ['Strict', 'Warn', 'Ignore', 'Wrong'])
          await api.send('POST', `${MAPS}?dryRun=All&fieldValidation=${mode}`, body, { type: 'application/json' });
        await api.send('POST', `${MAPS}?dryRun=All`, body, { type: 'application/yaml' });
      },
    }),
  ),
  {
    name: 'names',
    run: async (api) => {
      for (const name of NAMES) await api.post(`${MAPS}?dryRun=All`, map(name));
      for (const generateName of ['gen-', 'Gen-', '', 'x'.repeat(300)])
        await api.post(`${MAPS}?dryRun=All`, { ...map(''), metadata: { generateName } });
      await api.post('/api/v1/namespaces/other-missing/configmaps', map('a'));
      await api.post(`${MAPS}?dryRun=All`, { ...map('a'), metadata: { name: 'a', namespace: 'other' } });
      await api.post('/api/v1/namespaces?dryRun=All', { metadata: { name: 'a.b' } });
      await api.post('/api/v1/namespaces?dryRun=All', { metadata: { name: 'a', namespace: 'b' } });
      await api.get(`${MAPS}/A_b`);
      await api.get(`${MAPS}/%2e%2e`);
    },
  },
  { name: 'metadata', run: metadataCases },
  {
    name: 'media types',
    run: async (api) => {
      for (const type of [
        'text/plain',
        'application/xml',
        'application/cbor',
        'application/json; charset=utf-8',
        'application/json;v=2',
        'bad',
      ])
        await api.send('POST', `${MAPS}?dryRun=All`, JSON.stringify(map('a')), { type });
      await api.send('POST', `${MAPS}?dryRun=All`, undefined);
      for (const accept of [
        'text/html',
        'application/xml',
        '*/*',
        'application/*',
        'application/json;as=Table',
        'application/json;as=Wrong;v=v1;g=meta.k8s.io',
        'application/json;stream=watch',
        'application/json;as=Table;v=v1beta1;g=meta.k8s.io',
        'application/json;q=0.1, application/yaml',
        '',
      ])
        await api.get('/api/v1/namespaces/default', { accept });
      for (const type of [
        'application/merge-patch+json;charset=utf-8',
        'application/merge-patch',
        'text/plain',
        'application/apply-patch+cbor',
        '',
      ])
        await api.send('PATCH', '/api/v1/namespaces/default?dryRun=All', '{}', { type });
    },
  },
  {
    name: 'query parameters',
    run: async (api) => {
      for (const query of [
        'pretty=true',
        'pretty=x',
        'dryRun=',
        'dryRun=All&dryRun=All',
        'dryRun=All&dryRun=x',
        `fieldManager=${'x'.repeat(129)}`,
        'fieldManager=a%00b',
        'fieldValidation=',
        'unknown=1',
        'timeout=1s',
        'timeout=x',
        'timeout=-1s',
      ])
        await api.post(`${MAPS}?dryRun=All&${query}`, map('query'));
      await api.patch('/api/v1/namespaces/default?dryRun=All&force=x', 'merge', {});
      await api.get('/api/v1/namespaces/default?resourceVersion=x');
      await api.get('/api/v1/namespaces/default?resourceVersion=0');
      await api.get('/api/v1/namespaces/default?resourceVersion=999999999');
      await api.get('/api/v1/namespaces/default?pretty=1');
    },
  },
];

async function metadataCases(api: Transcript): Promise<void> {
  const cases: object[] = [
    { labels: { 'a b': 'c' } },
    { labels: { a: 'b c' } },
    { labels: { a: 'x'.repeat(64) } },
    { labels: { ['x'.repeat(64)]: 'a' } },
    { labels: { 'A.b/c': 'd', '/': 'x', 'a/b/c': 'd' } },
    { annotations: { 'a b': 'c' } },
    { annotations: { 'A.B/c': 'd' } },
    { annotations: { a: 'x'.repeat(262145) } },
    { finalizers: ['a'] },
    { finalizers: ['a.b/c', 'a/b/c', ''] },
    { finalizers: ['orphan', 'foregroundDeletion'] },
    { ownerReferences: [{}] },
    { ownerReferences: [{ apiVersion: 'v1', kind: 'Event', name: 'a', uid: 'b' }] },
    { ownerReferences: [{ apiVersion: 'a/b/c', kind: 'K', name: 'a', uid: 'b' }] },
    {
      ownerReferences: ['a', 'b'].map((name) => ({ apiVersion: 'v1', kind: 'Pod', name, uid: name, controller: true })),
    },
    { resourceVersion: '5' },
    { uid: 'own' },
    { generation: 7, selfLink: '/x', creationTimestamp: '2020-01-01T00:00:00Z' },
    { generation: -1 },
    { deletionTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: 5 },
    { managedFields: [{ manager: 'x', operation: 'Wrong', fieldsType: 'FieldsV1', fieldsV1: {} }] },
    {
      managedFields: [
        { manager: 'x', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': {} } },
      ],
    },
    { managedFields: [{ manager: 'x', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV2', fieldsV1: {} }] },
    {
      managedFields: [
        { manager: 'x', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'q:x': {} } },
      ],
    },
    { clusterName: 'x' },
  ];
  for (const metadata of cases)
    await api.post(`${MAPS}?dryRun=All`, { ...map('meta'), metadata: { name: 'meta', ...metadata } });
}
