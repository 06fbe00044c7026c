import type { ApiObject } from '../api-object.ts';
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../field-error.ts';
import { duplicates, repeats } from '../repeats.ts';
import { numberAt, textAt, textsAt } from '../values.ts';
import { validateSignerName } from './signer-name.ts';
import { signingRequestProblem } from './signing-request.ts';

const LEGACY_SIGNER = 'kubernetes.io/legacy-unknown';
const MIN_SECONDS = 600;
const USAGES = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];

/** Validates the spec. Tolerates violations already present in the old object. */
export function validateRequestSpec(field: string, object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const request = textAt(object, 'spec', 'request');
  const problem = signingRequestProblem(request);
  const seconds = numberAt(object, 'spec', 'expirationSeconds') ?? MIN_SECONDS;
  const short = 'may not specify a duration less than 600 seconds (10 minutes)';
  return [
    ...(problem === undefined ? [] : [invalidValue(`${field}.request`, request, problem)]),
    ...validateUsages(`${field}.usages`, textsAt(object, 'spec', 'usages'), textsAt(old, 'spec', 'usages')),
    ...validateSigner(`${field}.signerName`, textAt(object, 'spec', 'signerName'), textAt(old, 'spec', 'signerName')),
    ...(seconds < MIN_SECONDS ? [invalidValue(`${field}.expirationSeconds`, seconds, short)] : []),
  ];
}

function validateUsages(field: string, usages: readonly string[], old: readonly string[]): FieldError[] {
  const hadUnknown = old.some((usage) => !USAGES.includes(usage));
  const unknown = usages.flatMap((usage, index) =>
    hadUnknown || USAGES.includes(usage) ? [] : [notSupported(`${field}[${index}]`, usage, USAGES)],
  );
  const hadRepeated = repeats(old).includes(true);
  return [
    ...(usages.length === 0 ? [required(field)] : []),
    ...unknown,
    ...(hadRepeated ? [] : duplicates(usages, (index) => `${field}[${index}]`)),
  ];
}

function validateSigner(field: string, name: string, old: string): FieldError[] {
  if (name !== LEGACY_SIGNER || old === LEGACY_SIGNER) return validateSignerName(field, name);
  return [invalidValue(field, name, 'the legacy signerName is not allowed via this API version')];
}

type CertificateChange = { object: ApiObject; old: ApiObject; isAllowed: boolean };

/** Rejects changes to an issued certificate. A certificate can be set only once, by a status update. */
export function validateCertificateChange(field: string, { object, old, isAllowed }: CertificateChange): FieldError[] {
  const before = textAt(old, 'status', 'certificate');
  if (textAt(object, 'status', 'certificate') === before) return [];
  if (!isAllowed) return [forbiddenField(field, 'updates may not set certificate content')];
  return before === '' ? [] : [forbiddenField(field, 'updates may not modify existing certificate content')];
}
