/** Checks of the users that containers run as. */
import { type JsonObject, valueAt } from '@podwright/kube-kinds';
import { type CheckPod, containerList, containersOf, setters } from './check.ts';

export const allowPrivilegeEscalation: CheckPod = ({ spec }) => {
  const isDenied = (container: JsonObject) =>
    valueAt(container, 'securityContext', 'allowPrivilegeEscalation') === false;
  const bad = containersOf(spec).filter((container) => !isDenied(container));
  if (bad.length === 0) return undefined;
  return {
    reason: 'allowPrivilegeEscalation != false',
    detail: `${containerList(bad)} must set securityContext.allowPrivilegeEscalation=false`,
  };
};

export const runAsNonRoot: CheckPod = ({ spec }) => {
  const settingOf = (value: unknown) => valueAt(value, 'securityContext', 'runAsNonRoot');
  const reason = 'runAsNonRoot != true';
  const explicit = containersOf(spec).filter((container) => settingOf(container) === false);
  const who = setters(settingOf(spec) === false, explicit);
  if (who !== '') return { reason, detail: `${who} must not set securityContext.runAsNonRoot=false` };
  const missing = settingOf(spec) === true ? [] : containersOf(spec).filter((one) => settingOf(one) === undefined);
  if (missing.length === 0) return undefined;
  return { reason, detail: `pod or ${containerList(missing)} must set securityContext.runAsNonRoot=true` };
};

export const runAsUser: CheckPod = ({ spec }) => {
  const isRoot = (value: unknown) => valueAt(value, 'securityContext', 'runAsUser') === 0;
  const who = setters(isRoot(spec), containersOf(spec).filter(isRoot));
  return who === '' ? undefined : { reason: 'runAsUser=0', detail: `${who} must not set runAsUser=0` };
};
