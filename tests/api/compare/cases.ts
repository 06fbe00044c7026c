/** All cases of the comparison. A case is a sequence of requests sent to both servers. */
import { ACCESS_CASES } from './access-cases.ts';
import { ADMISSION_CASES } from './admission-cases.ts';
import { DISCOVERY_CASES } from './discovery-cases.ts';
import { exampleCases } from './example-cases.ts';
import { changeCases, createCases } from './field-cases.ts';
import { lifeCycle } from './life-cycle-case.ts';
import { LIST_CASES } from './list-cases.ts';
import { MUTATING_POLICY_CASES } from './mutating-policy-cases.ts';
import { REQUEST_CASES } from './request-cases.ts';
import { SUBRESOURCE_CASES } from './subresource-cases.ts';
import type { Transcript } from './transcript.ts';
import { NAMESPACE, SAMPLES } from './valid-objects.ts';
import { WEBHOOK_CASES } from './webhook-cases.ts';

export type Case = { name: string; run: (api: Transcript) => Promise<void> };

/** Creates the cases' namespace and its service account; pods cannot be created without one. */
export async function prepare(api: Transcript): Promise<void> {
  await api.send('POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } }, { quiet: true });
  const accounts = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`;
  await api.send('POST', accounts, { metadata: { name: 'default' } }, { quiet: true });
}

export const allCases = (): Case[] => [
  ...DISCOVERY_CASES,
  ...REQUEST_CASES,
  ...LIST_CASES,
  ...SUBRESOURCE_CASES,
  ...ACCESS_CASES,
  ...ADMISSION_CASES,
  ...WEBHOOK_CASES,
  ...MUTATING_POLICY_CASES,
  ...SAMPLES.map((sample) => lifeCycle(sample)),
  ...SAMPLES.map((sample) => createCases(sample)),
  ...SAMPLES.map((sample) => changeCases(sample)),
  ...exampleCases(),
];
