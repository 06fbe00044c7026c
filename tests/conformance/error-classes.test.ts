/**
 * Compares the class of each error from Podwright's runtime with Debian's containerd 1.6, using the same client: it must be the same unless
 * there is a reason to differ.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { errorCode } from '@podwright/base';
import { errorCases, listCases, makeWorld, type Outcome, type World } from './error-cases.fixture.ts';
import { openers } from './runtimes.fixture.ts';

async function outcomeOf(call: Promise<unknown>): Promise<Outcome> {
  return call.then(() => 'ok' as const, errorCode);
}

for (const [who, open] of Object.entries(openers('err'))) {
  suite(`errors of ${who === 'ours' ? 'our runtime' : 'containerd 1.6'}`, { timeout: 300_000 }, () => {
    let world: World;
    before(async () => {
      world = await makeWorld(await open());
    });
    after(() => world?.end());

    for (const [what, { ask, shown }] of Object.entries(listCases)) {
      test(`a container is listed ${what}`, async () => assert.deepEqual(await ask(world), shown));
    }

    for (const one of errorCases) {
      const expected = who === 'ours' ? one.ours : one.containerd;
      test(`${one.what}: ${expected}`, async () => {
        assert.equal(await outcomeOf(one.call(world)), expected, one.why);
      });
    }
  });
}

test('every difference has a documented reason, and only differences have one', () => {
  const wrong = errorCases.filter(({ ours, containerd, why }) => (ours === containerd) !== (why === ''));
  assert.deepEqual(wrong, []);
});
