import assert from 'node:assert/strict';
import { test } from 'node:test';
import { criMarks, dockerLabels, SANDBOX_TYPE, TYPE_LABEL } from './labels.ts';
import { formatName, parseName } from './names.ts';

const container = { name: 'web', podName: 'shop-1.a', namespace: 'default', uid: '1b2c-3', attempt: 4 };

test('all metadata round-trips through a name', () => {
  assert.equal(formatName(container), 'k8s_web_shop-1.a_default_1b2c-3_4');
  assert.deepEqual(parseName(`/${formatName(container)}`), container);
  assert.deepEqual(parseName(`${formatName(container)}_0a1b2c3d`), container);
});

test('foreign names are not decoded', () => {
  for (const name of [
    '/web',
    'k8s_web',
    'k8s_a_b_c_d_e',
    'k8s_a_b_c_d_1_x_y',
    'xk8s_a_b_c_d_1',
    'k8s_a_b_c_d_99999999999',
  ])
    assert.equal(parseName(name), undefined, name);
});

test('metadata not allowed in Docker names is rejected', () => {
  assert.throws(() => formatName({ ...container, podName: 'a_b' }), /'a_b' must be of letters, digits/);
  assert.throws(() => formatName({ ...container, uid: '' }), /'' must be/);
});

test('labels and annotations round-trip', () => {
  const marks = { labels: { app: 'shop', 'annotationx.y': '1' }, annotations: { 'a/b': 'c', '': 'd' } };
  assert.deepEqual(criMarks(dockerLabels(marks, { [TYPE_LABEL]: SANDBOX_TYPE })), marks);
});

test('a client’s label cannot override a dockershim label', () => {
  const labels = { [TYPE_LABEL]: SANDBOX_TYPE };
  const given = dockerLabels({ labels, annotations: {} }, { [TYPE_LABEL]: 'container' });
  assert.deepEqual(given, { [TYPE_LABEL]: 'container' });
});

test('a label cannot override an annotation’s label', () => {
  const marks = { labels: { 'annotation.a': 'label' }, annotations: { a: 'annotation' } };
  assert.deepEqual(criMarks(dockerLabels(marks, {})).annotations, marks.annotations);
});
