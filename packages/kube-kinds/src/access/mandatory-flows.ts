/** The flow schemas and priority levels that exist on every server and cannot be modified (apiserver, apis/flowcontrol/bootstrap). */
import type { JsonObject } from '../values.ts';

const rulesFor = (...groups: readonly string[]): JsonObject[] => [
  {
    subjects: groups.map((name) => ({ kind: 'Group', group: { name } })),
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  },
];

export const MANDATORY_FLOW_SCHEMAS: ReadonlyMap<string, JsonObject> = new Map([
  [
    'exempt',
    {
      priorityLevelConfiguration: { name: 'exempt' },
      matchingPrecedence: 1,
      rules: rulesFor('system:masters'),
    },
  ],
  [
    'catch-all',
    {
      priorityLevelConfiguration: { name: 'catch-all' },
      matchingPrecedence: 10_000,
      distinguisherMethod: { type: 'ByUser' },
      rules: rulesFor('system:unauthenticated', 'system:authenticated'),
    },
  ],
]);

export const MANDATORY_PRIORITY_LEVELS: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ['exempt', { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } }],
  [
    'catch-all',
    {
      type: 'Limited',
      limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' }, lendablePercent: 0 },
    },
  ],
]);
