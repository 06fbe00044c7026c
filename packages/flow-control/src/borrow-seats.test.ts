import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ApiObject } from '@podwright/kube-kinds';
import { mandatoryFlowObjects, suggestedFlowObjects } from './bootstrap-flows.ts';
import { type Borrower, borrowSeats } from './borrow-seats.ts';
import { divideSeats, firstSeats } from './seats.ts';

const NO_DEMAND = { highest: 0, average: 0, deviation: 0, smoothed: 0 };

const [mandatory, suggested] = [mandatoryFlowObjects(), suggestedFlowObjects()];
const bootstrap = [...mandatory.levels, ...suggested.levels];

suite('the limits of levels', () => {
  test('of a new cluster are those of kube-apiserver', () => {
    const limits = divideSeats(bootstrap, 600);
    const check = (name: string, ...expected: [nominal: number, min: number, max: number]) =>
      assert.deepEqual(Object.values(limits.get(name)!), expected, name);
    check('catch-all', 13, 13, 613);
    check('exempt', 0, 0, 600);
    check('global-default', 49, 24, 649);
    check('leader-election', 25, 25, 625);
    check('node-high', 98, 73, 698);
    check('system', 74, 50, 674);
    check('workload-high', 98, 49, 698);
    check('workload-low', 245, 24, 845);
  });

  test('depend on the percentages that may be lent and borrowed', () => {
    const level = (fields: object): ApiObject => ({
      ...{ apiVersion: 'flowcontrol.apiserver.k8s.io/v1', kind: 'PriorityLevelConfiguration', metadata: { name: 'a' } },
      spec: { type: 'Limited', limited: { nominalConcurrencyShares: 1, ...fields } },
    });
    const check = (fields: object, expected: number[], first: number) => {
      const limits = divideSeats([level(fields)], 101).get('a')!;
      assert.deepEqual([...Object.values(limits), firstSeats(limits)], [...expected, first]);
    };
    check({}, [101, 101, 202], 101);
    check({ lendablePercent: 100, borrowingLimitPercent: 0 }, [101, 0, 101], 51);
    check({ lendablePercent: 50, borrowingLimitPercent: 50 }, [101, 50, 152], 76);
    check({ borrowingLimitPercent: 300 }, [101, 101, 404], 101);
  });
});

suite('seats', () => {
  const limits = divideSeats(bootstrap, 600);
  /** Returns the seats by level with these demands, which are [highest, smoothed]. */
  const seats = (demands: Record<string, [number, number]>) => {
    const levels = bootstrap.map(({ metadata }): Borrower => {
      const [highest, smoothed] = demands[metadata.name!] ?? [0, 0];
      const demand = { ...NO_DEMAND, highest, smoothed };
      return { limits: limits.get(metadata.name!)!, demand, isExempt: metadata.name === 'exempt', seats: 7 };
    });
    const { adjusted, fraction } = borrowSeats(levels);
    const byName = Object.fromEntries(bootstrap.map(({ metadata }, index) => [metadata.name, adjusted[index]!.seats]));
    return { byName, fraction };
  };

  test('of a new cluster without load are those of kube-apiserver', () => {
    const { byName, fraction } = seats({ exempt: [1, 40.2] });
    assert.deepEqual(byName, {
      ...{ exempt: 1, 'catch-all': 30, system: 117, 'node-high': 170, 'leader-election': 58 },
      ...{ 'workload-high': 114, 'workload-low': 56, 'global-default': 56 },
    });
    assert.equal(fraction.toFixed(4), '2.3333');
  });

  test('go to the level that needs them, and others keep what they need, up to their nominal seats', () => {
    const { byName } = seats({ 'workload-low': [900, 900], 'global-default': [40, 30], system: [100, 90] });
    assert.equal(byName['global-default'], 40);
    assert.equal(byName.system, 74);
    assert.equal(byName['leader-election'], 25);
    assert.equal(byName['workload-low'], 602 - 40 - 74 - 25 - 13 - 73 - 49);
  });

  test('are fewer if exempt requests need many, but no fewer than what a level never lends', () => {
    const all: Record<string, [number, number]> = Object.fromEntries(
      bootstrap.map(({ metadata }) => [metadata.name!, [900, 900]]),
    );
    assert.equal(seats({ ...all, exempt: [0, 0] }).byName['workload-low'], 245);
    assert.equal(
      seats({ ...all, exempt: [172, 9] }).byName['workload-low'],
      24 + Math.round((245 - 24) * ((602 - 172 - 258) / (602 - 258))),
    );
    assert.equal(seats({ ...all, exempt: [500, 9] }).byName['workload-low'], 24);
  });

  test('stay as they are if no division is within the limits', () => {
    const limits = { nominal: 10, min: 10, max: 10 };
    const levels = [
      { limits, demand: NO_DEMAND, isExempt: false, seats: 7 },
      { limits: { ...limits, min: 0 }, demand: NO_DEMAND, isExempt: true, seats: 0 },
    ];
    assert.deepEqual(
      borrowSeats(levels).adjusted.map(({ seats }) => seats),
      [7, 0],
    );
  });
});
