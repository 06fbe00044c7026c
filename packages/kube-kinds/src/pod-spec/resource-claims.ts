import { Field } from '../field.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../names.ts';
import { type JsonObject, objectAt, objectsAt, textAt, valueAt } from '../values.ts';
import { MIRROR_ANNOTATION } from './pod-annotations.ts';

/**
 * Validates a pod's resource claims, and returns their names (validatePodResourceClaims). `metadata` is the pod's metadata, and absent for
 * templates.
 */
export function validateResourceClaims(
  spec: JsonObject,
  field: Field,
  metadata: JsonObject | undefined,
): ReadonlySet<string> {
  const claims = objectsAt(spec, 'resourceClaims');
  const names = new Set<string>();
  const isMirror = Object.hasOwn(objectAt(metadata, 'annotations') ?? {}, MIRROR_ANNOTATION);
  for (const [index, claim] of claims.entries()) {
    if (isMirror) new Field('', field.errors).forbidden('static pods do not support resource claims');
    else validateClaim(claim, field.at(index), names);
  }
  return new Set(claims.map((claim) => textAt(claim, 'name')).filter((name) => name !== ''));
}

function validateClaim(claim: JsonObject, field: Field, names: Set<string>): void {
  const name = textAt(claim, 'name');
  if (name === '') field.at('name').required();
  else if (names.has(name)) field.at('name').duplicate(name);
  else {
    field.at('name').invalidEach(name, dns1123LabelProblems(name));
    names.add(name);
  }
  const present = ['resourceClaimName', 'resourceClaimTemplateName'].filter((one) => valueAt(claim, one) !== undefined);
  if (present.length > 1)
    field.invalid(
      shownClaim(claim),
      'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
    );
  if (present.length === 0)
    field.invalid(shownClaim(claim), 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`');
  for (const one of present)
    field.at(one).invalidEach(textAt(claim, one), dns1123SubdomainProblems(textAt(claim, one)));
}

/** Formats a claim as a Go struct, as shown in upstream's errors. */
const shownClaim = (claim: JsonObject): JsonObject => ({
  Name: textAt(claim, 'name'),
  ResourceClaimName: valueAt(claim, 'resourceClaimName') ?? null,
  ResourceClaimTemplateName: valueAt(claim, 'resourceClaimTemplateName') ?? null,
});
