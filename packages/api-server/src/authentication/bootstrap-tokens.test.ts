import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryStore } from '../../../api-machinery/src/store/memory-store.ts';
import { BootstrapTokens } from './bootstrap-tokens.ts';
import { ISSUER, object } from './test-cluster.fixture.ts';

const TOKEN = 'abcdef.0123456789abcdef';
const VALID = {
  'token-id': 'abcdef',
  'token-secret': '0123456789abcdef',
  'usage-bootstrap-authentication': 'true',
};

type Setting = { data?: Record<string, string>; fields?: Record<string, unknown>; path?: string };

/** Returns the user that a bootstrap token authenticates if this Secret is in the store. */
function userOf({ data = {}, fields = {}, path = 'kube-system/bootstrap-token-abcdef' }: Setting, token = TOKEN) {
  const entries = Object.entries({ ...VALID, ...data }).map(([name, value]) => [
    name,
    Buffer.from(value).toString('base64'),
  ]);
  const secret = object('Secret', path, {
    type: 'bootstrap.kubernetes.io/token',
    data: Object.fromEntries(entries),
    ...fields,
  });
  const { name = '', namespace = '' } = secret.metadata;
  const store = new MemoryStore();
  store.create({ resource: 'secrets', namespace, name }, secret);
  const now = () => Date.parse('2026-01-01T00:00:00Z');
  return new BootstrapTokens({ store, audiences: [ISSUER], now }).authenticate(token, [ISSUER])?.user;
}

test('a bootstrap token names its user and groups', () => {
  assert.deepEqual(userOf({}), { username: 'system:bootstrap:abcdef', groups: ['system:bootstrappers'] });
  const data = { 'auth-extra-groups': 'system:bootstrappers:z,system:bootstrappers:kubeadm:default-node-token' };
  const groups = ['system:bootstrappers', 'system:bootstrappers:kubeadm:default-node-token', 'system:bootstrappers:z'];
  assert.deepEqual(userOf({ data })?.groups, groups);
});

test('a bootstrap token that has not expired yet is valid', () => {
  assert.ok(userOf({ data: { expiration: '2026-01-01T00:00:01Z' } }));
  assert.ok(userOf({ data: { expiration: '2026-01-01T01:00:00+00:59' } }));
});

test('other tokens and Secrets are not accepted', () => {
  const check = (setting: Setting, token = TOKEN) =>
    assert.equal(userOf(setting, token), undefined, JSON.stringify(setting));
  check({}, 'abcdef.0123456789abcdee');
  check({}, 'abcdef.0123456789abcde');
  check({}, 'ABCDEF.0123456789abcdef');
  check({}, `${TOKEN}\n`);
  check({}, '../../x.0123456789abcdef');
  check({ path: 'default/bootstrap-token-abcdef' });
  check({ path: 'kube-system/bootstrap-token-abcdeg' });
  check({ fields: { type: 'Opaque' } });
  check({ fields: { data: undefined } });
  check({
    fields: {
      metadata: { ...object('Secret', 'kube-system/bootstrap-token-abcdef').metadata, deletionTimestamp: 'x' },
    },
  });
  check({ data: { 'token-id': 'ghijkl' } });
  check({ data: { 'token-secret': '' } });
  check({ data: { 'token-secret': '0123456789abcdeg' } });
  check({ data: { 'usage-bootstrap-authentication': 'yes' } });
  check({ data: { expiration: '2026-01-01T00:00:00Z' } });
  check({ data: { expiration: '2026-01-01T01:00:00+01:01' } });
  check({ data: { expiration: 'tomorrow' } });
  check({ data: { expiration: '2027' } });
  check({ data: { 'auth-extra-groups': 'system:masters' } });
  check({ data: { 'auth-extra-groups': 'system:bootstrappers:a,' } });
  check({ data: { 'auth-extra-groups': 'system:bootstrappers:' } });
});
