/** The value that a name stands for, or `undefined` to leave the reference as it is. */
export type Lookup = (name: string) => string | undefined;

/**
 * Replaces `$(NAME)` as Kubernetes does: `$$` stands for one `$`, so that `$$(NAME)` is not a reference; a name that `lookup`
 * does not know stays as it is written, and so does a `$` before anything else.
 */
export function expand(text: string, lookup: Lookup): string {
  return text.replaceAll(/\$(\$|\(([^)]*)\))/g, (reference: string, after: string, name: string | undefined) =>
    after === '$' ? '$' : (lookup(name ?? '') ?? reference),
  );
}
