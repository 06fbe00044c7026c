import type { ApiObject } from '@podwright/kube-kinds';
import type { Admission, AdmissionAttributes } from '../admission-contract.ts';
import type { RequestContext } from '../request-context.ts';
import type { ServedKind } from './served-kind.ts';

/** An `Admission` that admits all writes unchanged. */
export const NO_ADMISSION: Admission = {
  mutate: async ({ object }) => object,
  validate: async () => {},
};

type Subject = {
  operation: AdmissionAttributes['operation'];
  namespace: string;
  name: string;
  object?: ApiObject;
  oldObject?: ApiObject;
};

export function admissionAttributes(
  kind: ServedKind,
  { namespace, ...subject }: Subject,
  { user, dryRun, warn, subresource = '' }: RequestContext,
): AdmissionAttributes {
  const { resource } = kind;
  const versioned = (object: ApiObject) => kind.fromStored(object);
  const isNamespace = resource.group === '' && resource.plural === 'namespaces';
  return {
    ...subject,
    resource,
    subresource,
    namespace: isNamespace ? subject.name : namespace,
    user,
    dryRun,
    versioned,
    warn,
  };
}
