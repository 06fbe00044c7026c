import type { Subject } from './subject.ts';

/** Whether a text matches a pattern. `*` matches any number of characters. */
export function matchesPattern(pattern: string, text: string): boolean {
  const parts = pattern.split(/\*+/).map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(text);
}

/** Whether a pod matches `NAME` or `NAMESPACE/NAME`. Both parts may contain `*`. */
export function matchesPod(pattern: string, subject: Subject | undefined): boolean {
  if (subject === undefined) return false;
  const slash = pattern.indexOf('/');
  if (slash < 0) return matchesPattern(pattern, subject.pod);
  return (
    matchesPattern(pattern.slice(0, slash), subject.namespace) && matchesPattern(pattern.slice(slash + 1), subject.pod)
  );
}
