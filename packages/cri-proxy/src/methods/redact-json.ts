import { isRecord } from '@podwright/base';

/** Replacement text for secrets. */
export const REDACTED = '(redacted)';
/** Maximum nesting depth of JSON to search for secrets; deeper values are removed. */
const MAX_DEPTH = 64;

const ENVIRONMENT = /^envs?$/i;
const SECRET = /^(?:auth|password|identity_?token|registry_?token|credentials?)$/i;

/**
 * Redacts environment variable values and credentials in JSON text, such as a runtime's verbose `info`, which contains the container's
 * configuration and OCI spec, or the annotation of `kubectl apply`. Other text is returned unchanged.
 */
export function redactJsonText(text: string): string {
  if (!/^\s*[[{]/.test(text) || !/env|auth|password|token|credential/i.test(text)) return text;
  try {
    return JSON.stringify(redactValue(JSON.parse(text), 0));
  } catch {
    return REDACTED;
  }
}

function redactValue(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) return REDACTED;
  if (typeof value === 'string') return redactJsonText(value);
  if (Array.isArray(value)) return value.map((item) => redactValue(item, depth + 1));
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([key, child]) => {
    if (ENVIRONMENT.test(key)) return [key, redactEnvironment(child)];
    const isHidden = SECRET.test(key) && (typeof child === 'string' ? child !== '' : typeof child === 'number');
    return [key, isHidden ? REDACTED : redactValue(child, depth + 1)];
  });
  return Object.fromEntries(entries);
}

/**
 * Redacts the values of environment variables but keeps their names. Handles `[{name, value}]` (Kubernetes), `[{key, value}]` (CRI),
 * `["NAME=value"]` (OCI) and `{NAME: value}`.
 */
function redactEnvironment(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redactVariable);
  if (isRecord(value)) return Object.fromEntries(Object.keys(value).map((name) => [name, REDACTED]));
  return value === null || value === undefined ? value : REDACTED;
}

function redactVariable(variable: unknown): unknown {
  if (typeof variable === 'string') return `${variable.split('=', 1)[0]}=${REDACTED}`;
  if (!isRecord(variable)) return REDACTED;
  return 'value' in variable ? { ...variable, value: REDACTED } : variable;
}
