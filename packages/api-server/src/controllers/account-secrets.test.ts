import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ApiObject, objectsAt, textAt } from '@podwright/kube-kinds';
import { keepAccountSecrets } from './account-secrets.ts';
import { TestCluster } from './test-cluster.fixture.ts';

const NAME = 'kubernetes.io/service-account.name';
const UID = 'kubernetes.io/service-account.uid';
const type = 'kubernetes.io/service-account-token';

function cluster(): TestCluster {
  const made = new TestCluster();
  const issue = ({ metadata }: ApiObject, secretName: string) => `token of ${metadata.name} in ${secretName}`;
  made.start((parts) => keepAccountSecrets({ ...parts, issue, caCertificate: 'CA' }));
  return made;
}

const tokenSecret = (account: string, annotations: object = {}, data: object = {}) => ({
  ...{ type, data, metadata: { annotations: { [NAME]: account, ...annotations } } },
});
const dataOf = (secret: ApiObject | undefined, key: string) =>
  Buffer.from(textAt(secret, 'data', key), 'base64').toString();

test('a token Secret gets its service account’s token, the CA and the namespace', async () => {
  await using test = cluster();
  const { metadata } = await test.create('serviceaccounts', 'shop/app');
  await test.create('secrets', 'shop/token', tokenSecret('app', {}, { 'ca.crt': 'b2xk', more: 'eA==' }));
  const find = () => test.find('secrets', 'shop/token');
  const tokenOf = () => dataOf(find(), 'token');
  await test.until(() => tokenOf() !== '');
  const secret = find();
  assert.deepEqual(
    ['token', 'ca.crt', 'namespace', 'more'].map((key) => dataOf(secret, key)),
    ['token of app in token', 'CA', 'shop', 'x'],
  );
  assert.deepEqual(secret?.metadata.annotations, { [NAME]: 'app', [UID]: metadata.uid });
  await test.change('secrets', 'shop/token', ({ data: _, ...others }) => others as ApiObject);
  await test.until(() => tokenOf() !== '');
  await test.atRest();
  assert.deepEqual(test.warnings, []);
});

test('other Secrets are unchanged', async () => {
  await using test = cluster();
  await test.create('serviceaccounts', 'shop/app');
  await test.create('secrets', 'shop/opaque', { metadata: { annotations: { [NAME]: 'app' } } });
  await test.atRest();
  assert.equal(test.find('secrets', 'shop/opaque')?.data, undefined);
});

test('a Secret of a nonexistent or deleted account is deleted', async () => {
  await using test = cluster();
  await test.create('secrets', 'shop/lost', tokenSecret('none'));
  await test.create('serviceaccounts', 'shop/app');
  await test.create('secrets', 'shop/token', tokenSecret('app'));
  await test.create('secrets', 'shop/old', tokenSecret('app', { [UID]: 'another' }));
  await test.create('secrets', 'shop/other', { data: { a: 'eA==' } });
  const names = () => test.store.list('secrets').objects.map(({ key }) => key);
  await test.until(() => names().join() === 'shop/other,shop/token');
  await test.until(() => dataOf(test.find('secrets', 'shop/token'), 'token') !== '');
  await test.delete('serviceaccounts', 'shop/app');
  await test.until(() => names().join() === 'shop/other');
});

test('references to a deleted Secret are removed from its account', async () => {
  await using test = cluster();
  const secrets = [{ name: 'token' }, { name: 'later' }];
  await test.create('serviceaccounts', 'shop/app', { secrets });
  await test.create('secrets', 'shop/token', tokenSecret('app'));
  await test.until(() => dataOf(test.find('secrets', 'shop/token'), 'token') !== '');
  await test.delete('secrets', 'shop/token');
  const namesOf = () =>
    objectsAt(test.find('serviceaccounts', 'shop/app'), 'secrets').map((one) => textAt(one, 'name'));
  await test.until(() => namesOf().length === 1);
  assert.deepEqual(namesOf(), ['later']);
});
