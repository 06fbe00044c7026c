import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodwrightError } from '@podwright/base';
import type { ObjectClient } from '../client/object-client.ts';
import { parseObjects } from '../client/object-names.ts';
import { show } from './get.ts';
import type { GetOptions } from './get-options.ts';

test('a missing object is an error unless --ignore-not-found is set', async () => {
  const client = {
    get: () => Promise.reject(new PodwrightError('not_found', 'there is no pod default/web')),
  } as unknown as ObjectClient;
  const get = (more: Partial<GetOptions>) => {
    const options: GetOptions = { namespace: 'default', output: { type: 'json' }, headers: true, ...more };
    return show(client, { selection: parseObjects(['pod', 'web']), columns: () => [], options });
  };
  await assert.rejects(get({}), { code: 'not_found' });
  await get({ ignoreNotFound: true });
});
