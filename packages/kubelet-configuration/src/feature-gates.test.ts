import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuseGate } from './feature-gates.ts';

function check(name: string, value: boolean, expected: string | undefined): void {
  assert.equal(refuseGate(name, value), expected, `${name}=${value}`);
}

test('a gate that is locked can only be set to what it is', () => {
  check('NodeSwap', true, undefined);
  check('NodeSwap', false, 'the feature gate NodeSwap is locked to true');
  check('GitRepoVolumeDriver', true, 'the feature gate GitRepoVolumeDriver is locked to false');
});

test('a gate of the kubelet can only be set to what this one does', () => {
  check('QOSReserved', false, undefined);
  check('QOSReserved', true, 'the feature gate QOSReserved cannot be true: this kubelet behaves as with false');
  check('ContainerRestartRules', true, undefined);
  check('PreventStaticPodAPIReferences', false, undefined);
  check(
    'PreventStaticPodAPIReferences',
    true,
    'the feature gate PreventStaticPodAPIReferences cannot be true: this kubelet behaves as with false',
  );
});

test('a gate that is honoured can be switched', () => {
  check('MemoryQoS', true, undefined);
  check('MemoryQoS', false, undefined);
});

test('gates of other components and of how upstream works inside change nothing', () => {
  check('GangScheduling', true, undefined);
  check('EventedPLEG', true, undefined);
});

test('a gate that there is not is refused, and so are all at once', () => {
  check('NodeSwapp', true, 'there is no feature gate NodeSwapp; did you mean "NodeSwap"?');
  check('__proto__', true, 'there is no feature gate __proto__');
  check('AllBeta', false, undefined);
  check('AllAlpha', true, 'AllAlpha would switch on what this kubelet does not have; name the feature gates');
});
