/** Ordering of API versions (apimachinery, version.CompareKubeAwareVersionStrings). */

const VERSION = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/;
const STAGES = ['alpha', 'beta', undefined];

/**
 * Returns a negative number if version `a` is older than `b`: v1alpha1 < v1beta1 < v1beta2 < v1 < v2. Versions in any other format are
 * older than all of these.
 */
export function compareVersions(a: string, b: string): number {
  const [one, other] = [VERSION.exec(a), VERSION.exec(b)];
  if (one === null || other === null)
    return Number(one !== null) - Number(other !== null) || (a < b ? 1 : a > b ? -1 : 0);
  const keys = ([, major, stage, minor]: RegExpExecArray) => [STAGES.indexOf(stage), Number(major), Number(minor ?? 0)];
  const [ofOne, ofOther] = [keys(one), keys(other)];
  return ofOne.map((key, index) => key - ofOther[index]!).find((difference) => difference !== 0) ?? 0;
}
