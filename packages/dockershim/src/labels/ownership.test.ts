import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONTAINER_TYPE, SANDBOX_TYPE, TYPE_LABEL } from './labels.ts';
import { isOurs, requireOurs } from './ownership.ts';

test('a dockershim container is recognized by its label and name together', () => {
  const check = (type: typeof CONTAINER_TYPE | typeof SANDBOX_TYPE, label: string, name: string, expected: boolean) =>
    assert.equal(
      isOurs(type, { names: [name], labels: { [TYPE_LABEL]: label } }),
      expected,
      `${type} ${label} ${name}`,
    );
  check(CONTAINER_TYPE, 'container', '/k8s_web_shop_default_uid_0', true);
  check(CONTAINER_TYPE, 'container', 'k8s_web_shop_default_uid_0_0a1b', true);
  check(SANDBOX_TYPE, 'podsandbox', '/k8s_POD_shop_default_uid_0', true);
  check(CONTAINER_TYPE, 'podsandbox', '/k8s_POD_shop_default_uid_0', false);
  check(CONTAINER_TYPE, 'container', '/k8s_POD_shop_default_uid_0', false);
  check(SANDBOX_TYPE, 'podsandbox', '/k8s_web_shop_default_uid_0', false);
  check(CONTAINER_TYPE, 'container', '/web', false);
  check(CONTAINER_TYPE, '', '/k8s_web_shop_default_uid_0', false);
});

test('a foreign container is not found', () => {
  assert.throws(() => requireOurs(CONTAINER_TYPE, { names: ['/web'], labels: {} }, 'exec in container web'), {
    code: 'not_found',
    message: 'exec in container web: not a container of a pod',
  });
});
