import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodwrightError } from '@podwright/base';
import { ApiObjects } from './api-objects.ts';
import type { ApiCall, KubernetesApi, KubernetesObject } from './kubernetes-api.ts';

/**
 * A fake in-memory Kubernetes API with ConfigMaps and namespaces. A CustomResourceDefinition adds the kind `Odd` in the group
 * `example.org`.
 */
class MemoryApi implements KubernetesApi {
  readonly objects = new Map<string, KubernetesObject>([
    ['/api/v1/namespaces/default', { metadata: { name: 'default' } }],
  ]);
  readonly #definitions = '/apis/apiextensions.k8s.io/v1';

  handle(): void {}

  async call({ method, path, body }: ApiCall): Promise<KubernetesObject> {
    const [name = '', query = ''] = path.split('?');
    if (method === 'GET') {
      const found = this.objects.get(name);
      if (found === undefined) throw new PodwrightError('not_found', name);
      return found;
    }
    const object = body as KubernetesObject;
    if (!query.includes('dryRun')) this.objects.set(name, { ...object, metadata: { ...object.metadata, uid: name } });
    return object;
  }

  async text({ path }: ApiCall): Promise<string> {
    const kinds = (...resources: [string, string, boolean][]) =>
      JSON.stringify({ resources: resources.map(([name, kind, namespaced]) => ({ name, kind, namespaced })) });
    if (path === '/api/v1') return kinds(['configmaps', 'ConfigMap', true], ['namespaces', 'Namespace', false]);
    if (path === this.#definitions) return kinds(['customresourcedefinitions', 'CustomResourceDefinition', false]);
    const isDefined = this.objects.has(`${this.#definitions}/customresourcedefinitions/odds.example.org`);
    if (path === '/apis/example.org/v1' && isDefined) return kinds(['odds', 'Odd', true]);
    throw new PodwrightError('not_found', path);
  }
}

const MAP = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n';
const odd = (kind: string) => `apiVersion: example.org/v1\nkind: ${kind}\nmetadata: {name: a}\n`;
const DEFINITION = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: odds.example.org}
spec: {group: example.org, names: {kind: Odd, plural: odds}, versions: [{name: v1}]}
`;
const UNKNOWN = /^apply (Even|Odd) a: .* has no kind "(Even|Odd)" in example.org\/v1/;

test('an object of unknown kind is an error, or is skipped and reported while the others are applied', async () => {
  const api = new MemoryApi();
  const objects = new ApiObjects(api);
  const manifest = [odd('Odd'), MAP].join('---\n');
  await assert.rejects(objects.apply(manifest), { code: 'invalid_argument', message: UNKNOWN });
  assert.equal(api.objects.size, 1);
  for (const dryRun of [true, false]) {
    const { done, unknown = [] } = await objects.apply(manifest, { leaveOutUnknown: true, dryRun });
    assert.deepEqual(
      done.map(({ kind, action }) => `${kind} ${action}`),
      ['ConfigMap created'],
    );
    assert.equal(unknown.length, 1);
    assert.match(unknown[0]!, UNKNOWN);
  }
  assert.ok(api.objects.has('/api/v1/namespaces/default/configmaps/settings'));
});

test('an object whose kind is defined in the same manifest is applied, even if the definition comes later', async () => {
  const objects = new ApiObjects(new MemoryApi());
  const first = await objects.apply(odd('Odd'), { leaveOutUnknown: true });
  assert.deepEqual([first.done, first.unknown?.length], [[], 1]);
  const manifest = [odd('Even'), odd('Odd'), DEFINITION].join('---\n');
  const { done, unknown = [] } = await objects.apply(manifest, { leaveOutUnknown: true });
  assert.deepEqual(
    done.map(({ kind }) => kind),
    ['CustomResourceDefinition', 'Odd'],
  );
  assert.equal(unknown.length, 1);
  const again = await objects.apply(odd('Odd'), { leaveOutUnknown: true });
  assert.deepEqual(again.unknown, []);
});
