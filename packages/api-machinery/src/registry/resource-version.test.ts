import assert from 'node:assert/strict';
import { it } from 'node:test';
import { formatContinue, listVersion, parseContinue, watchVersion } from './resource-version.ts';
import { refusal } from './test-registries.fixture.ts';

it('versions are numbers', async () => {
  assert.deepEqual(['', '0', '12'].map(listVersion), [0, 0, 12]);
  const list = await refusal(() => listVersion('abc'));
  assert.deepEqual(
    [list.code, list.message],
    [
      400,
      'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    ],
  );
  const watch = await refusal(() => watchVersion('-1'));
  assert.deepEqual([watch.code, watch.reason], [500, undefined]);
});

it('continue tokens have a position, and perhaps a revision', () => {
  for (const position of [{ revision: 7, after: 'default/ä' }, { after: '/a' }])
    assert.deepEqual(parseContinue(formatContinue(position)), position);
});

it('other continue tokens are rejected', async () => {
  const token = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const check = async (text: string, expected: string) => {
    const { code, message } = await refusal(() => parseContinue(text));
    assert.deepEqual([code, message], [400, `invalid continue token: continue key is not valid${expected}`]);
  };
  for (const text of ['nonsense', token(null), token('x'), 'x'.repeat(10_000)]) await check(text, '');
  await check('%%', ': illegal base64 data at input byte 0');
  await check('wrong', ': illegal base64 data at input byte 4');
  await check(token({ v: 'v2', rv: 1, start: 'a' }), ': server does not recognize this encoded version');
  for (const rv of [0, 'x', 1.5, 1e300])
    await check(
      token({ v: 'meta.k8s.io/v1', rv, start: 'a' }),
      ': incorrect encoded start resourceVersion (version meta.k8s.io/v1)',
    );
  for (const start of ['', 7, undefined])
    await check(token({ v: 'meta.k8s.io/v1', rv: 1, start }), ': encoded start key empty (version meta.k8s.io/v1)');
});
