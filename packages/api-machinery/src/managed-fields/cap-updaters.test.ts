/** Upstream's test cases (managedfields/internal/capmanagers_test.go), with a maximum of three updaters. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parseFieldsV1 } from '@podwright/kube-schema';
import { capUpdaters } from './cap-updaters.ts';
import { encodeOwners, identifierOf, type Owner } from './owners.ts';

/** Parses a field owner in the form `MANAGER VERSION SECOND FIELDS`. */
function ownerOf(text: string): Owner {
  const [manager = '', apiVersion = '', second = '', fields = ''] = text.split(' ');
  const set = parseFieldsV1(Object.fromEntries([...fields].map((field) => [`f:${field}`, {}])));
  const time = new Date(Number(second) * 1000).toISOString();
  return { manager, operation: 'Update', apiVersion, subresource: '', fields: set, time };
}

function check(given: string[], expected: string[]): void {
  const owners = new Map(given.map((text) => [identifierOf(ownerOf(text)), ownerOf(text)]));
  const capped = encodeOwners(capUpdaters(owners, 3)).map(({ manager, apiVersion, time, fieldsV1 }) => {
    const fields = Object.keys(fieldsV1!).map((field) => field.slice(2));
    return `${manager} ${apiVersion} ${Date.parse(time!) / 1000} ${fields.join('')}`;
  });
  assert.deepEqual(capped, expected);
}

it('merges the oldest updaters of a version', () => {
  check(['m1 v1 1 a', 'm2 v1 2 b', 'm3 v1 3 c', 'm4 v1 4 d'], ['ancient-changes v1 2 ab', 'm3 v1 3 c', 'm4 v1 4 d']);
  check(
    ['ancient-changes v1 2 ab', 'm3 v1 3 c', 'm4 v1 4 d', 'm5 v1 5 e'],
    ['ancient-changes v1 3 abc', 'm4 v1 4 d', 'm5 v1 5 e'],
  );
});

it('merges no updaters of different versions', () => {
  check(
    ['m1 v1 1 a', 'm2 v2 2 b', 'm3 v1 3 c', 'm4 v1 4 d', 'm5 v1 5 e'],
    ['m2 v2 2 b', 'ancient-changes v1 4 acd', 'm5 v1 5 e'],
  );
  check(
    ['m2 v2 2 b', 'ancient-changes v1 4 acd', 'm5 v1 5 e', 'm6 v3 6 f', 'm7 v2 7 g'],
    ['ancient-changes v1 5 acde', 'm6 v3 6 f', 'ancient-changes v2 7 bg'],
  );
  const four = ['ancient-changes v1 5 acde', 'm6 v3 6 f', 'ancient-changes v2 7 bg', 'm8 v4 8 h'];
  check(four, four);
});
