import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../json.ts';
import { formatFieldsV1, parseFieldsV1 } from './fields-v1.ts';
import { formatElements } from './path-element.ts';

describe('field sets', () => {
  it('are written in the order of structured-merge-diff', () => {
    // cases from structured-merge-diff's fieldpath/serialize_test.go
    const texts = [
      `{"f:aaa":{},"f:aab":{},"k:{\\"name\\":\\"first\\"}":{},"k:{\\"name\\":\\"second\\"}":{},"k:{\\"port\\":443,\\"protocol\\":\\"tcp\\"}":{},"k:{\\"port\\":443,\\"protocol\\":\\"udp\\"}":{},"v:1":{},"v:2":{},"v:3":{},"v:\\"aa\\"":{},"v:\\"ab\\"":{},"v:true":{},"i:1":{},"i:2":{}}`,
      `{"f:aaa":{"k:{\\"name\\":\\"second\\"}":{"v:3":{"f:aab":{}}},"v:3":{},"v:true":{}},"f:aab":{"f:aaa":{},"f:aaf":{"k:{\\"port\\":443,\\"protocol\\":\\"udp\\"}":{"k:{\\"port\\":443,\\"protocol\\":\\"tcp\\"}":{}}}}}`,
      `{"f:spec":{".":{},"f:apps":{".":{},"k:{\\"name\\":\\" app-💻\\"}":{".":{},"f:name":{}}}}}`,
    ];
    for (const text of texts) assert.equal(JSON.stringify(formatFieldsV1(parseFieldsV1(JSON.parse(text)))), text);
  });

  it('are normalised when they are read', () => {
    const read = (key: string) => Object.keys(formatFieldsV1(parseFieldsV1({ [key]: {} })))[0];
    assert.equal(read('k:{ "protocol":"udp","port":443}'), 'k:{"port":443,"protocol":"udp"}');
    assert.equal(read('v: 3'), 'v:3');
    assert.equal(read('i:04'), 'i:4');
  });

  it('with malformed keys are refused', () => {
    for (const key of ['', 'f', 'x:a', 'k:', 'k:[]', 'v:', 'v:x', 'i:x'])
      assert.throws(() => parseFieldsV1({ [key]: {} }), { code: 'invalid_argument' }, key);
    assert.throws(() => parseFieldsV1({ 'f:a': 1 }), { code: 'invalid_argument' });
    let deep: JsonObject = {};
    for (let depth = 0; depth < 2000; depth++) deep = { 'f:a': deep };
    assert.throws(() => parseFieldsV1(deep), { code: 'invalid_argument', message: /max depth/ });
  });

  it('have paths as conflicts show them, members before those below', () => {
    const set = parseFieldsV1({
      'f:a': { '.': {}, 'k:{"port":80,"name":"x"}': { 'v:"s"': {}, 'i:1': {} } },
      'f:b': {},
    });
    const expected = ['.a', '.b', '.a[name="x",port=80][="s"]', '.a[name="x",port=80][1]'];
    assert.deepEqual([...set.paths()].map(formatElements), expected);
  });
});
