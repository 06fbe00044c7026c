import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MASTERS } from '@podwright/kube-kinds';
import type { Decision } from './authorizer.ts';
import { forbiddenMessage } from './forbidden-message.ts';
import { privilegedGroups } from './privileged-groups.ts';
import { ALICE, request, rules } from './test-rbac.fixture.ts';
import { unionAuthorizer, unionRuleResolver } from './union.ts';

const says = (decision: Decision, reason = '') => ({ authorize: () => ({ decision, reason }) });

test('the first authorizer with an opinion wins', () => {
  const check = (authorizers: ReturnType<typeof says>[], expected: unknown) =>
    assert.deepEqual(unionAuthorizer(authorizers).authorize(request('get core pods')), expected);
  const none = says('no opinion', 'none');
  check([], { decision: 'no opinion', reason: '' });
  check([none, says('no opinion'), says('no opinion', 'nor I')], { decision: 'no opinion', reason: 'none\nnor I' });
  check([none, says('allow', 'yes'), says('deny')], { decision: 'allow', reason: 'yes' });
  check([none, says('deny', 'no'), says('allow')], { decision: 'deny', reason: 'no' });
});

test('rules from all resolvers are listed', () => {
  const resolver = (line: string, isIncomplete: boolean) => ({
    rulesFor: () => ({ rules: rules(line), isIncomplete, errors: [line] }),
  });
  assert.deepEqual(unionRuleResolver([resolver('get /a', false), resolver('get /b', true)]).rulesFor(ALICE, ''), {
    rules: rules('get /a', 'get /b'),
    isIncomplete: true,
    errors: ['get /a', 'get /b'],
  });
});

test('members of system:masters have all permissions', () => {
  const authorizer = privilegedGroups([MASTERS]);
  const root = { username: 'root', groups: ['a', MASTERS] };
  assert.deepEqual(authorizer.authorize(request('get /', root)), { decision: 'allow', reason: '' });
  assert.deepEqual(authorizer.authorize(request('get /')), { decision: 'no opinion', reason: '' });
});

test('a denial names the user, the request and the reason', () => {
  const check = (line: string, reason: string, expected: string) =>
    assert.equal(forbiddenMessage(request(line), reason), expected);
  check('get core pods', '', 'User "alice" cannot get resource "pods" in API group "" at the cluster scope');
  check(
    'get apps deployments/scale shop/x',
    'no',
    'User "alice" cannot get resource "deployments/scale" in API group "apps" in the namespace "shop": no',
  );
  check('post /a<b>&c', '', 'User "alice" cannot post path "/a&lt;b&gt;&amp;c"');
});
