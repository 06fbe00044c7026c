import { validateCanonicalCidr } from '../address-rules.ts';
import { parseCidr } from '../addresses.ts';
import type { ApiObject } from '../api-object.ts';
import { type FieldError, invalidValue, required } from '../field-error.ts';
import type { Strategy } from '../strategy.ts';
import { textsAt, withValue } from '../values.ts';

const FIELD = 'spec.cidrs';
const FIXED = 'field is immutable';
const ONE_EACH = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64';

export const serviceCidrs: Strategy = {
  prepareForCreate: (object) => ({ ...object, status: {} }),
  validate: validateCidrs,
  validateUpdate: validateChange,
  subresources: {
    status: { prepareForUpdate: withOldMetadata, resetFields: [['metadata'], ['spec']] },
  },
};

/** Metadata preserved by status updates of ServiceCIDRs. Status updates of older kinds preserve different metadata. */
const FROM_OLD = ['generation', 'labels', 'annotations', 'finalizers', 'ownerReferences'];

function withOldMetadata(object: ApiObject, old: ApiObject): ApiObject {
  const updated = withValue(object, ['spec'], old.spec);
  return FROM_OLD.reduce((result, field) => withValue(result, ['metadata', field], old.metadata[field]), updated);
}

const cidrsOf = (object: ApiObject): readonly string[] => textsAt(object, 'spec', 'cidrs');

function validateCidrs(object: ApiObject): FieldError[] {
  const cidrs = cidrsOf(object);
  if (cidrs.length === 0) return [required(FIELD, 'at least one CIDR required')];
  // upstream's error shows the internal form of the spec
  if (cidrs.length > 2) return [invalidValue(FIELD, { CIDRs: cidrs }, 'may only hold up to 2 values')];
  const errors = cidrs.flatMap((cidr, index) => validateCanonicalCidr(`${FIELD}[${index}]`, cidr));
  const [first, second] = cidrs.map((cidr) => parseCidr(cidr)?.address.family);
  const isPair = cidrs.length < 2 || first === undefined || first !== second;
  return isPair ? errors : [...errors, invalidValue(FIELD, cidrs, ONE_EACH)];
}

/** Allows adding a second CIDR block. Rejects all other changes. */
function validateChange(object: ApiObject, old: ApiObject): FieldError[] {
  const [cidrs, oldCidrs] = [cidrsOf(object), cidrsOf(old)];
  const changed = oldCidrs.flatMap((cidr, index) =>
    cidr === cidrs[index] ? [] : [invalidValue(`${FIELD}[${index}]`, cidrs[index], FIXED)],
  );
  if (cidrs.length === oldCidrs.length) return changed;
  if (oldCidrs.length === 1 && cidrs.length === 2) return [...changed, ...validateCidrs(object)];
  return [invalidValue(FIELD, cidrs.length === 0 ? undefined : cidrs, FIXED)];
}
