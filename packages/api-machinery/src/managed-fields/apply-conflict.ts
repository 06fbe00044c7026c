import type { ApplyConflict } from '@podwright/kube-schema';
import { ApiError } from '../status/api-error.ts';
import type { Owner, Owners } from './owners.ts';

/**
 * Returns the error for an apply request that conflicts with other field managers. Each of `conflicts` names a manager by its key in
 * `owners`.
 */
export function applyConflict(conflicts: readonly ApplyConflict[], owners: Owners): ApiError {
  const nameOf = (manager: string) => formatManager(owners.get(manager)!);
  const causes = conflicts.map(({ manager, field }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${nameOf(manager)}`,
    field,
  }));
  return new ApiError(409, 'Conflict', { message: conflictMessage(conflicts, nameOf), details: { causes } });
}

function conflictMessage(conflicts: readonly ApplyConflict[], nameOf: (manager: string) => string): string {
  const [first] = conflicts;
  if (conflicts.length === 1)
    return `Apply failed with 1 conflict: conflict with ${nameOf(first!.manager)}: ${first!.field}`;
  const byManager = [...Map.groupBy(conflicts, ({ manager }) => manager)].sort(([one], [other]) =>
    one < other ? -1 : 1,
  );
  const lines = byManager.flatMap(([manager, group]) => [
    `conflicts with ${nameOf(manager)}:`,
    ...group.map(({ field }) => `- ${field}`),
  ]);
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}

/**
 * Formats a field manager for the error message. Upstream can also print the time of an update here, but never does, because its manager
 * identifiers do not contain a time.
 */
function formatManager({ manager, operation, apiVersion, subresource }: Owner): string {
  const name = JSON.stringify(manager);
  const full = subresource === '' ? name : `${name} with subresource ${JSON.stringify(subresource)}`;
  return operation === 'Update' ? `${full} using ${apiVersion}` : full;
}
