import assert from 'node:assert/strict';
import { test } from 'node:test';
import { remoteUserHeaders, UnsendableUser } from './remote-user.ts';

test('a user is sent with UID, groups and extra attributes', () => {
  const extra = { 'authentication.kubernetes.io/credential-id': ['a', 'b'], 'x%y': ['c'], empty: [] };
  assert.deepEqual(remoteUserHeaders({ username: 'jane', uid: '7', groups: ['dev', 'qa'], extra }), {
    'X-Remote-User': 'jane',
    'X-Remote-Uid': '7',
    'X-Remote-Group': ['dev', 'qa'],
    'X-Remote-Extra-authentication.kubernetes.io%2Fcredential-id': ['a', 'b'],
    'X-Remote-Extra-x%25y': ['c'],
  });
  assert.deepEqual(remoteUserHeaders({ username: 'jane', groups: [] }), { 'X-Remote-User': 'jane' });
});

test('non-ASCII names are sent as UTF-8', () => {
  const { 'X-Remote-User': sent } = remoteUserHeaders({ username: 'zoë', groups: [] });
  assert.equal(Buffer.from(String(sent), 'latin1').toString(), 'zoë');
  const { 'X-Remote-Extra-%C3%AB': value } = remoteUserHeaders({ username: 'a', groups: [], extra: { ë: ['b'] } });
  assert.deepEqual(value, ['b']);
});

test('users that a receiver could mistake for others are refused', () => {
  const refused = (user: object) =>
    assert.throws(() => remoteUserHeaders({ username: 'a', groups: [], ...user }), UnsendableUser);
  for (const username of [' system:admin', 'system:admin ', 'a\r\nX-Remote-Group: system:masters', 'a\0', '\u00a0a'])
    refused({ username });
  refused({ groups: ['dev', ' system:masters'] });
  refused({ extra: { scopes: ['a\nb'] } });
  refused({ uid: 'x\t' });
});
