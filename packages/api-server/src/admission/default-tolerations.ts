import { type ApiObject, objectsAt, textAt, withValue } from '@podwright/kube-kinds';
import { type AdmissionPlugin, isWriteOf, type ObjectAttributes } from './admission-plugin.ts';

const KEYS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];
const SECONDS = 300;

/** Makes pods tolerate a not-ready or unreachable node for five minutes, unless they set their own tolerations for these taints. */
export const defaultTolerationSeconds: AdmissionPlugin = {
  name: 'DefaultTolerationSeconds',
  mutate(attributes: ObjectAttributes): ApiObject {
    const { object } = attributes;
    return isWriteOf(attributes, 'pods', 'CREATE', 'UPDATE') ? withDefaultTolerations(object) : object;
  },
};

export function withDefaultTolerations(pod: ApiObject): ApiObject {
  const given = objectsAt(pod, 'spec', 'tolerations');
  const isTolerated = (key: string) =>
    given.some((one) => ['', key].includes(textAt(one, 'key')) && ['', 'NoExecute'].includes(textAt(one, 'effect')));
  const missing = KEYS.filter((key) => !isTolerated(key));
  if (missing.length === 0) return pod;
  const added = missing.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: SECONDS }));
  return withValue(pod, ['spec', 'tolerations'], [...given, ...added]);
}
