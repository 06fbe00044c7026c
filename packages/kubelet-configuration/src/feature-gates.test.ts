import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuseGate } from './feature-gates.ts';

function check(name: string, value: boolean, expected: string | undefined): void {
  assert.equal(refuseGate(name, value), expected, `${name}=${value}`);
}

test('a locked gate can only be set to its value', () => {
  check('NodeSwap', true, undefined);
  check('NodeSwap', false, 'the feature gate NodeSwap is locked to true');
  check('GitRepoVolumeDriver', true, 'the feature gate GitRepoVolumeDriver is locked to false');
});

test('a kubelet gate can only be set to this kubelet’s behavior', () => {
  check('QOSReserved', false, undefined);
  check('QOSReserved', true, 'the feature gate QOSReserved cannot be true: this kubelet always behaves as with false');
  check('ContainerRestartRules', true, undefined);
  check('PreventStaticPodAPIReferences', false, undefined);
  check(
    'PreventStaticPodAPIReferences',
    true,
    'the feature gate PreventStaticPodAPIReferences cannot be true: this kubelet always behaves as with false',
  );
});

test('an honored gate can be switched', () => {
  check('MemoryQoS', true, undefined);
  check('MemoryQoS', false, undefined);
});

test('gates of other components and of upstream internals are ignored', () => {
  check('GangScheduling', true, undefined);
  check('EventedPLEG', true, undefined);
});

test('an unknown gate, AllAlpha and AllBeta are refused', () => {
  check('NodeSwapp', true, 'unknown feature gate NodeSwapp; did you mean "NodeSwap"?');
  check('__proto__', true, 'unknown feature gate __proto__');
  check('AllBeta', false, undefined);
  check(
    'AllAlpha',
    true,
    'AllAlpha would enable features that this kubelet does not have; set single feature gates instead',
  );
});
