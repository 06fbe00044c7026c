import assert from 'node:assert/strict';
import { test } from 'node:test';
import { align, Lines } from './aligned.ts';

test('adjacent lines with a tab share their column width, and other lines end it', () => {
  assert.deepEqual(align(['Name:\tweb', 'Namespace:\tdefault', 'Pods:', '  Image:\ta', 'Events:\t<none>']), [
    'Name:       web',
    'Namespace:  default',
    'Pods:',
    '  Image:  a',
    'Events:   <none>',
  ]);
});

test('a column is as wide as its widest cell, in code points', () => {
  assert.deepEqual(align(['é😀\tx\t1', 'a\tlong\t2']), ['é😀  x     1', 'a   long  2']);
  assert.deepEqual(align(['a\tb\tc', 'wide\tlast', 'b\tc\td']), ['a     b  c', 'wide  last', 'b     c  d']);
});

test('an empty list is shown as <none>', () => {
  const lines = new Lines();
  lines.list(0, 'Labels', []);
  lines.list(0, 'Annotations', ['a: 1', 'b: 2']);
  assert.equal(lines.text(), 'Labels:       <none>\nAnnotations:  a: 1\n              b: 2');
});
