import { PodwrightError } from '@podwright/base';

/** Maximum length of a single argument or variable, including its terminating NUL (MAX_ARG_STRLEN, execve(2)). */
const MAX_EXPANDED_LENGTH = 128 << 10;

/** Looks up a variable's value. If `undefined` is returned, the reference is left unexpanded. */
export type Lookup = (name: string) => string | undefined;

/**
 * Expands `$(NAME)` references like Kubernetes. `$$` yields a single `$`, so `$$(NAME)` is not a reference. References to unknown names,
 * and a `$` before any other character, are left unchanged. Throws `failed_precondition` if the result exceeds the kernel's limit for a
 * single argument, because variables that refer to each other can double in length at each step.
 */
export function expand(text: string, lookup: Lookup): string {
  const parts: string[] = [];
  let length = 0;
  let replaced = false;
  const take = (part: string) => {
    parts.push(part);
    length += part.length;
    if (replaced && length >= MAX_EXPANDED_LENGTH)
      throw new PodwrightError(
        'failed_precondition',
        `expand "${text.slice(0, 60)}": it becomes ${MAX_EXPANDED_LENGTH >> 10} KiB or more, and no program takes that`,
      );
  };
  const lastClosing = text.lastIndexOf(')');
  let at = 0;
  for (let dollar = text.indexOf('$'); dollar >= 0; dollar = text.indexOf('$', at)) {
    take(text.slice(at, dollar));
    at = dollar + 1;
    if (text[at] === '$') at++;
    else if (text[at] === '(' && at < lastClosing) {
      const end = text.indexOf(')', at) + 1;
      const value = lookup(text.slice(at + 1, end - 1));
      replaced ||= value !== undefined;
      take(value ?? text.slice(dollar, end));
      at = end;
      continue;
    }
    take('$');
  }
  take(text.slice(at));
  return parts.join('');
}
