import { PodwrightError } from '@podwright/base';

/** The source or destination of a copy: a path on this host or in a pod. `text` is the argument typed by the user. */
export type CopySide =
  | { kind: 'local'; path: string }
  | { kind: 'remote'; text: string; qualifier?: string; pod: string; path: string };

/**
 * Parses `PATH`, `POD:PATH`, `NAMESPACE/POD:PATH` or `TYPE/NAME:PATH`. `qualifier` is the word before the slash, a namespace or a type.
 * A path that starts with `/` or `.` is local even if it contains a colon.
 */
export function parseCopySide(text: string): CopySide {
  const colon = text.indexOf(':');
  if (colon < 0 || /^[./]/.test(text)) return { kind: 'local', path: text };
  const path = text.slice(colon + 1);
  const match = /^(?:([^/]+)\/)?([^/]+)$/.exec(text.slice(0, colon));
  if (match === null || path === '') {
    const message = `cp: "${text}" is neither a path nor POD:PATH; a local path with a colon begins with ./`;
    throw new PodwrightError('invalid_argument', message);
  }
  const [, qualifier, pod = ''] = match;
  return { kind: 'remote', text, qualifier, pod, path };
}
