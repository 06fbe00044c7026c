import { type FieldError, invalidValue, required, tooLong } from '../field-error.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../names.ts';

const MAX_DOMAIN = 253;
const MAX_PATH = 253 + 63 + 1;

/** Validates a signer name, such as `example.com/signer-name` (ValidateSignerName). */
export function validateSignerName(field: string, name: string): FieldError[] {
  if (name === '') return [required(field)];
  const [domain, path, ...others] = name.split('/', 3);
  if (domain === undefined || path === undefined || others.length > 0) {
    const form = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    return [invalidValue(field, name, form)];
  }
  const segments = 'should be a domain with at least two segments separated by dots';
  const maxLength = MAX_DOMAIN + MAX_PATH + 1;
  return [
    ...(Buffer.byteLength(domain) > MAX_DOMAIN ? [tooLong(field, MAX_DOMAIN)] : []),
    ...validateLabels(field, domain, dns1123LabelProblems),
    ...(domain.includes('.') ? [] : [invalidValue(field, domain, segments)]),
    ...validateLabels(field, path, dns1123SubdomainProblems),
    ...(Buffer.byteLength(name) > maxLength ? [tooLong(field, maxLength)] : []),
  ];
}

/** Returns the errors of the first invalid label. */
function validateLabels(field: string, text: string, problemsOf: (label: string) => string[]): FieldError[] {
  const wrong = text.split('.').find((label) => problemsOf(label).length > 0);
  if (wrong === undefined) return [];
  return problemsOf(wrong).map((problem) =>
    invalidValue(field, text, `validating label ${JSON.stringify(wrong)}: ${problem}`),
  );
}
