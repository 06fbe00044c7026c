/** Custom resources with kubectl: a definition, its objects, and the deletion of both. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { ApiPlace } from './api-place.fixture.ts';

let place: ApiPlace;

/** Runs kubectl, which must succeed, and returns its output. */
function ok(...args: string[]): string {
  const { code, out, err } = place.kubectl(...args);
  assert.equal(code, 0, `${args.join(' ')}: ${err}${out}`);
  return out;
}

/** Runs kubectl, expecting it to fail, and returns its stderr. */
function fails(...args: string[]): string {
  const { code, out, err } = place.kubectl(...args);
  assert.notEqual(code, 0, `${args.join(' ')}: ${out}`);
  return err;
}

const DEFINITION = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crontabs.stable.example.com}
spec:
  group: stable.example.com
  scope: Namespaced
  names: {plural: crontabs, kind: CronTab, shortNames: [ct], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    additionalPrinterColumns: [{name: Schedule, type: string, jsonPath: .spec.schedule}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            description: What to run, and when.
            required: [schedule]
            properties:
              schedule: {type: string, pattern: '^(\\S+ ){4}\\S+$'}
              replicas: {type: integer, default: 1, maximum: 10}
          status: {type: object, properties: {replicas: {type: integer}}}
`;

const cronTab = (schedule: string, more = '') => `
apiVersion: stable.example.com/v1
kind: CronTab
metadata: {name: nightly}
spec: {schedule: "${schedule}"${more}}
`;

const file = (content: string) => place.file('manifest.yaml', content);

suite('custom resources', () => {
  before(async () => {
    place = await ApiPlace.start();
    ok('apply', '-f', file(DEFINITION));
    ok('wait', '--for', 'condition=established', '--timeout', '20s', 'crd/crontabs.stable.example.com');
  });
  after(() => place.remove());

  test('are applied, printed, scaled and explained', () => {
    assert.equal(ok('apply', '-f', file(cronTab('0 3 * * *'))), 'crontab.stable.example.com/nightly created\n');
    assert.equal(ok('apply', '-f', file(cronTab('0 3 * * *'))), 'crontab.stable.example.com/nightly unchanged\n');
    assert.match(ok('get', 'ct'), /^NAME +SCHEDULE\nnightly +0 3 \* \* \*\n$/);
    assert.match(ok('get', 'all', '-o', 'name'), /^crontab\.stable\.example\.com\/nightly$/m);
    ok('scale', 'ct/nightly', '--replicas', '4');
    assert.equal(ok('get', 'ct', 'nightly', '-o', 'jsonpath={.spec.replicas}'), '4');
    assert.match(ok('explain', 'ct.spec'), /What to run, and when\.[\s\S]*schedule/);
    assert.match(ok('api-resources'), /^crontabs +ct +stable\.example\.com\/v1 +true +CronTab$/m);
  });

  test('are validated by the schema of their definition', () => {
    assert.match(fails('apply', '-f', file(cronTab('never'))), /spec\.schedule in body should match/);
    const many = fails('apply', '-f', file(cronTab('0 3 * * *', ', replicas: 11')));
    assert.match(many, /spec\.replicas in body should be less than or equal to 10/);
  });

  test('are deleted with their definition', () => {
    ok('delete', 'crd', 'crontabs.stable.example.com', '--timeout', '20s');
    assert.match(fails('get', '--raw', '/apis/stable.example.com/v1/crontabs'), /could not find|NotFound/);
    assert.doesNotMatch(ok('api-resources'), /crontabs/);
  });
});
