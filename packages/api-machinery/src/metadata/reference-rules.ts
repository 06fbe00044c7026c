import { type ApiObject, type FieldError, invalidValue, qualifiedNameProblems } from '@podwright/kube-kinds';

type OwnerReference = NonNullable<ApiObject['metadata']['ownerReferences']>[number];

/**
 * Limits the number of errors about additional controllers, and the number of owner references listed in each of these errors. The message
 * that contains them is truncated anyway.
 */
const MAX_SHOWN = 50;

export function validateOwnerReferences(references: readonly OwnerReference[]): FieldError[] {
  const controllers = references.filter(({ controller }) => controller).map(({ kind, name }) => `${kind}/${name}`);
  const [first, ...others] = controllers;
  const message = (other: string) =>
    `Only one reference can have Controller set to true. Found "true" in references for ${first} and ${other}`;
  return [
    ...references.flatMap(validateOwnerReference),
    ...others
      .slice(0, MAX_SHOWN)
      .map((other) => invalidValue(OWNERS, references.slice(0, MAX_SHOWN).map(shown), message(other))),
  ];
}

/** Returns the reference with its fields in the order of upstream's messages. */
const shown = ({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: OwnerReference): OwnerReference => ({
  ...{ apiVersion, kind, name, uid },
  ...(controller === undefined ? {} : { controller }),
  ...(blockOwnerDeletion === undefined ? {} : { blockOwnerDeletion }),
});

const OWNERS = 'metadata.ownerReferences';

function validateOwnerReference(reference: OwnerReference): FieldError[] {
  const { apiVersion = '', kind = '', name = '', uid = '' } = reference;
  const isBanned = apiVersion === 'v1' && kind === 'Event';
  return [
    ...(/^([^/]*\/)?[^/]+$/.test(apiVersion)
      ? []
      : [invalidValue(`${OWNERS}.apiVersion`, apiVersion, 'version must not be empty')]),
    ...notEmpty(`${OWNERS}.kind`, kind),
    ...notEmpty(`${OWNERS}.name`, name),
    ...notEmpty(`${OWNERS}.uid`, uid),
    ...(isBanned ? [invalidValue(OWNERS, shown(reference), '/v1, Kind=Event is disallowed from being an owner')] : []),
  ];
}

const notEmpty = (field: string, value: string): FieldError[] =>
  value === '' ? [invalidValue(field, value, 'must not be empty')] : [];

export const ORPHAN = 'orphan';
export const FOREGROUND = 'foregroundDeletion';
/** Finalizers that do not require a domain prefix. `kubernetes` is the finalizer of namespaces. */
const STANDARD_FINALIZERS = [ORPHAN, FOREGROUND, 'kubernetes'];

export function validateFinalizers(finalizers: readonly string[]): FieldError[] {
  const field = 'metadata.finalizers';
  const isContradictory = finalizers.includes(ORPHAN) && finalizers.includes(FOREGROUND);
  return [
    ...finalizers.flatMap((name) => qualifiedNameProblems(name).map((problem) => invalidValue(field, name, problem))),
    ...(isContradictory
      ? [invalidValue(field, finalizers, `finalizer ${ORPHAN} and ${FOREGROUND} cannot be both set`)]
      : []),
    ...finalizers.flatMap((name, index) =>
      name.includes('/') || STANDARD_FINALIZERS.includes(name)
        ? []
        : [
            invalidValue(
              `${field}[${index}]`,
              name,
              'name is neither a standard finalizer name nor is it fully qualified',
            ),
          ],
    ),
  ];
}
