import type { ApiObject } from '@podwright/kube-kinds';
import type { Admission, AdmissionAttributes, AdmittedVersion } from '../admission-contract.ts';
import type { RequestContext } from '../request-context.ts';
import type { ResourceParts } from './resource-parts.ts';
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

/** Returns the admission attributes of a write. */
export function admissionAttributes(
  { kind, kindIn }: Pick<ResourceParts, 'kind' | 'kindIn'>,
  { namespace, ...given }: Subject,
  context: RequestContext,
): AdmissionAttributes {
  const { user, dryRun, warn, subresource = '', options, annotate, signal, admittedPart } = context;
  const { resource } = kind;
  const isNamespace = resource.group === '' && resource.plural === 'namespaces';
  const subject = admittedPart === undefined ? given : partsOf(given, admittedPart);
  const isOwnKind = admittedPart === undefined;
  return {
    ...subject,
    resource,
    subresource,
    namespace: isNamespace ? subject.name : namespace,
    user,
    dryRun,
    ...(isOwnKind && { inVersion: (version) => admittedVersion(kindIn(version)) }),
    warn,
    ...(options && { options }),
    ...(annotate && { annotate }),
    ...(signal && { signal }),
  };
}

/**
 * Returns the subject of an admission request with its old and new object each replaced by what `part` returns for it, such as the Scale of
 * a Deployment.
 */
const partsOf = (
  { object, oldObject, ...subject }: Omit<Subject, 'namespace'>,
  part: (object: ApiObject) => ApiObject,
) => ({
  ...subject,
  ...(object && { object: part(object) }),
  ...(oldObject && { oldObject: part(oldObject) }),
});

const admittedVersion = (kind: ServedKind): AdmittedVersion => ({
  fromStored: (object) => kind.fromStored(object),
  toStored: (value) => {
    const { object } = kind.decode(value);
    kind.checkConversion(object);
    return kind.complete(object);
  },
});

/** Returns the admission control for a write. It admits everything if the request that causes the write has already been admitted. */
export const admissionOf = (
  { admission }: Pick<ResourceParts, 'admission'>,
  { isAdmitted }: RequestContext,
): Admission => (isAdmitted ? NO_ADMISSION : admission);
