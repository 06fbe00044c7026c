import { type ApiObject, type JsonObject, objectsAt, textAt } from '@podwright/kube-kinds';

const ENFORCE = 'kubernetes.io/enforce-mountable-secrets';
const TRUE = /^(?:1|t|T|TRUE|true|True)$/;

/**
 * Returns why the pod may not use its Secrets, or `undefined` if it may. Secrets are only restricted if the service account's annotation
 * limits its pods to the Secrets listed in the account. `isDebugging`: check only the ephemeral containers.
 */
export function secretRefusal(account: ApiObject, pod: ApiObject, isDebugging: boolean): string | undefined {
  if (!TRUE.test(textAt(account, 'metadata', 'annotations', ENFORCE))) return undefined;
  const check = { name: textAt(account, 'metadata', 'name'), allowed: namesAt(account, 'secrets') };
  if (isDebugging) return containersRefusal(check, pod, ['ephemeralContainers', 'ephemeral container']);
  return (
    volumesRefusal(check, pod) ??
    containersRefusal(check, pod, ['initContainers', 'init container']) ??
    containersRefusal(check, pod, ['containers', 'container']) ??
    pullsRefusal(account, pod)
  );
}

type Check = { name: string; allowed: readonly string[] };

const namesAt = (value: unknown, field: string): string[] => objectsAt(value, field).map((one) => textAt(one, 'name'));

const notReferenced = ({ name }: Check, use: string): string =>
  `${use} is not allowed because service account ${name} does not reference that secret`;

function volumesRefusal(check: Check, pod: ApiObject): string | undefined {
  const names = objectsAt(pod, 'spec', 'volumes').map((volume) => textAt(volume, 'secret', 'secretName'));
  const wrong = names.find((name) => name !== '' && !check.allowed.includes(name));
  return wrong === undefined ? undefined : notReferenced(check, `volume with secret.secretName="${wrong}"`);
}

function containersRefusal(check: Check, pod: ApiObject, [field, title]: [string, string]): string | undefined {
  const uses = objectsAt(pod, 'spec', field).flatMap((container) => secretUses(container, title));
  const wrong = uses.find(({ secret }) => secret !== '' && !check.allowed.includes(secret));
  if (wrong === undefined) return undefined;
  return notReferenced(check, `${wrong.user} referencing secret.secretName="${wrong.secret}"`);
}

/** Returns the Secrets referenced by a container's environment. `user` describes what refers to the Secret, for error messages. */
function secretUses(container: JsonObject, title: string): { user: string; secret: string }[] {
  const user = `${title} ${textAt(container, 'name')} with`;
  return [
    ...objectsAt(container, 'env').map((variable) => ({
      user: `${user} envVar ${textAt(variable, 'name')}`,
      secret: textAt(variable, 'valueFrom', 'secretKeyRef', 'name'),
    })),
    ...objectsAt(container, 'envFrom').map((source) => ({
      user: `${user} envFrom`,
      secret: textAt(source, 'secretRef', 'name'),
    })),
  ];
}

function pullsRefusal(account: ApiObject, pod: ApiObject): string | undefined {
  const allowed = namesAt(account, 'imagePullSecrets');
  const names = objectsAt(pod, 'spec', 'imagePullSecrets').map((one) => textAt(one, 'name'));
  const wrong = names.findIndex((name) => !allowed.includes(name));
  if (wrong < 0) return undefined;
  const { name = '' } = account.metadata;
  return `imagePullSecrets[${wrong}].name="${names[wrong]}" is not allowed because service account ${name} does not reference that imagePullSecret`;
}
