import assert from 'node:assert/strict';
import { test } from 'node:test';
import { credentialsIn, hostCredentials } from './host-credentials.ts';

const text = JSON.stringify({
  auths: {
    'https://index.docker.io/v1/': { auth: 'aHViOnB3' },
    'example.com': { username: 'all', password: 'pw' },
    'https://example.com/v2/': { identitytoken: 'token' },
    'example.com/team': { auth: 'dGVhbTpwdw==' },
    '127.0.0.1:5000': { auth: 'bG9jYWw6cHc=' },
  },
  credHelpers: { 'gcr.io': 'gcloud' },
});

test('an image’s credentials are those matching its registry and path, longest match first', () => {
  const check = (image: string, expected: string[]) =>
    assert.deepEqual(
      credentialsIn(text, image).map(({ serverAddress }) => serverAddress),
      expected,
      image,
    );
  check('busybox', ['https://index.docker.io/v1/']);
  check('grafana/loki', ['https://index.docker.io/v1/']);
  check('example.com/pause', ['example.com', 'https://example.com/v2/']);
  check('example.com/team/pause', ['example.com/team', 'example.com', 'https://example.com/v2/']);
  check('example.com/teams/pause', ['example.com', 'https://example.com/v2/']);
  check('127.0.0.1:5000/x', ['127.0.0.1:5000']);
  check('gcr.io/pause', []);
});

test('a missing file means no credentials, and a malformed one is an error that names it', async () => {
  assert.deepEqual(await hostCredentials('/nosuch/config.json', 'busybox'), []);
  await assert.rejects(hostCredentials('/proc/self/status', 'busybox'), /credentials in \/proc\/self\/status/);
});
