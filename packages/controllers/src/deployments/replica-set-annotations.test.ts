import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDeployment, testSet } from './deployment.fixture.ts';
import { newSetAnnotations, nextRevision } from './replica-set-annotations.ts';

const REVISION = 'deployment.kubernetes.io/revision';
const HISTORY = 'deployment.kubernetes.io/revision-history';

function check(title: string, before: Record<string, string>, revision: number, expected: Record<string, string>) {
  test(title, () => {
    const annotations = { note: 'x', 'kubectl.kubernetes.io/last-applied-configuration': '{}', [REVISION]: '99' };
    const deployment = testDeployment({ metadata: { annotations } });
    assert.deepEqual(newSetAnnotations(deployment, before, revision), { note: 'x', ...expected });
  });
}

check('a new set gets the revision and the annotations of the Deployment', {}, 3, { [REVISION]: '3' });
check('a higher revision stays', { [REVISION]: '5' }, 3, { [REVISION]: '5' });
check('the revision that a rollback replaces becomes history', { [REVISION]: '1' }, 3, {
  [REVISION]: '3',
  [HISTORY]: '1',
});
check('the history grows', { [REVISION]: '3', [HISTORY]: '1' }, 5, { [REVISION]: '5', [HISTORY]: '1,3' });
check('a revision that is no number stays', { [REVISION]: 'x' }, 5, { [REVISION]: 'x' });

test('the revision history is limited to 2,000 characters', () => {
  const history = Array.from({ length: 600 }, (_, index) => String(1000 + index)).join(',');
  const { [HISTORY]: extended } = newSetAnnotations(testDeployment(), { [REVISION]: '1600', [HISTORY]: history }, 1601);
  assert.ok(extended!.length <= 2000 && extended!.length > 1990);
  assert.ok(extended!.endsWith(',1600'));
});

test('the next revision follows the highest one', () => {
  const sets = ['v2', 'v7'].map((image) => testSet(testDeployment(), { image, size: 0 }));
  assert.equal(nextRevision(sets), 8);
  assert.equal(nextRevision([]), 1);
});
