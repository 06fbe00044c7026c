import type { Frontend } from './fields.ts';

/** A frontend of a UDP service port, with its serving endpoints as `ADDRESS PORT`. */
export type UdpFrontend = Frontend & { endpoints: ReadonlySet<string> };

/** Changed UDP frontends, before and after the change, by `VERSION ADDRESS PORT`. */
export type UdpChange = { before: Map<string, UdpFrontend>; after: Map<string, UdpFrontend> };

export const noUdpChange = (): UdpChange => ({ before: new Map(), after: new Map() });

/** Merges a later change into an earlier one. */
export function mergeUdpChanges(earlier: UdpChange, later: UdpChange): void {
  for (const [id, frontend] of later.before) {
    if (!earlier.before.has(id) && !earlier.after.has(id)) earlier.before.set(id, frontend);
    earlier.after.delete(id);
  }
  for (const [id, frontend] of later.after) earlier.after.set(id, frontend);
}
