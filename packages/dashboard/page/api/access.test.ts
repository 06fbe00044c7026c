import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayListBy } from './access.ts';

const PODS = { group: '', plural: 'pods' };
const DEPLOYMENTS = { group: 'apps', plural: 'deployments' };

test('rules allow listing their groups and resources, and * matches all', () => {
  const rule = (apiGroups: string[], resources: string[], verbs: string[]) => ({ apiGroups, resources, verbs });
  const mayList = mayListBy({
    resourceRules: [rule([''], ['pods', 'pods/log'], ['get', 'list']), rule(['apps'], ['*'], ['get'])],
  });
  assert.deepEqual([mayList(PODS), mayList(DEPLOYMENTS)], [true, false]);
  const all = mayListBy({ resourceRules: [rule(['*'], ['*'], ['*'])] });
  assert.deepEqual([all(PODS), all(DEPLOYMENTS)], [true, true]);
  assert.equal(mayListBy({})(PODS), false);
});

test('a rule for named objects does not allow listing', () => {
  const named = { apiGroups: [''], resources: ['pods'], verbs: ['list'], resourceNames: ['web'] };
  assert.equal(mayListBy({ resourceRules: [named] })(PODS), false);
});

test('incomplete rules allow everything: the server decides on each request', () => {
  assert.equal(mayListBy({ incomplete: true, resourceRules: [] })(PODS), true);
  assert.equal(mayListBy(undefined)(PODS), true);
});
