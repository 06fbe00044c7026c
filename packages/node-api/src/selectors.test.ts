import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_SELECTOR_LENGTH, parseFieldSelector, parseLabelSelector } from './selectors.ts';

const labels = { app: 'web', tier: 'front', 'example.com/n': '5', empty: '' };

test('label selectors support equality and sets', () => {
  const check = (selector: string, expected: boolean) =>
    assert.equal(parseLabelSelector(selector)(labels), expected, selector);
  check('', true);
  check('app=web', true);
  check('app==web', true);
  check('app = web , tier = front', true);
  check('app=db', false);
  check('app!=db', true);
  check('other!=x', true);
  check('app', true);
  check('other', false);
  check('!other', true);
  check('!app', false);
  check('empty=', true);
  check('app in (db,web)', true);
  check('app in (db, web),tier notin (back)', true);
  check('app notin (web)', false);
  check('other notin (web)', true);
  check('other in (web)', false);
  check('example.com/n>4', true);
  check('example.com/n<5', false);
  check('app>4', false);
  check('toString', false);
  assert.equal(parseLabelSelector('!a')(undefined), true);
});

test('an invalid label selector is rejected, naming the invalid part', () => {
  const check = (selector: string, message: RegExp) =>
    assert.throws(() => parseLabelSelector(selector), { code: 'invalid_argument', message });
  check('app=web,', /^label selector "": is not one of key=value/);
  check('app=web,a b', /^label selector "a b": is not one of/);
  check('app in web', /^label selector "app in web"/);
  check('-app=x', /^label selector "-app=x": must be letters/);
  check('app=a/b', /"app=a\/b": must be letters/);
  check('n>x', /"n>x": the value is not a number/);
  check('a in (b', /^label selector/);
  check(`a=${'b'.repeat(100)}`, /must be at most 63 characters$/);
  check('a,'.repeat(MAX_SELECTOR_LENGTH), /is longer than/);
});

test('field selectors support the fields of the kind', () => {
  const fields = { 'metadata.name': (one: { name: string }) => one.name, 'status.phase': () => 'Running' };
  const check = (selector: string, name: string, expected: boolean) =>
    assert.equal(parseFieldSelector(selector, fields)({ name }), expected, selector);
  check('', 'a', true);
  check('metadata.name=a', 'a', true);
  check('metadata.name==a,status.phase=Running', 'a', true);
  check('metadata.name!=a', 'a', false);
  check('metadata.name=a,status.phase!=Running', 'a', false);
  check('metadata.name=a\\,b\\=c\\\\', 'a,b=c\\', true);
  check('metadata.name=c\\\\,status.phase=Running', 'c\\', true);
  const refuse = (selector: string, message: RegExp) =>
    assert.throws(() => parseFieldSelector(selector, fields), { code: 'invalid_argument', message });
  refuse('metadata.nam=a', /^field selector "metadata.nam=a": the fields are .*; did you mean "metadata.name"\?$/);
  refuse('toString=a', /the fields are metadata.name, status.phase/);
  refuse('metadata.name', /is neither field=value nor field!=value$/);
});
