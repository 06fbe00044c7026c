/** Validates the names of device attributes, pools and shares. */
import { type FieldError, invalidValue, required, tooLong } from '../field-error.ts';
import { dns1123SubdomainProblems } from '../names.ts';
import { problemsAt } from '../rules.ts';
import { identifierProblems } from '../texts.ts';
import { validateDriverName } from './driver-name.ts';

const MAX_POOL_NAME = 253;
const MAX_IDENTIFIER = 32;
/** Maximum length of a qualified name: a domain, a slash and an identifier. */
export const MAX_QUALIFIED_NAME = 63 + 1 + MAX_IDENTIFIER;

/** Validates a pool name: subdomains separated by slashes. */
export function validatePoolName(field: string, name: string): FieldError[] {
  if (name === '') return [required(field)];
  const long = Buffer.byteLength(name) > MAX_POOL_NAME ? [tooLong(field, MAX_POOL_NAME)] : [];
  const parts = name.split('/', MAX_POOL_NAME);
  return [...long, ...parts.flatMap((part) => problemsAt(field, part, dns1123SubdomainProblems(part)))];
}

function validateIdentifier(field: string, text: string): FieldError[] {
  const long = Buffer.byteLength(text) > MAX_IDENTIFIER ? [tooLong(field, MAX_IDENTIFIER)] : [];
  return [...long, ...problemsAt(field, text, identifierProblems(text))];
}

/** Validates a name of the form `identifier` or `domain/identifier`. As in upstream, additional slashes are accepted. */
export function validateQualifiedName(field: string, name: string): FieldError[] {
  const [domain = '', identifier, ...others] = name.split('/', 3);
  if (identifier === undefined) return validateIdentifier(field, domain);
  if (others.length > 0) return [];
  const noDomain = invalidValue(field, '', 'the domain must not be empty');
  const noName = invalidValue(field, '', 'the name must not be empty');
  return [
    ...(domain === '' ? [noDomain] : validateDriverName(field, domain)),
    ...(identifier === '' ? [noName] : validateIdentifier(field, identifier)),
  ];
}

/** Validates a name of the form `domain/identifier`. */
export function validateFullyQualifiedName(field: string, name: string): FieldError[] {
  const detail = 'a fully qualified name must be a domain and a name separated by a slash';
  return [...validateQualifiedName(field, name), ...(name.includes('/') ? [] : [invalidValue(field, name, detail)])];
}

/** Validates a UUID in the usual text form. */
export function validateUid(field: string, uid: string): FieldError[] {
  const hex = '[0-9a-fA-F]';
  const form = new RegExp(`^${hex}{8}-${hex}{4}-${hex}{4}-${hex}{4}-${hex}{12}$`);
  const normalized =
    'uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters';
  if (form.test(uid)) return uid === uid.toLowerCase() ? [] : [invalidValue(field, uid, normalized)];
  const length = Buffer.byteLength(uid);
  const isOtherForm = new RegExp(`^(?:urn:uuid:|[{])?${hex}{8}-?${hex}{4}-?${hex}{4}-?${hex}{4}-?${hex}{12}[}]?$`, 'i');
  if (isOtherForm.test(uid)) return [invalidValue(field, uid, normalized)];
  const isLength = [32, 36, 38, 45].includes(length);
  const problem = isLength ? 'invalid UUID format' : `invalid UUID length: ${length}`;
  return [invalidValue(field, uid, `error validating uid: ${problem}`)];
}
