import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namespaceBehindVerb } from './leading-namespace.ts';

test('a namespace before the verb is moved after it, as in kubectl', () => {
  const check = (words: string, expected: string) =>
    assert.equal(namespaceBehindVerb(words.split(' ')).join(' '), expected, words);
  check('-n team get pods', 'get -n team pods');
  check('--namespace team logs -f web', 'logs --namespace team -f web');
  check('--namespace=team get pods', 'get --namespace=team pods');
  check('-nteam ps', 'ps -nteam');
  check('--root /r -n team --state=/s exec web -- ls -n', '--root /r --state=/s exec -n team web -- ls -n');
  for (const same of ['get -n team pods', '--root -n get', '-n', '-n team', '--version', '-h', 'exec web -- ls -n a'])
    check(same, same);
});
