import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pathRequest } from '../path-request.fixture.ts';
import { type FailedCheck, Health } from './health.ts';

const failures: FailedCheck[] = [];
let isBroken = false;
const health = new Health(
  {
    livez: [],
    readyz: [
      { name: 'store', check: () => (isBroken ? Promise.reject(new Error('disk full')) : Promise.resolve()) },
      { name: 'poststarthook/certificates', check: () => undefined },
    ],
    healthz: [],
  },
  (failed) => failures.push(failed),
);

async function check(target: string, status: number, body: string) {
  const response = await health.respond(pathRequest(target));
  assert.deepEqual([response?.status, response?.body], [status, body], target);
}

describe('health endpoints', () => {
  it('respond with ok, or with a line for each check', async () => {
    isBroken = false;
    await check('/readyz', 200, 'ok');
    await check('/livez', 200, 'ok');
    await check('/livez?verbose', 200, '[+]ping ok\nlivez check passed\n');
    const lines = '[+]ping ok\n[+]store ok\n[+]poststarthook/certificates ok\n';
    await check('/readyz?verbose=1', 200, `${lines}readyz check passed\n`);
    const excluded = '[+]ping ok\n[+]store excluded: ok\n[+]poststarthook/certificates ok\n';
    const warning = 'warn: some health checks cannot be excluded: no matches for "a","b"\n';
    await check('/readyz?verbose&exclude=store&exclude=b&exclude=a', 200, `${excluded}${warning}readyz check passed\n`);
  });

  it('respond to single checks', async () => {
    isBroken = false;
    await check('/readyz/store', 200, 'ok');
    await check('/readyz/poststarthook/certificates', 200, 'ok');
    await check('/livez/ping', 200, 'ok');
    await check('/livez/store', 404, '404 page not found\n');
    await check('/livez/', 404, '404 page not found\n');
    assert.equal(await health.respond(pathRequest('/api')), undefined);
    assert.equal(await health.respond(pathRequest('/constructor')), undefined);
  });

  it('withhold the reason of a failure, except from clients that may request the check itself', async () => {
    isBroken = true;
    failures.length = 0;
    const lines = '[+]ping ok\n[-]store failed: reason withheld\n[+]poststarthook/certificates ok\n';
    await check('/readyz', 500, `${lines}readyz check failed\n`);
    assert.deepEqual(failures, [{ endpoint: 'readyz', check: 'store', error: new Error('disk full') }]);
    await check('/readyz?exclude=store', 200, 'ok');
    await check('/readyz/store', 500, 'internal server error: disk full\n');
  });

  it('fail if a check does not end', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const hung = new Health(
      { livez: [{ name: 'stuck', check: () => new Promise(() => undefined) }], readyz: [], healthz: [] },
      () => undefined,
    );
    const response = hung.respond(pathRequest('/livez/stuck'));
    context.mock.timers.tick(5000);
    assert.equal((await response)!.body, 'internal server error: health check stuck: no answer within 5000 ms\n');
  });

  it('are listed with their checks', () => {
    const readyz = ['/readyz', '/readyz/ping', '/readyz/store', '/readyz/poststarthook/certificates'];
    assert.deepEqual(health.paths, ['/livez', '/livez/ping', ...readyz, '/healthz', '/healthz/ping']);
  });
});
