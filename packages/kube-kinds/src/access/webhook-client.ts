/** How the server reaches a webhook: by URL or through a Service (apiserver, util/webhook). */
import { type FieldError, invalidValue, required } from '../field-error.ts';
import { dns1123SubdomainProblems } from '../names.ts';
import { portNumberProblems } from '../texts.ts';
import { type JsonObject, numberAt, objectAt, textAt, valueAt } from '../values.ts';

/** Sets the default port of the Service referenced by `service`. */
export function withServicePort<T extends JsonObject>(client: T): T {
  const service = objectAt(client, 'service');
  return service === undefined ? client : { ...client, service: { ...service, port: service.port ?? 443 } };
}

export function validateClient(field: string, client: unknown): FieldError[] {
  const url = valueAt(client, 'url');
  const service = objectAt(client, 'service');
  if ((url === undefined) === (service === undefined))
    return [required(field, 'exactly one of url or service is required')];
  return service === undefined
    ? validateUrl(`${field}.url`, String(url))
    : validateService(`${field}.service`, service);
}

const FORM = '; desired format: https://host[/path]';

function validateUrl(field: string, text: string): FieldError[] {
  const parts = /^([A-Za-z][A-Za-z0-9+.-]*):(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s.exec(text);
  if (/[\u0000-\u001f\u007f]/.test(text)) {
    const problem = `parse ${JSON.stringify(text)}: net/url: invalid control character in URL`;
    return [required(field, `url must be a valid URL: ${problem}${FORM}`)];
  }
  const [, scheme = '', authority = '', , query = '', fragment = ''] = parts ?? [];
  const at = authority.lastIndexOf('@');
  const wrong = (isWrong: boolean, value: string, detail: string): FieldError[] =>
    isWrong ? [invalidValue(field, value, detail)] : [];
  return [
    ...wrong(scheme.toLowerCase() !== 'https', scheme.toLowerCase(), `'https' is the only allowed URL scheme${FORM}`),
    ...wrong(authority.slice(at + 1) === '', '', `host must be specified${FORM}`),
    ...wrong(at >= 0, authority.slice(0, Math.max(at, 0)), 'user information is not permitted in the URL'),
    ...wrong(fragment !== '', fragment, 'fragments are not permitted in the URL'),
    ...wrong(query !== '', query, 'query parameters are not permitted in the URL'),
  ];
}

/**
 * Validates a Service reference. A missing name is reported as a missing namespace and vice versa because upstream's callers swap the two
 * arguments.
 */
function validateService(field: string, service: JsonObject): FieldError[] {
  const port = numberAt(service, 'port') ?? 0;
  const portProblems = portNumberProblems(port);
  const path = valueAt(service, 'path');
  const wrongPort = invalidValue(`${field}.port`, port, `port is not valid: ${portProblems.join(', ')}`);
  return [
    ...(textAt(service, 'namespace') === '' ? [required(`${field}.name`)] : []),
    ...(textAt(service, 'name') === '' ? [required(`${field}.namespace`)] : []),
    ...(portProblems.length === 0 ? [] : [wrongPort]),
    ...(typeof path === 'string' ? validatePath(`${field}.path`, path) : []),
  ];
}

const MAX_STEPS = 100;

function validatePath(field: string, path: string): FieldError[] {
  if (path === '' || path === '/') return [];
  if (path === '//') return [invalidValue(field, path, 'segment[0] may not be empty')];
  const steps = path.slice(1).replace(/\/$/, '').split('/', MAX_STEPS);
  return [
    ...(path.startsWith('/') ? [] : [invalidValue(field, path, "must start with a '/'")]),
    ...steps.flatMap((step, index) => {
      if (step === '') return [invalidValue(field, path, `segment[${index}] may not be empty`)];
      return dns1123SubdomainProblems(step).map((problem) =>
        invalidValue(field, path, `segment[${index}]: ${problem}`),
      );
    }),
  ];
}
