import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeKubeClient } from '@podwright/kube-client/testing';
import { findKind } from './find-kind.ts';

const signal = new AbortController().signal;

test('a group version without resources, which an API server sends as null, has no kind', async () => {
  const client = new FakeKubeClient();
  client.script({ verb: 'getText' }, JSON.stringify({ resources: null }));
  assert.equal(await findKind(client, { apiVersion: 'example.org/v1', kind: 'Thing' }, signal), undefined);
});
