import { PodwrightError } from '@podwright/base';
import { CSI_PLUGIN, type CsiDriver } from '@podwright/kube-api';
import type { CsiVolume } from './csi-volume.ts';

/**
 * Whether changing the volume's group to the pod's fsGroup is up to the kubelet instead of the driver, according to the driver's
 * fsGroupPolicy.
 */
export function needsGroupChange(driver: CsiDriver | undefined, volume: CsiVolume): boolean {
  const policy = policyOf(driver);
  if (policy === 'None' || volume.readOnly) return false;
  if (policy === 'File') return true;
  if (volume.fsType === '') return false;
  const isOfOneNode = volume.accessModes.some((mode) => mode === 'ReadWriteOnce' || mode === 'ReadWriteOncePod');
  return volume.mode === 'Ephemeral' || isOfOneNode;
}

function policyOf(driver: CsiDriver | undefined) {
  if (driver === undefined) return 'ReadWriteOnceWithFSType';
  const policy = driver.spec.fsGroupPolicy;
  if (policy !== undefined) return policy;
  const why = 'expected valid fsGroupPolicy, received nil value or empty string';
  const what = `${CSI_PLUGIN}: mounter.SetupAt failed to check fsGroup policy`;
  throw new PodwrightError('failed_precondition', `${what}: ${CSI_PLUGIN}: ${why}`);
}

/** Throws if the driver does not support the volume's lifecycle mode. */
export function checkLifecycle(driver: CsiDriver | undefined, volume: CsiVolume): void {
  const problem = lifecycleProblem(driver, volume);
  if (problem === undefined) return;
  const what = `${CSI_PLUGIN}: mounter.SetupAt failed to check volume lifecycle mode`;
  throw new PodwrightError('failed_precondition', `${what}: ${problem}`);
}

function lifecycleProblem(driver: CsiDriver | undefined, { mode, driver: name }: CsiVolume): string | undefined {
  const refused = `volume mode "${mode}" not supported by driver ${name}`;
  if (driver === undefined) return mode === 'Persistent' ? undefined : `${refused} (no CSIDriver object)`;
  const modes = driver.spec.volumeLifecycleModes ?? [];
  if (modes.includes(mode)) return undefined;
  return `${refused} (only supports [${modes.map((one) => `"${one}"`).join(' ')}])`;
}
