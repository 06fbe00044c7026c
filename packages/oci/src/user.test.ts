import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCode } from '@podwright/base';
import { findUser, parseGroup, parsePasswd, type ResolvedUser, userString } from './user.ts';

const passwd = parsePasswd('root:x:0:0:root:/root:/bin/sh\nweb:x:33:34::/:\n# odd\nbad:x:y:z\n1000:x:7:7::/:\n');
const groups = parseGroup('root:x:0:\nwww:x:34:\nextra:x:50:web,other\nmore:x:51:web \nbroken\n');

test('users and groups are found by name and by number', () => {
  const check = (user: string, expected: Partial<ResolvedUser>) => {
    const found = findUser(passwd, groups, { user, supplementalGroups: [], groupsPolicy: 'merge' });
    assert.deepEqual({ ...found, ...expected }, found, user);
  };
  check('', { uid: 0, gid: 0, additionalGids: [0] });
  check('web', { uid: 33, gid: 34, additionalGids: [34, 50, 51] });
  check('33', { uid: 33, gid: 34, additionalGids: [34, 50, 51] });
  check('web:extra', { uid: 33, gid: 50, additionalGids: [50, 51] });
  check('web:99', { uid: 33, gid: 99 });
  check('1234', { uid: 1234, gid: 0, additionalGids: [0] });
  check('1000', { uid: 1000, gid: 0 });
  check(':www', { uid: 0, gid: 34 });
});

test('image groups are added with the policy Merge, but not with Strict', () => {
  const request = { user: 'web', supplementalGroups: [7, 34] };
  const gids = (groupsPolicy: 'merge' | 'strict') =>
    findUser(passwd, groups, { ...request, groupsPolicy }).additionalGids;
  assert.deepEqual(gids('merge'), [34, 50, 51, 7]);
  assert.deepEqual(gids('strict'), [34, 7]);
});

test('names without an entry and numbers out of range are refused', () => {
  for (const user of ['nobody', 'web:nobody', '99999999999'])
    assert.throws(
      () => findUser(passwd, groups, { user, supplementalGroups: [], groupsPolicy: 'merge' }),
      (error) => errorCode(error) === 'invalid_argument',
      user,
    );
});

test('the user requested for the container takes precedence over that of the image', () => {
  const check = (requested: Parameters<typeof userString>[0], expected: string) =>
    assert.equal(userString(requested, 'img:grp'), expected);
  check({ runAsUsername: '' }, 'img:grp');
  check({ runAsUsername: 'x' }, 'x');
  check({ runAsUsername: 'x', runAsUser: 5 }, '5');
  check({ runAsUsername: '', runAsUser: 0, runAsGroup: 0 }, '0:0');
  assert.throws(() => userString({ runAsUsername: '', runAsGroup: 5 }, 'img'), /group 5/);
});
