import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isEmptyChange, RuleLedger } from './rule-ledger.ts';
import type { RuleElement, TableRules } from './table-rules.ts';

const createLedger = () => new RuleLedger([{ name: 'services4', key: ['mark'], data: 'verdict', elements: [] }]);
const element = (key: string, chain: string): RuleElement => ({
  set: 'services4',
  key: Buffer.from(key),
  data: { goto: chain },
});
const rules = (elements: RuleElement[], ...chains: string[]): TableRules => ({
  elements,
  chains: chains.map((name) => ({ name, rules: [] })),
  sets: [],
});
const owner = (key: string) => ({ key, rank: key });

/**
 * Returns the ledger's next change: removed elements as `-KEY`, added elements as `+KEY>CHAIN` (the chain they go to), then added and
 * removed chains as `+NAME` and `-NAME`.
 */
function next(ledger: RuleLedger): string {
  const { elements, chains } = ledger.takeChange();
  const target = ({ data }: { data?: unknown }) => (data as { goto: string }).goto;
  return [
    ...elements.flatMap(({ remove }) => remove.map(({ key }) => `-${key}`)),
    ...elements.flatMap(({ add }) => add.map((added) => `+${added.key}>${target(added)}`)),
    ...chains.add.map((name) => `+${name.name}`),
    ...chains.remove.map((name) => `-${name}`),
  ].join(' ');
}

test('a change contains only what differs', () => {
  const ledger = createLedger();
  ledger.replace(owner('a'), rules([element('1', 'x'), element('2', 'x')], 'x'));
  assert.equal(next(ledger), '+1>x +2>x +x');
  ledger.replace(owner('a'), rules([element('1', 'x'), element('2', 'y')], 'x', 'y'));
  assert.equal(next(ledger), '-2 +2>y +y');
  ledger.replace(owner('a'), rules([element('1', 'x'), element('2', 'y')], 'x', 'y'));
  assert.ok(isEmptyChange(ledger.takeChange()));
  ledger.replace(owner('a'), undefined);
  assert.equal(next(ledger), '-1 -2 -x -y');
  assert.deepEqual(ledger.takeAll().chains, []);
});

test('changes that cancel each other out before they are taken yield no change', () => {
  const ledger = createLedger();
  ledger.replace(owner('a'), rules([element('1', 'x')], 'x'));
  ledger.replace(owner('a'), undefined);
  assert.equal(next(ledger), '');
  ledger.replace(owner('a'), rules([element('1', 'x')], 'x'));
  next(ledger);
  ledger.replace(owner('a'), undefined);
  ledger.replace(owner('a'), rules([element('1', 'x')], 'x'));
  assert.equal(next(ledger), '');
});

test('if two services have the same address, the first one owns it until its removal', () => {
  const ledger = createLedger();
  ledger.replace(owner('b'), rules([element('1', 'y')], 'y'));
  assert.equal(next(ledger), '+1>y +y');
  ledger.replace(owner('a'), rules([element('1', 'x')], 'x'));
  assert.equal(next(ledger), '-1 +1>x +x');
  ledger.replace(owner('a'), undefined);
  assert.equal(next(ledger), '-1 +1>y -x');
});

test('an element that several services need stays until none of them needs it', () => {
  const ledger = createLedger();
  for (const key of ['a', 'b']) ledger.replace(owner(key), rules([element('1', 'x')], 'x'));
  assert.equal(next(ledger), '+1>x +x');
  ledger.replace(owner('a'), undefined);
  assert.equal(next(ledger), '');
  ledger.replace(owner('b'), undefined);
  assert.equal(next(ledger), '-1 -x');
});

test('the complete contents equal the sum of all changes', () => {
  const ledger = createLedger();
  ledger.replace(owner('a'), rules([element('1', 'x')], 'x'));
  ledger.replace(owner('b'), rules([element('2', 'x')], 'x'));
  const { chains, sets } = ledger.takeAll();
  assert.deepEqual(
    chains.map(({ name }) => name),
    ['x'],
  );
  assert.equal(sets.find(({ name }) => name === 'services4')?.elements.length, 2);
  assert.equal(next(ledger), '');
});

test('an owned set has elements for as long as it exists', () => {
  const ledger = createLedger();
  const own: RuleElement = { set: 'own', key: Buffer.from('1') };
  ledger.replace(owner('a'), { elements: [own], chains: [], sets: [{ name: 'own', key: ['mark'], elements: [] }] });
  const { sets, elements } = ledger.takeChange();
  assert.deepEqual(
    [sets.add.map(({ name }) => name), elements.map(({ set, add }) => [set, add.length])],
    [['own'], [['own', 1]]],
  );
  assert.deepEqual(
    ledger.published().map(({ name, elements }) => [name, elements.length]),
    [
      ['services4', 0],
      ['own', 1],
    ],
  );
  ledger.replace(owner('a'), undefined);
  assert.deepEqual(ledger.takeChange().sets.remove, ['own']);
});
