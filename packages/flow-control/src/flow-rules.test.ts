import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FlowRequest } from './flow-request.ts';
import { matcherOf } from './flow-rules.ts';

const INFO: FlowRequest['info'] = {
  isResourceRequest: true,
  path: '/api/v1/namespaces/n/pods',
  verb: 'list',
  apiGroup: '',
  resource: 'pods',
  subresource: '',
  namespace: 'n',
};
const USER = { username: 'alice', groups: ['staff'] };
const ANYBODY = [{ kind: 'Group', group: { name: '*' } }];
const RESOURCES = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] };

const schemaWith = (...rules: object[]) => ({ metadata: { name: 's' }, spec: { rules } }) as never;

test('a rule matches users, groups and service accounts', () => {
  const check = (subject: object, username: string, expected: boolean) => {
    const matches = matcherOf(schemaWith({ subjects: [subject], resourceRules: [RESOURCES] }));
    assert.equal(matches({ user: { ...USER, username }, info: INFO }), expected, JSON.stringify([subject, username]));
  };
  check({ kind: 'User', user: { name: 'alice' } }, 'alice', true);
  check({ kind: 'User', user: { name: 'alice' } }, 'bob', false);
  check({ kind: 'User', user: { name: '*' } }, 'bob', true);
  check({ kind: 'Group', group: { name: 'staff' } }, 'bob', true);
  check({ kind: 'Group', group: { name: 'others' } }, 'bob', false);
  check({ kind: 'Group', group: { name: '*' } }, 'bob', true);
  const account = (name: string) => ({ kind: 'ServiceAccount', serviceAccount: { namespace: 'n', name } });
  check(account('a'), 'system:serviceaccount:n:a', true);
  check(account('a'), 'system:serviceaccount:n:b', false);
  check(account('*'), 'system:serviceaccount:n:b', true);
  check(account('*'), 'system:serviceaccount:nn:b', false);
  check(account('*'), 'n:b', false);
  check({ kind: 'User', group: { name: 'staff' } }, 'bob', false);
});

test('a resource rule matches by verb, group, resource with subresource, and namespace', () => {
  const check = (rule: object, info: object, expected: boolean) => {
    const matches = matcherOf(schemaWith({ subjects: ANYBODY, resourceRules: [{ ...RESOURCES, ...rule }] }));
    assert.equal(matches({ user: USER, info: { ...INFO, ...info } }), expected, JSON.stringify([rule, info]));
  };
  check({}, {}, true);
  check({ verbs: ['get'] }, {}, false);
  check({ verbs: ['get', 'list'] }, {}, true);
  check({ apiGroups: ['apps'] }, {}, false);
  check({ apiGroups: [''] }, {}, true);
  check({ resources: ['pods'] }, {}, true);
  check({ resources: ['pods'] }, { subresource: 'log' }, false);
  check({ resources: ['pods/log'] }, { subresource: 'log' }, true);
  check({ namespaces: ['m'] }, {}, false);
  check({ namespaces: ['n'] }, {}, true);
  check({ namespaces: ['n'] }, { namespace: '' }, true);
  check({ clusterScope: false }, { namespace: '' }, false);
  check({}, { isResourceRequest: false }, false);
});

test('a path rule matches the paths under it', () => {
  const check = (url: string, path: string, expected: boolean) => {
    const rule = { verbs: ['get'], nonResourceURLs: [url] };
    const matches = matcherOf(schemaWith({ subjects: ANYBODY, nonResourceRules: [rule] }));
    const info = { ...INFO, isResourceRequest: false, verb: 'get', path };
    assert.equal(matches({ user: USER, info }), expected, `${url} ${path}`);
  };
  check('*', '/x', true);
  check('/healthz', '/healthz', true);
  check('/healthz', '/healthz/ping', true);
  check('/healthz', '/healthzz', false);
  check('/healthz/*', '/healthz/ping', true);
  check('/healthz/*', '/healthz', false);
});
