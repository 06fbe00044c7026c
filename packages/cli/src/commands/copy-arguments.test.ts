import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCopySide } from './copy-arguments.ts';

test('paths in a pod are distinguished from host paths', () => {
  const remote = (text: string) => {
    const side = parseCopySide(text);
    assert.equal(side.kind, 'remote', text);
    return side.kind === 'remote' ? [side.qualifier, side.pod, side.path] : [];
  };
  assert.deepEqual(remote('web:/etc/hosts'), [undefined, 'web', '/etc/hosts']);
  assert.deepEqual(remote('team-a/web:x:y'), ['team-a', 'web', 'x:y']);
  assert.deepEqual(remote('deploy/web:/x'), ['deploy', 'web', '/x']);
  for (const path of ['file', './a:b', '/a:b', '../a:b', '.'])
    assert.deepEqual(parseCopySide(path), { kind: 'local', path });
  for (const wrong of [':/x', 'web:', 'a/b/c:/x']) {
    assert.throws(() => parseCopySide(wrong), { code: 'invalid_argument', message: /neither a path nor POD:PATH/ });
  }
});
