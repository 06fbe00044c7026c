import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Template, templateChanges } from './template-change.ts';

const template = (container: object, spec: object = {}) =>
  ({ spec: { ...spec, containers: [{ name: 'web', image: 'a:1', ...container }] } }) as unknown as Template;

test('template changes are described by container and field', () => {
  const before = template({ env: [{ name: 'A', value: '1' }] });
  assert.deepEqual(templateChanges(before, before), []);
  const after = template({ image: 'a:2', args: ['x'], env: [{ name: 'A', value: '2' }] }, { hostNetwork: true });
  assert.deepEqual(templateChanges(before, after), [
    'the image of container web from "a:1" to "a:2"',
    'the variable A of container web',
    'args of container web',
    'spec.hostNetwork',
  ]);
  const other = { spec: { containers: [{ name: 'db', image: 'b' }] } } as unknown as Template;
  assert.deepEqual(templateChanges(before, other), ['a new container db', 'container web was removed']);
});
