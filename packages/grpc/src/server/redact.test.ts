import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { EchoRequestSchema } from '../gen/podwright/test/v1/test_pb.js';
import { redactedJson } from './redact.ts';

test('secrets are redacted from the log at any depth, and the message itself is unchanged', () => {
  const login = { name: 'me', password: 'secret' };
  const variables = [{ key: 'TOKEN', value: Buffer.from('secret') }];
  const message = create(EchoRequestSchema, { text: 'hello', login, variables, logins: { here: login } });
  assert.deepEqual(redactedJson(EchoRequestSchema, message), {
    text: 'hello',
    login: { name: 'me' },
    variables: [{ key: 'TOKEN' }],
    logins: { here: { name: 'me' } },
  });
  assert.equal(message.login?.password, 'secret');
});
