import { isRecord, PodwrightError } from '@podwright/base';
import {
  type Decoder,
  formatFieldPath,
  IssueList,
  integer,
  list,
  object,
  oneOf,
  qualifiedName,
  string,
} from '@podwright/kube-api';
import { type ConditionsPatch, MAX_CONDITION_REASON_LENGTH } from '@podwright/kubelet';

const MAX_CONDITION_MESSAGE_LENGTH = 32_768;

/** Maximum number of conditions in a patch. Field lengths are limited as in meta/v1's Condition. */
const MAX_PATCHED_CONDITIONS = 50;

/** An element of a patch's condition list. In a strategic merge patch, `$patch: delete` removes the condition. */
type PatchedCondition = {
  type: string;
  status?: 'True' | 'False' | 'Unknown';
  reason?: string;
  message?: string;
  lastProbeTime?: string;
  lastTransitionTime?: string;
  observedGeneration?: number;
  $patch?: 'delete';
};
type Patch = { apiVersion?: string; kind?: string; status?: { conditions?: PatchedCondition[] } };

const condition = object<PatchedCondition>(
  {
    type: string,
    status: oneOf('True', 'False', 'Unknown'),
    reason: string,
    message: string,
    lastProbeTime: string,
    lastTransitionTime: string,
    observedGeneration: integer(0),
    $patch: oneOf('delete'),
  },
  { required: ['type'] },
);
const patch: Decoder<Patch> = object<Patch>({
  apiVersion: string,
  kind: string,
  status: object<NonNullable<Patch['status']>>({ conditions: list(condition) }),
});

/**
 * Parses `{"status":{"conditions":[{"type":…,"status":…}]}}`. A strategic merge patch merges the list by type; a merge patch (RFC 7386)
 * replaces the list. Throws `invalid_argument` for any other field.
 */
export function parseStatusPatch(text: string, kind: 'merge' | 'strategic'): ConditionsPatch {
  const issues = new IssueList([], 1);
  const sent = parse(text);
  const { status } = patch(sent, issues);
  const conditions = issues.count === 0 ? (status?.conditions ?? []) : [];
  const listIssues = issues.at('status', 'conditions');
  if (conditions.length > MAX_PATCHED_CONDITIONS)
    listIssues.add(`must have at most ${MAX_PATCHED_CONDITIONS} elements`);
  for (const [index, one] of conditions.entries()) validate(one, kind, listIssues.at(index));
  const [first] = issues.issues;
  if (first !== undefined)
    throw new PodwrightError('invalid_argument', `read the patch: ${formatFieldPath(first.path)}: ${first.message}`);
  const set = conditions.filter(({ $patch }) => $patch === undefined);
  return {
    set: set.map(({ type, status, reason, message }) => ({
      type,
      status: status!,
      ...(reason && { reason }),
      ...(message && { message }),
    })),
    remove: conditions.filter(({ $patch }) => $patch !== undefined).map(({ type }) => type),
    replace: kind === 'merge' && hasConditions(sent),
  };
}

/** Whether the patch contains the conditions field at all; the decoder drops an empty list or null. */
const hasConditions = (sent: unknown): boolean =>
  isRecord(sent) && isRecord(sent.status) && sent.status.conditions !== undefined;

function validate(one: PatchedCondition, kind: 'merge' | 'strategic', issues: IssueList): void {
  qualifiedName(one.type, issues.at('type'));
  if (one.$patch !== undefined && kind === 'merge') issues.at('$patch').addKey('is for strategic merge patches only');
  if (one.$patch === undefined && one.status === undefined) issues.at('status').addKey('is required');
  const lengths = { reason: MAX_CONDITION_REASON_LENGTH, message: MAX_CONDITION_MESSAGE_LENGTH };
  for (const field of ['reason', 'message'] as const) {
    if ((one[field] ?? '').length > lengths[field])
      issues.at(field).add(`must be at most ${lengths[field]} characters`);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new PodwrightError('invalid_argument', 'read the patch: it is not JSON', { cause: error });
  }
}
