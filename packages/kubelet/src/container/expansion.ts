import { PodwrightError } from '@podwright/base';

/** The longest argument or variable of a program, with its zero byte (MAX_ARG_STRLEN, execve(2)). */
const MAX_EXPANDED_LENGTH = 128 << 10;

/** The value of a variable, or `undefined` to leave the reference unchanged. */
export type Lookup = (name: string) => string | undefined;

/**
 * Replaces `$(NAME)` as Kubernetes does: `$$` is one `$`, so `$$(NAME)` is not a reference; unknown names and a `$` before any other
 * character are unchanged. Throws `failed_precondition` when the result is longer than the kernel allows for one argument: variables that
 * refer to each other may double in length with every line.
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
