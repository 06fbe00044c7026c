import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { CreateContainerRequestSchema, PullImageRequestSchema } from '../messages.ts';
import { redactedJson } from './redact.ts';

test('secrets are removed from the log at any depth, and the message itself is unchanged', () => {
  const pull = create(PullImageRequestSchema, { auth: { username: 'me', password: 'secret', auth: 'c2VjcmV0' } });
  assert.deepEqual(redactedJson(PullImageRequestSchema, pull), { auth: { username: 'me' } });
  assert.equal(pull.auth?.password, 'secret');

  const envs = [{ key: 'TOKEN', value: Buffer.from('secret') }];
  const container = create(CreateContainerRequestSchema, { podSandboxId: 's1', config: { envs } });
  assert.deepEqual(redactedJson(CreateContainerRequestSchema, container), {
    podSandboxId: 's1',
    config: { envs: [{ key: 'TOKEN' }] },
  });
});
