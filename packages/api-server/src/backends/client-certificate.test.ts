import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClientCertificate } from './client-certificate.ts';

test('is issued on first use, again before it expires, and after the clock was set back', () => {
  const issued: string[] = [];
  const client = (subject: object, lifeMs = 0) => {
    issued.push(JSON.stringify(subject));
    return { certificate: `${issued.length}, ${lifeMs / 86_400_000} days`, key: '' };
  };
  let days = 100;
  const own = new ClientCertificate({ client }, { commonName: 'me' }, () => days * 86_400_000);
  assert.deepEqual(issued, []);
  assert.equal(own.pair().certificate, '1, 30 days');
  days += 19;
  assert.equal(own.pair().certificate, '1, 30 days');
  days += 1;
  assert.equal(own.pair().certificate, '2, 30 days');
  days -= 2; // the clock was set back
  assert.equal(own.pair().certificate, '3, 30 days');
  assert.equal(issued[0], '{"commonName":"me"}');
});
